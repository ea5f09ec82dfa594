"""Prints one line for each requirement that this interpreter lacks; for OPRT_PYTHON, where nothing gets installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
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
    ways = [f"{sys.executable} -m pip install {name}"] if pip_may_install() else []
    if name in PROGRAMS:
        ways.append(f"Debian, Ubuntu: apt-get install {PROGRAMS[name]}; Fedora: dnf install {PROGRAMS[name]}")
    return " ".join([f"{needed} is missing ({name} is {is_what}).", "; ".join(ways)]).rstrip()


def pip_may_install() -> bool:
    """Whether there is a pip, and it does not leave this interpreter's packages to the distribution."""
    is_environment = sys.prefix != sys.base_prefix
    managed = Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").exists()
    return importlib.util.find_spec("pip") is not None and (is_environment or not managed)


def main() -> None:
    requirements = Path(__file__).parent.parent / "requirements.txt"
    names = dict.fromkeys(re.findall(r"^([A-Za-z][\w-]*)", requirements.read_text(), flags=re.MULTILINE))
    missing = {name: line for name in names if (line := describe_missing(name))}
    for line in missing.values():
        print(line)
    if missing and not pip_may_install():
        environment = "~/oprt_venv"
        print(
            f"{sys.executable} takes no packages from pip, an environment on top of it does: "
            f"{sys.executable} -m venv --system-site-packages {environment} && "
            f"{environment}/bin/python -m pip install {' '.join(missing)}; then OPRT_PYTHON={environment}/bin/python"
        )


if __name__ == "__main__":
    main()
