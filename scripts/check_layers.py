"""Checks that dependencies point one way: ops -> src/core, src/simt -> include (docs/design.md, "Tree").

No backend includes another, no operator another operator; framework headers (nanobind, Python, torch) stay in ops/<op>/python.cc
and python/, vendor headers in the vendor's folders. Prints a line for each include that breaks a rule; exit code 1 if there is one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

VENDORS = ("cpu", "nvidia", "metax")
SUFFIXES = (".h", ".hpp", ".c", ".cc", ".cu", ".cuh", ".maca")
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
FRAMEWORK = re.compile(r"^(nanobind/|Python\.h|pybind11/|torch/|ATen/|c10/)")
VENDOR_HEADERS = {
    "nvidia": re.compile(r"^(cuda|cub/|thrust/|cooperative_groups|nvtx|cooperative_groups/)"),
    "metax": re.compile(r"^(mcr?/|mc_runtime|maca)"),
}

# What a file of a layer may include of ours, by the first folder of the include.
MAY_INCLUDE = {
    "include": {"include"},
    "core": {"include", "core"},
    "simt": {"include", "core", "simt"},
    "emulator": {"include", "core", "simt", "emulator"},
    "backends": {"include", "core", "simt", "emulator", "backends"},
    "ops": {"include", "core", "simt", "backends", "ops"},
    "python": {"include", "core", "python", "ops"},
}


def layer_of(parts: tuple[str, ...]) -> str:
    return parts[1] if parts[0] == "src" and len(parts) > 2 else parts[0]


def target_layer(root: Path, file: Path, included: str) -> tuple[str, tuple[str, ...]] | None:
    """The layer and the path of an include of ours; None for headers of the system or a library."""
    if included.startswith("operator_runtime/"):
        return "include", tuple(included.split("/"))
    for base in (file.parent, root / "src", root, root / "python"):
        found = (base / included).resolve()
        if found.is_file() and found.is_relative_to(root):
            parts = found.relative_to(root).parts
            return layer_of(parts), parts
    return None


def vendor_of(parts: tuple[str, ...]) -> str | None:
    """The vendor whose folder a file is in: ops/<op>/<vendor>/ or src/backends/<vendor>/."""
    return parts[2] if len(parts) > 3 and parts[2] in VENDORS else None


def broken_rules(root: Path, file: Path, included: str) -> Iterator[str]:
    parts = file.relative_to(root).parts
    layer, vendor = layer_of(parts), vendor_of(parts)
    is_binding = layer == "python" or (layer == "ops" and file.name == "python.cc")
    if FRAMEWORK.match(included) and not is_binding:
        yield "framework headers belong in ops/<op>/python.cc and python/"
    for owner, pattern in VENDOR_HEADERS.items():
        shares_device_code = layer in ("simt", "emulator") or file.suffix == ".cuh"
        if pattern.match(included) and vendor != owner and not shares_device_code:
            yield f"headers of {owner} belong in its folders and in src/simt"
    target = target_layer(root, file, included)
    if target is None:
        return
    target_name, target_parts = target
    if target_name == "python" and is_binding:
        return
    if target_name not in MAY_INCLUDE.get(layer, set()):
        yield f"{layer} may not include {target_name}"
    other = vendor_of(target_parts)
    if other is not None and other != vendor:
        yield f"{other} is another backend"
    if layer == target_name == "ops" and target_parts[1] != parts[1]:
        yield f"{target_parts[1]} is another operator"


def find_breaches(root: Path) -> list[str]:
    breaches = []
    for folder in ("include", "src", "ops", "python"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SUFFIXES:
                continue
            text = file.read_text()
            for match in INCLUDE.finditer(text):
                line = text.count("\n", 0, match.start(1)) + 1
                for rule in islice(broken_rules(root, file, match.group(1)), 1):
                    breaches.append(f"{file.relative_to(root)}:{line}: includes {match.group(1)}: {rule}")
    return breaches


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    breaches = find_breaches(root)
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
