"""Wrong kernels, planted on purpose (tests/planted/<op>.cc), must be rejected by the cases; without a fault they must pass.

They are built into a library of their own, <build>/planted, that runs in place of the real one. A fault is chosen by OPRT_PLANTED.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from operator_runtime_testing.check import Runtime

PLANTED = Path(__file__).resolve().parent / "planted"
ROOT = PLANTED.parent.parent
FAULTS = {path.stem: re.findall(r'planted\("(\w+)"\)', path.read_text()) for path in sorted(PLANTED.glob("*.cc"))}
RUNS = [(op, fault) for op, faults in FAULTS.items() for fault in [*dict.fromkeys(faults), "none"]]


def build_folder() -> Path:
    return Path(os.environ.get("CAMP_BUILD_DIR") or ROOT / "build").resolve()


@pytest.fixture(scope="module")
def planted_build(runtime: Runtime) -> Path:
    """<build>/planted, up to date."""
    if runtime.backend != "cpu":
        pytest.skip("backend: the planted kernels are CPU kernels")
    cache = build_folder() / "CMakeCache.txt"
    if not cache.exists():
        pytest.skip(f"{build_folder()} is no CMake build folder")
    cmake = re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", cache.read_text(), re.MULTILINE)
    assert cmake is not None, f"{cache} names no cmake"
    command = [cmake.group(1), "--build", str(build_folder()), "--target", "planted"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return build_folder() / "planted"


def environment(build: Path, fault: str) -> dict[str, str]:
    return {**os.environ, "CAMP_BUILD_DIR": str(build), "OPRT_PLANTED": fault}


def run(build: Path, op: str, fault: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tests" / "run_ops.py"), "--op", op, "--backend", "cpu", "--mode", "test"]
    command += ["--cost", "quick", "--fail-fast"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=environment(build, fault))


Results = Mapping[tuple[str, str], "Future[subprocess.CompletedProcess[str]]"]


@pytest.fixture(scope="module")
def results(planted_build: Path, request: pytest.FixtureRequest) -> Iterator[Results]:
    """The runs that the selected tests ask for, as many at a time as there are processors."""
    selected = [
        item.callspec.params for item in request.session.items if isinstance(item, pytest.Function) and hasattr(item, "callspec")
    ]
    wanted = {(params["op"], params["fault"]) for params in selected if "fault" in params}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        yield {(op, fault): pool.submit(run, planted_build, op, fault) for op, fault in RUNS if (op, fault) in wanted}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize(("op", "fault"), RUNS, ids=[f"{op}-{fault}" for op, fault in RUNS])
def test_the_cases_reject_every_fault_and_nothing_else(op: str, fault: str, results: Results) -> None:
    done = results[op, fault].result()
    failing = re.findall(rf"--op {op} .*--case (\S+)", done.stdout)
    if fault == "none":
        assert done.returncode == 0, done.stdout + done.stderr
        assert failing == []
    else:
        assert done.returncode == 1, f"{op} with {fault} was accepted:\n{done.stdout}{done.stderr}"
        assert len(failing) == 1, done.stdout


@pytest.mark.parametrize("op", sorted(FAULTS))
def test_every_operator_has_at_least_five_faults(op: str) -> None:
    assert len(set(FAULTS[op])) >= 5


def test_the_line_of_a_failure_replays_it(planted_build: Path) -> None:
    failed = run(planted_build, "copy", "drops_tail_past_1024")
    line = next(line for line in failed.stdout.splitlines() if "--case" in line)
    again = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=ROOT)
    assert again.returncode == 1, again.stdout + again.stderr
    assert re.search(r"--case (\S+)", again.stdout).group(1) == re.search(r"--case (\S+)", line).group(1)  # type: ignore[union-attr]
