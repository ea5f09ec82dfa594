"""The Python examples run from a clone; those in C and C++ are programs of the build folder (test_c_api.py)."""

from __future__ import annotations

import os
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
