"""The lines that README.md gives for building and testing by hand work as written, in a copy of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tree_copy

CONFIGURE = "mkdir -p build; cd build; cmake .. -DCAMP_ENABLE_NVIDIA=ON -DCAMP_ENABLE_METAX=OFF"
BUILD = "cd build; cmake --build . -j$(nproc)"
RUN = "python tests/run_ops.py --op copy --backend cpu --mode all"
TEST = "CAMP_BUILD_DIR=build pytest tests/ -v --backend cpu"


def shell(line: str, tree: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a line as a person would who has activated the environment of this interpreter."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return tree_copy.run(line, tree, tree_copy.environment(**{"PATH": path, **variables}))


def nvcc_works() -> bool:
    return shutil.which(os.environ.get("CUDACXX", "nvcc")) is not None


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree, configured and built as documented: with NVIDIA where nvcc is, else by the line that the error names."""
    tree = tree_copy.copy_tree(tmp_path_factory.mktemp("documented") / "tree")
    configured = shell(CONFIGURE, tree)
    if nvcc_works():
        assert configured.returncode == 0, configured.stdout
    else:
        assert configured.returncode != 0
        configured = shell(line_to_use_instead(configured.stdout), tree)
        assert configured.returncode == 0, configured.stdout
    built = shell(BUILD, tree)
    assert built.returncode == 0, built.stdout
    return tree


def line_to_use_instead(output: str) -> str:
    assert output.count("CMake Error") == 1, output
    assert "CAMP_ENABLE_NVIDIA=ON needs a working nvcc" in output
    found = re.search(r"^\s*(cmake \.\. .*)$", output, flags=re.MULTILINE)
    assert found is not None, output
    return f"cd build; {found.group(1)}"


def test_the_runner_passes_as_documented(tree: Path) -> None:
    done = shell(RUN, tree)
    assert done.returncode == 0, done.stdout
    assert "copy" in done.stdout


def test_pytest_passes_as_documented(tree: Path) -> None:
    done = shell(TEST, tree)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.skipif(not nvcc_works(), reason="backend: there is no nvcc")
def test_a_build_with_nvidia_names_the_operators_without_kernels(tree: Path) -> None:
    without = sorted(folder.name for folder in (tree / "ops").iterdir() if not list(folder.glob("nvidia/*")))
    configured = shell(CONFIGURE, tree)
    assert configured.returncode == 0, configured.stdout
    named = re.search(r"operators without nvidia kernels: (.*)", configured.stdout)
    assert (named.group(1).split(", ") if named else []) == without


def test_nvidia_without_nvcc_is_one_error_with_the_line_to_use_instead(tmp_path: Path) -> None:
    tree = tree_copy.copy_tree(tmp_path / "tree")
    configured = shell(CONFIGURE, tree, CUDACXX="/nonexistent/nvcc")
    assert configured.returncode != 0
    instead = shell(line_to_use_instead(configured.stdout), tree, CUDACXX="/nonexistent/nvcc")
    assert instead.returncode == 0, instead.stdout


def test_nvidia_and_metax_in_one_build_are_refused_with_the_reason(tmp_path: Path) -> None:
    tree = tree_copy.copy_tree(tmp_path / "tree")
    configured = shell(CONFIGURE.replace("METAX=OFF", "METAX=ON"), tree)
    assert configured.returncode != 0
    assert configured.stdout.count("CMake Error") == 1
    assert "CAMP_ENABLE_NVIDIA and CAMP_ENABLE_METAX are both ON. Both name their tensors" in " ".join(configured.stdout.split())


def test_an_emulation_with_a_gpu_backend_is_refused_with_the_line_to_use_instead(tmp_path: Path) -> None:
    tree = tree_copy.copy_tree(tmp_path / "tree")
    configured = shell(f"{CONFIGURE} -DCAMP_ENABLE_EMULATION=ON", tree)
    assert configured.returncode != 0
    assert configured.stdout.count("CMake Error") == 1
    found = re.search(r"^\s*(cmake -S \.\. .*)$", configured.stdout, flags=re.MULTILINE)
    assert found is not None, configured.stdout
    instead = shell(f"cd build; {found.group(1)} -DPython_EXECUTABLE={sys.executable}", tree)
    assert instead.returncode == 0, instead.stdout
    assert (tree / "build-emulation/CMakeCache.txt").is_file()


def test_ninja_is_used_where_there_is_no_make(tmp_path: Path) -> None:
    tree = tree_copy.copy_tree(tmp_path / "tree")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("cmake", "ninja", "python", "cc", "c++", "as", "ld", "ar", "ranlib", "mkdir", "bash"):
        found = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
        if found is not None:
            (programs / name).write_text(f'#!{shutil.which("bash")}\nexec "{found}" "$@"\n')
            (programs / name).chmod(0o755)
    line = CONFIGURE.replace("NVIDIA=ON", "NVIDIA=OFF") + f' -DPython_EXECUTABLE="{sys.executable}"'
    configured = shell(line, tree, PATH=str(programs))
    assert configured.returncode == 0, configured.stdout
    assert (tree / "build/build.ninja").is_file()


@pytest.mark.parametrize(
    ("option", "lacks", "line"),
    [
        ("-DPython_INCLUDE_DIR=/nonexistent", "headers", "apt-get install python3."),
        ("", "nanobind", ". ~/oprt_venv/bin/activate && pip install -r requirements.txt"),
    ],
    ids=["headers", "nanobind"],
)
def test_what_python_lacks_is_one_error_with_the_line_to_install_it(option: str, lacks: str, line: str, tmp_path: Path) -> None:
    tree = tree_copy.copy_tree(tmp_path / "tree")
    (tmp_path / "nanobind").mkdir()
    (tmp_path / "nanobind/__init__.py").write_text("raise SystemExit(1)\n")
    configure = CONFIGURE.replace("NVIDIA=ON", "NVIDIA=OFF") + f" -DPython_EXECUTABLE={sys.executable} {option}"
    configured = shell(configure, tree, PYTHONPATH=str(tmp_path))
    assert configured.returncode != 0
    assert configured.stdout.count("CMake Error") == 1
    assert f"{sys.executable} has no {lacks}." in configured.stdout
    assert line in configured.stdout
    assert "cmake .. -DCAMP_BUILD_PYTHON=OFF" in configured.stdout
