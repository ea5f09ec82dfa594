"""Keeps code in documents equal to the files it was cut from.

    scripts/sync_snippets.py            rewrite the documents
    scripts/sync_snippets.py --check    change nothing; exit 1 and name each document that differs

A document marks a snippet with a comment right above a fenced block:

    <!-- snippet: examples/c/softmax.c#softmax -->               between `[softmax]` and `[/softmax]` in comments of that file
    <!-- snippet: ops/copy/copy.h "struct Problem" .. "};" -->   from the first line that holds the one text to the next that starts
                                                                 with the other
    <!-- snippet: ops/copy/copy.h "Space<2> space" -->           the first line that holds the text
    <!-- snippet: ops/copy/copy.h -->                            the whole file
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from pathlib import Path

LANGUAGES = {
    ".c": "c",
    ".h": "c",
    ".cc": "cpp",
    ".cu": "cpp",
    ".cuh": "cpp",
    ".hpp": "cpp",
    ".py": "python",
    ".sh": "bash",
    ".txt": "cmake",
    ".cmake": "cmake",
}
SNIPPET = re.compile(r"^<!-- snippet: (?P<source>.+?) -->\n```[^\n]*\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
RANGE = re.compile(r'^(?P<path>\S+) "(?P<first>[^"]+)"(?: \.\. "(?P<last>[^"]+)")?$')
MARKER = re.compile(r"^\s*(//|#|/\*)\s*\[/?\w+\]\s*(\*/)?$")


class SnippetError(Exception):
    pass


def find_line(lines: list[str], text: str, path: str, start: int = 0, at_start: bool = False) -> int:
    for number in range(start, len(lines)):
        if lines[number].startswith(text) if at_start else text in lines[number]:
            return number
    raise SnippetError(f"{path} has no line with {text!r}" + (f" after line {start}" if start else ""))


def cut(root: Path, source: str) -> tuple[str, str]:
    """The language and the text of `source`, as it stands after "snippet:"."""
    matched = RANGE.match(source)
    path, _, marker = (matched["path"] if matched else source).partition("#")
    file = root / path
    if not file.is_file():
        raise SnippetError(f"there is no file {path}")
    lines = file.read_text().splitlines()
    if matched:
        first = find_line(lines, matched["first"], path)
        last = find_line(lines, matched["last"], path, first + 1, at_start=True) if matched["last"] else first
        lines = lines[first : last + 1]
    elif marker:
        first = find_line(lines, f"[{marker}]", path)
        lines = lines[first + 1 : find_line(lines, f"[/{marker}]", path, first)]
    text = textwrap.dedent("\n".join(line for line in lines if not MARKER.match(line))).strip("\n")
    return LANGUAGES.get(file.suffix, "text"), text + "\n"


def sync(root: Path, document: str) -> str:
    def replace(match: re.Match[str]) -> str:
        language, text = cut(root, match["source"])
        return f"<!-- snippet: {match['source']} -->\n```{language}\n{text}```"

    synced, count = SNIPPET.subn(replace, document)
    marked = document.count("<!-- snippet:")
    if count != marked:
        raise SnippetError(f"{marked} snippets are marked, but {count} stand right above a fenced block")
    return synced


def documents(root: Path) -> list[Path]:
    return sorted([*root.glob("*.md"), *(root / "docs").rglob("*.md")])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing, exit 1 where a document differs")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="the tree, default this one")
    arguments = parser.parse_args()
    failed = False
    for document in documents(arguments.root):
        name = document.relative_to(arguments.root)
        text = document.read_text()
        try:
            synced = sync(arguments.root, text)
        except SnippetError as error:
            print(f"{name}: {error}")
            failed = True
            continue
        if synced == text:
            continue
        if arguments.check:
            print(f"{name}: snippets differ from their sources; run scripts/sync_snippets.py")
            failed = True
        else:
            document.write_text(synced)
            print(f"{name}: updated")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
