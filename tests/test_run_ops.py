"""The runner: its exit codes, its table, its lines, its JSON, and the list of refusals."""

from __future__ import annotations

import importlib
import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from operator_runtime_testing import runner
from operator_runtime_testing.case import Case, Tensor
from operator_runtime_testing.check import Runtime
from operator_runtime_testing.performance import Baseline, Latency, PerformanceResult
from operator_runtime_testing.report import replay_line
from operator_runtime_testing.runner import Run, run_case

ROOT = Path(__file__).resolve().parent.parent


def run_ops(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tests" / "run_ops.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **variables})


@pytest.fixture(scope="module")
def missing_backend() -> str:
    available: dict[str, str] = importlib.import_module("operator_runtime.backend").available_backends()
    missing = [name for name in ("metax", "nvidia", "tilelang") if available.get(name, "not in this build")]
    if not missing:
        pytest.skip("backend: every one is available here")
    return missing[0]


def test_it_passes_prints_a_verdict_per_group_and_writes_json(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = run_ops("--op", "copy", "--backend", "cpu", "--mode", "test", "--cost", "quick", "--json", str(report))
    assert done.returncode == 0, done.stdout + done.stderr
    row = next(line for line in done.stdout.splitlines() if "layout" in line)
    assert "copy" in row
    assert "passed" in row
    written = json.loads(report.read_text())
    assert written["schema_version"] == 1
    assert {test["verdict"] for test in written["tests"]} == {"passed"}
    assert len(written["tests"]) > 500


def test_bench_prints_our_time_beside_pytorch_and_fills_a_row(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    arguments = ("--op", "vector_add", "--backend", "cpu", "--mode", "bench", "--case", "bench/4KB", "--json", str(report))
    done = run_ops(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    for text in ("GB/s", "PyTorch", "4KB"):
        assert text in done.stdout
    (row,) = json.loads(report.read_text())["performance"]
    assert row["verdict"] == "passed"
    assert row["mode"] == "steady"
    assert row["bytes"] == 3 * 4096
    assert row["flops"] == 1024
    assert row["latency_us"]["n"] >= 30
    assert 0 < row["latency_us"]["p10"] <= row["latency_us"]["median"] <= row["latency_us"]["p90"]
    assert row["bandwidth_gb_s"] == pytest.approx(row["bytes"] / row["latency_us"]["median"] / 1e3)
    assert row["arithmetic_intensity"] == pytest.approx(1024 / (3 * 4096))
    assert row["baseline"]["name"] == "PyTorch"
    assert row["baseline"]["latency_us"]["median"] > 0


def test_a_case_and_a_pattern_select_what_runs() -> None:
    one = run_ops("--op", "softmax", "--list", "--case", "size/float32/33")
    assert one.stdout.split() == ["softmax", "size/float32/33"]
    many = run_ops("--op", "softmax", "--list", "--case", "size/float32/*")
    assert len(many.stdout.splitlines()) > 10
    assert many.returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--op", "no_such_operator"),
        ("--op", "copy", "--case", "no/such/case"),
        ("--op", "copy", "--backend", "no_such_backend"),
        ("--op", "copy", "--mode", "no_such_mode"),
        (),
    ],
    ids=lambda arguments: " ".join(arguments) or "nothing",
)
def test_wrong_usage_is_2_and_says_what_is_wrong(arguments: tuple[str, ...]) -> None:
    done = run_ops(*arguments)
    assert done.returncode == 2
    assert "no_such" in done.stderr or "no/such" in done.stderr or "--op" in done.stderr


def test_a_missing_build_is_2(tmp_path: Path) -> None:
    done = run_ops("--op", "copy", "--backend", "cpu", CAMP_BUILD_DIR=str(tmp_path))
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    assert f"{ROOT}/scripts/run.sh" in line
    assert f"cmake --build {tmp_path}" in line


@pytest.mark.parametrize(
    "command",
    [
        *(f"tests/run_ops.py --op copy --backend cpu:{name}" for name in ("numpy", "rich", "torch")),
        *(f"-m pytest tests:{name}" for name in ("numpy", "torch")),
    ],
)
def test_a_missing_package_is_2_and_one_line_says_what_to_install(command: str, tmp_path: Path) -> None:
    command, package = command.split(":")
    (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError('gone', name='{package}')\n")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, *command.split()], capture_output=True, text=True, check=False, cwd=ROOT, env=env)
    assert done.returncode == 2, done.stdout + done.stderr
    (line,) = done.stderr.splitlines()
    assert f": {package} is not installed for {sys.executable}. {ROOT}/scripts/run.sh sets up " in line
    assert line.endswith(f"pip install -r {ROOT}/requirements.txt")


def test_a_backend_that_is_not_here_is_77_with_the_reason(missing_backend: str) -> None:
    done = run_ops("--op", "copy", "--backend", missing_backend)
    assert done.returncode == 77
    assert f"backend {missing_backend} is not available here: " in done.stderr


def test_pytest_is_77_too_where_everything_was_skipped(missing_backend: str) -> None:
    tests = ["tests/test_cases.py", "-q", "-p", "no:cacheprovider", "-k", "copy and rank", "--backend", missing_backend]
    done = subprocess.run([sys.executable, "-m", "pytest", *tests], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 77, done.stdout + done.stderr
    assert "skipped" in done.stdout


def _copying(refuse: bool) -> Runtime:
    def copy_(out: Any, x: Any, backend: str) -> Any:
        if refuse:
            raise NotImplementedError(f"copy: not on {backend}")
        out[...] = x
        return out

    module = SimpleNamespace(
        copy=lambda x, backend: copy_(np.empty_like(x), x, backend), copy_=copy_, is_supported=lambda *a, **k: (True, "")
    )
    module.prepare_copy = None
    return Runtime(module, "cpu")


@pytest.mark.parametrize(
    ("refuse", "refusals", "verdict"),
    [
        (False, {}, "passed"),
        (True, {}, "failed"),
        (True, {"copy/group/*": "too wide"}, "refused"),
        (True, {"copy/other/*": "too wide"}, "failed"),
        (False, {"copy/group/*": "too wide"}, "failed"),
    ],
)
def test_a_refusal_counts_only_where_it_is_listed(refuse: bool, refusals: dict[str, str], verdict: str) -> None:
    name = next(name for name in map("group/{}".format, range(100)) if Case("copy", name, {}, Tensor("int8", ())).seed(0) % 10 == 4)
    case = Case("copy", name, {"x": Tensor("float32", (5,), kind="numpy")}, reference=lambda x: x, bits=True)
    assert run_case(case, _copying(refuse), refusals, 0).verdict == verdict


@pytest.mark.parametrize(("before", "after", "is_said"), [(99.0, 0.0, True), (0.0, 99.0, True), (0.0, 0.0, False)])
def test_a_load_beyond_the_processor_is_said_below_the_table(
    before: float, after: float, is_said: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    loads = iter([before, after])
    monkeypatch.setattr(os, "getloadavg", lambda: (next(loads), 0.0, 0.0))
    options = SimpleNamespace(seed=0, fail_fast=False)
    Run(ROOT, options, _copying(False)).bench([])  # type: ignore[arg-type]
    last = capsys.readouterr().out.splitlines()[-1]
    assert ("99.0 processes compete for" in last) == is_said


@pytest.mark.parametrize("name", ["", "none/report.json"], ids=["a folder", "in no folder"])
def test_a_report_that_cannot_be_written_is_2_before_anything_runs(name: str, tmp_path: Path) -> None:
    done = run_ops("--op", "copy", "--backend", "cpu", "--case", "rank/*", "--json", str(tmp_path / name))
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"run_ops.py: --json {tmp_path / name} cannot be written: ")


@pytest.mark.parametrize("wrong", [("--op", "no_such"), ("--op", "copy", "--backend", "no_such")], ids=["op", "backend"])
def test_a_wrong_name_is_said_before_a_missing_build(wrong: tuple[str, ...], tmp_path: Path) -> None:
    done = run_ops(*wrong, CAMP_BUILD_DIR=str(tmp_path))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "'no_such'" in line


def test_an_interrupt_is_130_with_one_line_and_a_report_of_what_had_run(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    program = [sys.executable, "-u", str(ROOT / "tests" / "run_ops.py")]
    command = [*program, "--op", "softmax", "--backend", "cpu", "--json", str(report)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("backend cpu")  # the cases begin
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.splitlines() == ["run_ops.py: interrupted"]
    written = json.loads(report.read_text())
    assert len(written["tests"]) < len(run_ops("--op", "softmax", "--list").stdout.splitlines())


@pytest.mark.parametrize("arguments", ["--list", "--case rank/*"])
def test_a_reader_that_has_gone_is_no_traceback(arguments: str) -> None:
    command = [sys.executable, str(ROOT / "tests" / "run_ops.py"), "--op", "copy", "--backend", "cpu", *arguments.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert said == ""
    assert process.returncode == 1


def test_closed_streams_are_no_traceback_and_the_exit_code_says_what_came(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = shlex.join([sys.executable, str(ROOT / "tests" / "run_ops.py"), "--op", "copy", "--backend", "cpu"])
    done = subprocess.run(["bash", "-c", f"{words} --case 'rank/*' --json {shlex.quote(str(report))} >&- 2>&-"], check=False)
    assert done.returncode == 0
    assert json.loads(report.read_text())["tests"]


@pytest.mark.parametrize("place", ["inside", "path", "elsewhere"])
def test_the_replay_line_starts_the_interpreter_that_runs(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, folder, other = tmp_path / "tree", tmp_path / "bin", tmp_path / "other"
    for made in (root / ".venv", folder, other):
        made.mkdir(parents=True)
        (made / "python").symlink_to(sys.executable)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PATH", str(folder))
    running = {"inside": root / ".venv", "path": folder, "elsewhere": other}[place] / "python"
    monkeypatch.setattr(sys, "executable", str(running))
    case = Case("copy", "group/x", {"x": Tensor("float32", (1,))})
    first = replay_line(root, case, "cpu", "test", 0).split()
    first = [word for word in first if "=" not in word]
    assert first[0] == {"inside": ".venv/python", "path": "python", "elsewhere": str(running)}[place]


@pytest.mark.parametrize(("load", "mark"), [(99.0, "?"), (0.0, "")])
def test_a_load_beyond_the_processor_marks_every_row(
    load: float, mark: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steady = Latency(100.0, 99.0, 101.0, 36)
    baseline = Baseline("PyTorch", "2", steady)
    row = PerformanceResult("copy", "bench/x", "cpu", "int8", "passed", "steady", steady, 1, 0, baseline, "", "")
    monkeypatch.setattr(runner, "benchmark_case", lambda *_: row)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    run = Run(ROOT, SimpleNamespace(seed=0, fail_fast=False), _copying(False))  # type: ignore[arg-type]
    run.bench([Case("copy", "bench/x", {"x": Tensor("int8", (1,))}, benchmark=True)] * 2)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("copy")]
    assert [line.endswith(f"1.00x{mark}") for line in rows] == [True, True]
    assert [row.as_dict()["unsteady"] for row in run.rows] == [bool(mark)] * 2
