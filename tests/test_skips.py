"""A skip is a failure where OPRT_REQUIRE_ALL=1, unless it is about the backend."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
WAYS_TO_SKIP = {
    "call": "def test_it():\n    pytest.skip('{}')",
    "fixture": "@pytest.fixture\ndef tool():\n    pytest.skip('{}')\n\n\ndef test_it(tool):\n    pass",
    "mark": "@pytest.mark.skipif(True, reason='{}')\ndef test_it():\n    pass",
    "module": "pytest.skip('{}', allow_module_level=True)",
}
EXPECTED_TO_FAIL = "@pytest.mark.xfail\ndef test_it():\n    assert False"


@pytest.mark.parametrize(
    ("required", "reason", "fails"),
    [("1", "nm is not installed", True), ("0", "nm is not installed", False), ("1", "backend: there is no GPU", False)],
    ids=["required", "not required", "backend"],
)
def test_a_skip_for_want_of_a_tool_fails_where_everything_is_required(
    required: str, reason: str, fails: bool, tmp_path: Path
) -> None:
    bodies = {name: body.format(reason) for name, body in WAYS_TO_SKIP.items()} | {"xfail": EXPECTED_TO_FAIL}
    for name, body in bodies.items():
        (tmp_path / f"test_{name}.py").write_text(f"import pytest\n\n\n{body}\n")
    options = ["-p", "no:cacheprovider", "-c", os.devnull, "-p", "conftest", "--continue-on-collection-errors", "-rA"]
    env = {**os.environ, "PYTHONPATH": str(TESTS), "OPRT_REQUIRE_ALL": required, "COLUMNS": "300"}
    command = [sys.executable, "-m", "pytest", *options, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TESTS.parent, env=env)
    assert "1 xfailed" in done.stdout, done.stdout + done.stderr
    found = [
        name for name in WAYS_TO_SKIP if f"- skipped, and OPRT_REQUIRE_ALL=1 requires it: {reason}" in line_of(name, done.stdout)
    ]
    assert found == (list(WAYS_TO_SKIP) if fails else []), done.stdout
    assert done.returncode == (1 if fails else 77)


def line_of(name: str, output: str) -> str:
    """What the summary says of a file that failed."""
    return next((line for line in output.splitlines() if re.match(rf"(FAILED|ERROR) .*test_{name}\.py", line)), "")
