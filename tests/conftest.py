"""`pytest --backend X`: finds the package, resolves the backend, prints the seed, and ends with 77 where everything was skipped.

With OPRT_REQUIRE_ALL=1 a skip is a failure, unless its reason begins with "backend": what another backend tests, or only a GPU can.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeVar

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import tree_copy  # noqa: E402
from packages import needed  # noqa: E402

with needed("pytest"):
    import hypothesis  # noqa: F401
    import torch  # noqa: F401

    from operator_runtime_testing.check import Runtime
    from operator_runtime_testing.runner import UNAVAILABLE, USAGE, UsageError, import_runtime, resolve_backend, runtime_of

# Tests that make copies of the tree do not run in one, or they would never end.
collect_ignore = ["test_documented_lines.py", "test_new_operator.py"] if tree_copy.INSIDE_COPY in os.environ else []
_outcomes: set[str] = set()
_unavailable = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--backend", default="auto", help="cpu, nvidia, metax, tilelang, or auto, which is the cpu")
    parser.addoption("--cost", default="normal", choices=("quick", "normal", "large"), help="run no dearer cases than these")
    parser.addoption("--seed", type=int, default=0, help="of the random inputs of the cases")


def pytest_configure(config: pytest.Config) -> None:
    _outcomes.clear()
    try:
        module = import_runtime()
        backend = resolve_backend("cpu" if config.getoption("--backend") == "auto" else config.getoption("--backend"), {})
    except UsageError as error:
        pytest.exit(str(error), USAGE)
    import operator_runtime.backend

    config.stash[_unavailable] = operator_runtime.backend.available_backends().get(backend, "this build does not know it")
    config.stash[RUNTIME] = runtime_of(module, backend)


RUNTIME = pytest.StashKey[Runtime]()


def pytest_report_header(config: pytest.Config) -> str:
    runtime = config.stash[RUNTIME]
    emulated = f", emulated at {runtime.lanes} lanes" if runtime.lanes else ""
    return f"operator_runtime: backend {runtime.backend}{emulated}, seed {config.getoption('--seed')}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where the backend is missing, nothing is tested in its place."""
    reason = config.stash[_unavailable]
    if reason:
        for item in items:
            item.add_marker(pytest.mark.skip(reason=f"backend {config.stash[RUNTIME].backend} is not available here: {reason}"))


Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def judged(report: Report) -> Report:
    """The report; a failure where it is of a skip that is not allowed. A skip's longrepr is (file, line, reason)."""
    if os.environ.get("OPRT_REQUIRE_ALL") == "1" and report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not reason.startswith("backend"):
            report.outcome = "failed"
            report.longrepr = f"skipped, and OPRT_REQUIRE_ALL=1 requires it: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return judged((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return judged((yield))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" or report.skipped or report.failed:
        _outcomes.add("skipped" if report.skipped else report.outcome)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.OK and _outcomes == {"skipped"}:
        session.exitstatus = UNAVAILABLE


@pytest.fixture(scope="session")
def runtime(request: pytest.FixtureRequest) -> Runtime:
    """The package and the backend that the run is for."""
    return request.config.stash[RUNTIME]


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder that holds the project."""
    return ROOT


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    value: Any = request.config.getoption("--seed")
    return int(value)
