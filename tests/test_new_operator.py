"""A new operator is files of its own: built, bound, tested and benchmarked with no edit to an existing file.

The files are in tests/new_operator/, the skeleton that docs/add-an-operator.md starts from.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import tree_copy

SKELETON = Path(__file__).parent / "new_operator"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the operator added, configured and built."""
    tree = tree_copy.copy_tree(tmp_path_factory.mktemp("new_operator") / "tree")
    before = tree_copy.fingerprints(tree)
    shutil.copytree(SKELETON, tree, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    after = tree_copy.fingerprints(tree)
    assert len(after) > len(before), f"no file was added from {SKELETON}"
    assert before.items() <= after.items(), "adding the operator edited a file"
    options = ["-DCAMP_OPS=negate", "-DCAMP_ENABLE_NVIDIA=OFF", f"-DPython_EXECUTABLE={sys.executable}"]
    for command in (["cmake", "-B", "build", "-G", "Ninja", *options], ["cmake", "--build", "build"]):
        done = tree_copy.run(command, tree)
        assert done.returncode == 0, done.stdout
    return tree


def test_the_runner_validates_and_benchmarks_a_new_operator(tree: Path) -> None:
    done = tree_copy.run([sys.executable, "tests/run_ops.py", "--op", "negate", "--backend", "cpu", "--mode", "all"], tree)
    assert done.returncode == 0, done.stdout
    for text in ("negate", "layout", "GB/s"):
        assert text in done.stdout


def test_pytest_passes_the_cases_and_the_exported_symbols_of_a_new_operator(tree: Path) -> None:
    selection = ["tests/test_cases.py", "tests/test_c_api.py", "-k", "negate or exports_exactly"]
    done = tree_copy.run([sys.executable, "-m", "pytest", "-v", "--backend", "cpu", *selection], tree)
    assert done.returncode == 0, done.stdout
    for test in ("test_the_case_passes[negate/layout/in=transposed]", "test_the_library_exports_exactly_the_listed_symbols"):
        assert f"{test} PASSED" in done.stdout


def test_the_runner_rejects_a_new_operator_that_is_wrong(tree: Path) -> None:
    kernel = tree / "ops/negate/cpu/negate_cpu.cc"
    right = kernel.read_text()
    assert right.count("= -in[i * in_stride]") == 1
    kernel.write_text(right.replace("= -in[i * in_stride]", "= in[i * in_stride]"))
    try:
        assert tree_copy.run(["cmake", "--build", "build"], tree).returncode == 0
        done = tree_copy.run([sys.executable, "tests/run_ops.py", "--op", "negate", "--backend", "cpu", "--mode", "test"], tree)
    finally:
        kernel.write_text(right)
    assert done.returncode == 1, done.stdout
    assert "layout/" in done.stdout


def test_a_c_program_links_a_new_operator(tree: Path) -> None:
    done = tree_copy.run(["ctest", "--test-dir", "build", "--no-tests=error", "--output-on-failure"], tree)
    assert done.returncode == 0, done.stdout
    linked = (tree / "build/generated/link_all_symbols.c").read_text()
    assert "oprt_execute_negate" in linked
    assert "oprt_execute_softmax" not in linked


@pytest.mark.parametrize("name", ["switch", "lambda", "Negate", "negate-2", "2d_sum", "copy_", "a b"])
def test_a_folder_that_cannot_name_an_operator_is_refused_when_configured(name: str, tmp_path: Path) -> None:
    copy = tree_copy.copy_tree(tmp_path / "tree")
    shutil.copytree(copy / "ops/copy", copy / "ops" / name)
    done = tree_copy.run(["cmake", "-B", "build", "-DCAMP_ENABLE_NVIDIA=OFF", "-DCAMP_BUILD_PYTHON=OFF"], copy)
    assert done.returncode != 0
    assert done.stdout.count("CMake Error") == 1
    assert f"ops/{name}: the name of an operator is lower-case letters" in done.stdout
