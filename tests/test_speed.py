"""No benchmark case of 4 KB and more takes over ten times PyTorch's time on the cpu."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from operator_runtime_testing.case import load_cases

ROOT = Path(__file__).resolve().parent.parent
SLOWEST = 0.1  # PyTorch's time over ours
TRIES = 3  # a busy machine may stop either side for longer than a call takes


def slow_rows(op: str, case: str, into: Path) -> list[str]:
    command = [
        sys.executable,
        "tests/run_ops.py",
        "--op",
        op,
        "--backend",
        "cpu",
        "--mode",
        "bench",
        "--case",
        case,
        "--json",
        str(into),
    ]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    rows = json.loads(into.read_text())["performance"]
    assert rows
    return [row["case"] for row in rows if row["bytes"] >= 4096 and (row["speedup"] or 0) < SLOWEST]


@pytest.mark.parametrize("op", sorted(load_cases(ROOT / "tests" / "cases")))
def test_no_case_takes_ten_times_as_long_as_pytorch(op: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--backend") not in ("auto", "cpu"):
        pytest.skip("backend: the bound is the cpu's")
    slow = slow_rows(op, "bench/*", tmp_path / "rows.json")
    for _ in range(TRIES - 1):
        slow = [case for case in slow if slow_rows(op, case, tmp_path / "rows.json")]
    assert slow == []
