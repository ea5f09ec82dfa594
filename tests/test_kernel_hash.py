"""scripts/kernel_hash.py: what changes the hash, and what it says about the last GPU check."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = (
    "ops/copy/kernels.cuh",
    "ops/copy/nvidia/rows.cu",
    "ops/copy/copy.cc",
    "src/simt/cuda.h",
    "src/core/storage.h",
    "cmake/cuda.cmake",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in (*FILES, "ops/copy/python.cc", "ops/copy/cpu/copy_cpu.cc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "kernel_hash.py", tmp_path / "scripts")
    return tmp_path


def say(tree: Path, *arguments: str) -> str:
    command = [sys.executable, str(tree / "scripts" / "kernel_hash.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def record(tree: Path, date: str, verdict: str = "passed") -> None:
    folder = tree / "benchmarks" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    summary = {"date": date, "device": "H200", "verdict": verdict, "kernel_hash": say(tree)}
    (folder / f"gpu-check-h200-{date.replace(':', '')}.json").write_text(json.dumps(summary))


@pytest.mark.parametrize("name", FILES)
def test_every_source_of_a_gpu_kernel_changes_the_hash(tree: Path, name: str) -> None:
    before = say(tree)
    (tree / name).write_text("changed")
    assert say(tree) != before


@pytest.mark.parametrize("name", ["ops/copy/python.cc", "ops/copy/cpu/copy_cpu.cc"])
def test_bindings_and_cpu_kernels_do_not(tree: Path, name: str) -> None:
    before = say(tree)
    (tree / name).write_text("changed")
    assert say(tree) == before


def test_the_latest_check_counts_and_a_change_after_it_is_said(tree: Path) -> None:
    assert say(tree, "--check") == "GPU check: none is recorded; run scripts/gpu_check.sh on a machine with an NVIDIA GPU"
    record(tree, "2026-12-01T09:00+00:00", "failed")
    record(tree, "2026-12-01T10:00+00:00")
    assert say(tree, "--check") == "GPU check: these kernels passed on H200, 2026-12-01T10:00+00:00"
    (tree / "src/simt/cuda.h").write_text("changed")
    assert say(tree, "--check").startswith(
        "GPU check: the kernels have changed since 2026-12-01T10:00+00:00; run scripts/gpu_check.sh"
    )
