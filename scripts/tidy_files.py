"""Prints our own C and C++ sources of a compile_commands.json, one path a line: no generated file, nothing of a library."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "ops", "python", "tests", "examples")


def main() -> None:
    commands = json.loads(Path(sys.argv[1]).read_text())
    files = {Path(command["file"]).resolve() for command in commands}
    for folder in FOLDERS:
        for file in sorted(files):
            if file.is_relative_to(ROOT / folder) and file.suffix in (".c", ".cc"):
                print(file.relative_to(ROOT))


if __name__ == "__main__":
    main()
