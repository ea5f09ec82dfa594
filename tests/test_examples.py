"""The examples run from a clone: those in Python as they are, those in C and C++ compiled as README says."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_without_an_installed_package(example: Path, tmp_path: Path) -> None:
    build = (ROOT / os.environ.get("CAMP_BUILD_DIR", "build")).resolve()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"CAMP_BUILD_DIR": str(build)}
    result = subprocess.run([sys.executable, str(example)], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


@pytest.mark.parametrize(
    ("example", "compiler"), [("examples/c/softmax.c", "cc -std=c11"), ("examples/cpp/softmax.cc", "c++ -std=c++17")]
)
def test_an_example_compiles_and_links_as_readme_says(example: str, compiler: str, tmp_path: Path) -> None:
    said = re.search(r"include from `(\S+)` and `(\S+)`, link `([^`]+)`", (ROOT / "README.md").read_text())
    assert said is not None, "README names no flags"
    build = str((ROOT / os.environ.get("CAMP_BUILD_DIR", "build")).resolve())
    flags = f"-I{said[1]} -I{said[2]} {said[3]}".replace("$PWD/", "").replace("build/", f"{build}/")
    program = str(tmp_path / "example")
    command = [*shlex.split(compiler), example, *shlex.split(flags), "-o", program]
    compiled = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
    assert subprocess.run([program], cwd=tmp_path, capture_output=True).returncode == 0
