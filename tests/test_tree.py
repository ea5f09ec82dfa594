"""An operator stays readable in ten minutes: the sizes of its parts and of all files are bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OPERATORS = sorted(path.name for path in (ROOT / "ops").iterdir() if path.is_dir())
# Lines of ops/<op>/<backend>/. The splits of reduce_sum on nvidia, by rows and by columns, take more than the others.
BACKEND_LIMITS = {"cpu": 500, "nvidia": 540}
FILE_LIMITS = {".h": 250, ".cuh": 300, ".cc": 300, ".cu": 300, ".py": 400, ".sh": 300}
TEST_LIMIT = 400


def lines(*files: Path) -> int:
    return sum(len(file.read_text().splitlines()) for file in files)


@pytest.mark.parametrize("op", OPERATORS)
def test_contract_checks_and_binding_of_an_operator_fit_350_lines(op: str) -> None:
    folder = ROOT / "ops" / op
    parts = [*folder.glob("*.cc"), *folder.glob("*.h"), ROOT / f"include/operator_runtime/ops/{op}.h"]
    assert lines(*parts, ROOT / f"python/operator_runtime/ops/{op}.py") <= 350


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("backend", sorted(BACKEND_LIMITS))
def test_a_backends_part_of_an_operator_is_bounded(op: str, backend: str) -> None:
    assert lines(*(ROOT / "ops" / op / backend).glob("*")) <= BACKEND_LIMITS[backend]


@pytest.mark.parametrize("folder", ["include", "src", "ops", "python", "scripts", "tests", "examples", "benchmarks"])
def test_files_are_small(folder: str) -> None:
    too_long = {}
    for file in (ROOT / folder).rglob("*"):
        limit = TEST_LIMIT if folder == "tests" else FILE_LIMITS.get(file.suffix, TEST_LIMIT)
        if file.suffix in {*FILE_LIMITS, ".c", ".hpp"} and lines(file) > limit:
            too_long[file.relative_to(ROOT).as_posix()] = lines(file)
    assert too_long == {}
