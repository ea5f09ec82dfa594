"""For programs that may be started by an interpreter without our requirements: one line and exit code 2 instead of a traceback."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def needed(program: str) -> Iterator[None]:
    """Ends the process where the block misses a package of requirements.txt; other errors pass."""
    try:
        yield
    except ModuleNotFoundError as error:
        requirements = re.findall(r"^([\w-]+)", (ROOT / "requirements.txt").read_text(), flags=re.MULTILINE)
        if error.name not in requirements:
            raise
        missing = f"{program}: {error.name} is not installed for {sys.executable}"
        script = f"{ROOT}/scripts/run.sh sets up {ROOT}/.venv with it"
        print(f"{missing}. {script}; or, in a virtual environment: pip install -r {ROOT}/requirements.txt", file=sys.stderr)
        sys.exit(2)
