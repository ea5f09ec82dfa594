"""Copies of the source tree, for tests that build one: as a clone would have it, without build folders, caches and .git."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What a copy of a release without .git leaves out; .gitignore says the same.
NOT_SOURCES = shutil.ignore_patterns("build*", ".venv", "dist", ".git", "__pycache__", "*.pyc", ".*_cache", ".hypothesis")

# Set for commands that run inside a copy: tests that make copies do not run there, or they would never end.
INSIDE_COPY = "OPRT_TEST_INSIDE_COPY"


def copy_tree(destination: Path) -> Path:
    """Copies every tracked and every new, not ignored file to `destination`, which must not exist; returns it."""
    if not (ROOT / ".git").exists():
        return Path(shutil.copytree(ROOT, destination, ignore=NOT_SOURCES))
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (destination / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, destination / name)
    return destination


def fingerprints(tree: Path) -> dict[str, str]:
    """The SHA-256 of every file of a fresh copy, by its path."""
    files = (file for file in tree.rglob("*") if file.is_file())
    return {str(file.relative_to(tree)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def environment(**variables: str) -> dict[str, str]:
    """The environment for commands in a copy: nothing in it points back to the tree that is tested."""
    own = {"CAMP_BUILD_DIR", "PYTHONPATH", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST"}
    kept = {name: value for name, value in os.environ.items() if name not in own}
    return {**kept, INSIDE_COPY: "1", **variables}


def run(command: str | list[str], tree: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a command (a string through bash, a list as it is) in `tree`; its output is stdout and stderr together."""
    argv = ["bash", "-c", command] if isinstance(command, str) else command
    return subprocess.run(
        argv, cwd=tree, env=env or environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
