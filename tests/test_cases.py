"""Every case of every operator, one test each, in order of operator and group."""

from __future__ import annotations

from pathlib import Path

import pytest

from operator_runtime_testing.case import Case, Cost, load_cases
from operator_runtime_testing.check import Runtime
from operator_runtime_testing.report import replay_line
from operator_runtime_testing.runner import Refusals, load_refusals, run_case

TESTS = Path(__file__).resolve().parent


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    limit = Cost[metafunc.config.getoption("--cost").upper()]
    cases = [case for of_op in load_cases(TESTS / "cases").values() for case in of_op if case.cost <= limit]
    cases.sort(key=lambda case: (case.op, case.group))
    metafunc.parametrize("case", cases, ids=[f"{case.op}/{case.name}" for case in cases])


@pytest.fixture(scope="module")
def refusals(runtime: Runtime) -> Refusals:
    return load_refusals(TESTS, runtime.backend)


def test_the_case_passes(case: Case, runtime: Runtime, refusals: Refusals, seed: int, root: Path) -> None:
    result = run_case(case, runtime, refusals, seed)
    if result.verdict in ("skipped", "refused"):
        pytest.skip(f"backend: {result.text}")
    line = replay_line(root, case, runtime.backend, "test", seed)
    assert result.verdict == "passed", f"{result.text}\n{line}\n{result.readable_reports()}"
