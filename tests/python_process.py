"""Fresh Python processes that import the package under test."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run_python(code: str, timeout: float = 120, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs `code`, dedented, with the package on the path; returns what happened, output as text."""
    paths = [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **variables}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, env=env, text=True, capture_output=True, timeout=timeout, check=False)


def assert_runs(code: str, timeout: float = 120, **variables: str) -> str:
    """The same, and fails unless it ends with 0 and nothing on stderr. Returns stdout."""
    done = run_python(code, timeout, **variables)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout
