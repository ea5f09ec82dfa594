"""Prints one line for each requirement that this interpreter lacks; for OPRT_PYTHON, where nothing gets installed."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Oldest versions that work where the pinned ones are not at hand. DLPack's exchange API came with torch 2.10.
OLDEST = {"torch": (2, 10), "numpy": (2, 1), "cmake": (3, 24), "nanobind": (2, 4)}
PROGRAMS = {"cmake": "cmake", "ninja": "ninja-build"}  # their distribution packages


def parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:2])


def installed_version(name: str) -> str | None:
    if name in PROGRAMS:
        if shutil.which(name) is None:
            return None
        answer = subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout
        found = re.search(r"\d+\.\d+\S*", answer)
        return found.group() if found else None
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def describe_missing(name: str) -> str | None:
    version = installed_version(name)
    oldest = OLDEST.get(name, (0,))
    if version is not None and parse_version(version) >= oldest:
        return None
    needed = f"{name} {'.'.join(map(str, oldest))} or newer" if name in OLDEST else name
    is_what = "not installed" if version is None else version
    line = f"{needed} is missing ({name} is {is_what}). {sys.executable} -m pip install {name}"
    if name in PROGRAMS:
        line += f"; Debian, Ubuntu: apt-get install {PROGRAMS[name]}; Fedora: dnf install {PROGRAMS[name]}"
    return line


def main() -> None:
    requirements = Path(__file__).parent.parent / "requirements.txt"
    names = dict.fromkeys(re.findall(r"^([A-Za-z][\w-]*)", requirements.read_text(), flags=re.MULTILINE))
    for line in filter(None, map(describe_missing, names)):
        print(line)


if __name__ == "__main__":
    main()
