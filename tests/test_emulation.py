"""The emulation build: GPU kernels on CPU tensors, `run_ops.py --emulate`, and what is refused there."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operator_runtime as rt
import operator_runtime.backend
import tree_copy
from operator_runtime_testing import emulation
from operator_runtime_testing.case import Case, Tensor
from operator_runtime_testing.check import MOST_EMULATED, Runtime

ROOT = Path(__file__).resolve().parent.parent
LANES = operator_runtime.backend.emulated_backends()
is_emulated = pytest.mark.skipif(not LANES, reason="backend: only an emulation build (CAMP_ENABLE_EMULATION) runs these")


def run_ops(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "tests/run_ops.py", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=env)


def reports() -> list[dict[str, Any]]:
    taken: list[dict[str, Any]] = operator_runtime.backend.emulator_reports()
    return taken


@is_emulated
@pytest.mark.parametrize("backend", sorted(LANES))
def test_an_emulated_backend_takes_cpu_tensors_and_auto_is_still_the_cpu(backend: str) -> None:
    x = np.arange(100, dtype=np.float32)
    assert operator_runtime.backend.available_backends()[backend] == ""
    assert rt.prepare_copy(np.empty_like(x), x, backend=backend).backend == backend
    assert rt.prepare_copy(np.empty_like(x), x).backend == "cpu"
    assert np.array_equal(rt.copy(x, backend=backend), x)
    assert reports() == []


@is_emulated
@pytest.mark.parametrize("mode", ["bench", "all"])
def test_a_benchmark_of_an_emulated_backend_is_wrong_usage(mode: str) -> None:
    done = run_ops("--op", "copy", "--backend", "nvidia", "--mode", mode)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "backend nvidia is emulated in this build, which says nothing about speed" in done.stderr


@is_emulated
@pytest.mark.parametrize("order", ["forward", "reverse", "shuffle:7"])
@pytest.mark.parametrize("backend", sorted(LANES))
def test_emulated_rows_say_so_and_carry_no_time(backend: str, order: str, tmp_path: Path) -> None:
    report = tmp_path / "rows.json"
    arguments = ("--op", "softmax", "--backend", backend, "--case", "size/float32/*", "--json", str(report))
    done = run_ops(*arguments, OPRT_EMULATOR_ORDER=order)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"backend {backend}, emulated at {LANES[backend]} lanes" in done.stdout
    assert "seconds" not in done.stdout
    written = json.loads(report.read_text())
    assert len(written["tests"]) > 10
    assert all(row["emulated"] == LANES[backend] and "seconds" not in row for row in written["tests"])
    assert written["performance"] == []


@is_emulated
def test_an_order_that_is_none_is_named() -> None:
    done = run_ops("--op", "copy", "--backend", "nvidia", "--case", "size/float32/33", OPRT_EMULATOR_ORDER="sideways")
    assert done.returncode == 1
    assert "OPRT_EMULATOR_ORDER is sideways, expected forward, reverse or shuffle:SEED" in done.stdout


@is_emulated
@pytest.mark.parametrize("backend", sorted(LANES))
def test_a_fault_raises_and_is_reported_with_its_place(backend: str) -> None:
    script = """
import json, torch, operator_runtime, operator_runtime.backend
n = 1 << 20  # for one block much longer than the timeout
try:
    operator_runtime.softmax_(torch.empty(97, n), torch.zeros(n).expand(97, n), backend=BACKEND)
except RuntimeError as error:
    print(json.dumps([str(error), operator_runtime.backend.emulator_reports(), operator_runtime.backend.emulator_reports()]))
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "OPRT_EMULATOR_TIMEOUT": "0.01"}
    command = [sys.executable, "-c", script.replace("BACKEND", repr(backend))]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    text, first, second = json.loads(done.stdout)
    assert text.startswith("softmax: hang: the block has not ended after")
    assert first[0]["kind"] == "hang"
    assert f"emulated{LANES[backend]}::softmax_stream" in first[0]["kernel"]
    assert first[0]["readable"].startswith(first[0]["text"])
    assert len(first[0]["at"]["thread"]) == 3
    assert second == []


@is_emulated
def test_a_failed_case_prints_and_writes_the_emulators_reports(tmp_path: Path) -> None:
    report = tmp_path / "rows.json"
    arguments = ("--op", "reduce_sum", "--backend", "nvidia", "--case", "size/float32/*", "--json", str(report))
    done = run_ops(*arguments, OPRT_EMULATOR_TIMEOUT="0.01", OPRT_EMULATOR_WORKERS="1")
    failed = [row for row in json.loads(report.read_text())["tests"] if row["verdict"] == "failed"]
    assert (done.returncode == 1) == bool(failed)
    for row in failed:
        assert row["reports"][0]["kind"] == "hang"
        assert row["reports"][0]["readable"].splitlines()[0] in done.stdout


def test_a_case_of_over_a_million_elements_is_not_emulated() -> None:
    large = Case("copy", "size/large", {"x": Tensor("float32", (MOST_EMULATED + 1,))}, out=Tensor("float32", (1,)))
    assert "1 M elements" in Runtime(rt, "nvidia", lanes=32).skips(large)
    assert Runtime(rt, "cpu").skips(large) == ""


@pytest.mark.skipif(bool(LANES), reason="backend: this build is an emulation build")
def test_other_builds_emulate_nothing_and_have_no_reports() -> None:
    assert not hasattr(operator_runtime.backend, "emulator_reports")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--check",), "--check needs --emulate"),
        (("--lanes", "64"), "--lanes needs --emulate"),
        (("--order", "reverse"), "--order needs --emulate"),
        (("--emulate", "--backend", "cpu"), "--emulate runs nvidia or metax, not cpu"),
        (("--emulate", "--order", "shuffle"), "--order is 'shuffle', expected forward, reverse or shuffle:SEED"),
        (("--emulate", "--lanes", "16"), "invalid choice"),
        (("--emulate", "--backend", "nvidia", "--mode", "bench"), "an emulated backend has no speed"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_emulated_is_2_with_one_line(arguments: tuple[str, ...], text: str) -> None:
    done = run_ops("--op", "copy", *arguments)
    assert done.returncode == 2
    assert text in done.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("backend", "lanes", "runs"),
    [("auto", None, "nvidia"), ("nvidia", 64, "metax"), ("metax", None, "metax"), ("metax", 32, "nvidia")],
)
def test_the_lanes_decide_whose_kernels_run(backend: str, lanes: int | None, runs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    built: list[tuple[Path, bool]] = []
    monkeypatch.setattr(emulation, "build", lambda root, folder, check: built.append((folder, check)))
    monkeypatch.setenv("CAMP_BUILD_DIR", "build")
    monkeypatch.setenv("OPRT_EMULATOR_ORDER", "forward")
    options = argparse.Namespace(emulate=True, check=True, mode="test", backend=backend, lanes=lanes, order="shuffle:3")
    emulation.emulate(ROOT, options)
    assert options.backend == runs
    assert built == [(ROOT / "build-emulation-check", True)]
    assert os.environ["CAMP_BUILD_DIR"] == str(ROOT / "build-emulation-check")
    assert os.environ["OPRT_EMULATOR_ORDER"] == "shuffle:3"


def test_a_tree_that_does_not_compile_is_2_with_the_compilers_words(tmp_path: Path) -> None:
    tree = tree_copy.copy_tree(tmp_path / "tree")
    (tree / "src/core/error.h").write_text("this is no header\n")
    arguments = ("--op", "copy", "--backend", "nvidia", "--emulate", "--check")
    done = tree_copy.run([sys.executable, "tests/run_ops.py", *arguments], tree)
    assert done.returncode == 2
    assert "src/core/error.h:1" in done.stdout
    cache = (tree / "build-emulation-check/CMakeCache.txt").read_text()
    assert "CAMP_ENABLE_EMULATION:BOOL=ON" in cache
    assert "OPRT_EMULATION_CHECK:BOOL=ON" in cache


@is_emulated
def test_emulate_finds_the_tree_by_itself() -> None:
    arguments = ("--op", "copy", "--backend", "nvidia", "--case", "size/float32/33", "--emulate", "--lanes", "64")
    environment = {name: value for name, value in os.environ.items() if name != "CAMP_BUILD_DIR"}
    command = [sys.executable, "tests/run_ops.py", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "backend metax, emulated at 64 lanes" in done.stdout
