"""Refuses, in kernel files, what the dialect has a name for: launch syntax, literal lane counts and masks, vendor builtins.

A kernel that says 32 is wrong on a machine with 64 lanes. Looks at *.cu, *.cuh, *.maca and the headers beside them, comments left
out. src/simt/ gives the words their meaning, benchmarks/ceiling.cu and benchmarks/peers/ are plain CUDA to compare with: they are
exempt, and so is a line of ALLOWED. Prints a line for each finding; exit code 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

EXEMPT = ("src/simt/", "benchmarks/peers/", "benchmarks/ceiling.cu")
SUFFIXES = (".cu", ".cuh", ".maca")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)

RULES = (
    (re.compile(r"<<<"), "launch syntax; use simt::launch"),
    (re.compile(r"[%/]=?\s*(32|64)\b(?!\s*[.'])"), "a literal lane count; use simt::kWarpSize"),
    (re.compile(r"&=?\s*(31|63|0x1[fF]|0x3[fF])\b"), "a literal lane mask; use simt::lane_id()"),
    (re.compile(r"(>>|<<)=?\s*[56]\b"), "a shift by a literal lane count; use simt::kWarpSize"),
    (re.compile(r"0[xX][fF]{8}([fF]{8})?(?![0-9a-fA-F])"), "a literal full mask; use simt::kFullMask"),
    (re.compile(r"\bwarpSize\b"), "the vendor's lane count; use simt::kWarpSize"),
    (re.compile(r"\b__(shfl|ballot|any|all|activemask|reduce|sync)_?\w*\("), "a vendor's builtin; use its simt:: name"),
    (
        re.compile(r"\b(atomic[A-Z]\w*|__threadfence\w*|__ld(g|c[agsv]|lu)|__st(wb|c[gs]|wt))\("),
        "a vendor's builtin; use its simt:: name",
    ),
    (re.compile(r"\basm\b"), "inline assembly outside src/simt"),
)

# "path: text of the line": findings that are right as they stand, each with its reason in the file.
ALLOWED: frozenset[str] = frozenset()


def blank(match: re.Match[str]) -> str:
    """A comment as empty lines, so that line numbers hold."""
    return "\n" * match.group().count("\n")


def findings(root: Path) -> list[str]:
    found = []
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        is_kernel = file.suffix in SUFFIXES or re.fullmatch(r"ops/\w+/(nvidia|metax)/\w+\.h", path)
        if not is_kernel or path.startswith((*EXEMPT, "build", ".")):
            continue
        for number, line in enumerate(COMMENT.sub(blank, file.read_text()).split("\n"), start=1):
            if f"{path}: {line.strip()}" in ALLOWED:
                continue
            found += [f"{path}:{number}: {why}" for pattern, why in RULES if pattern.search(line)]
    return found


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = findings(root)
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
