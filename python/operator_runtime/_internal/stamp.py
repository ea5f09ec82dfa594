"""The stamp of a native module: a hash of the headers and bindings that it was built from.

As a script, run at the end of a build: python stamp.py <root> <output file>.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

# operator_runtime.hpp is missing on purpose: the module does not include it.
PATTERNS = (
    "include/operator_runtime/*.h",
    "include/operator_runtime/ops/*.h",
    "python/native/*.h",
    "python/native/*.cc",
    "ops/*/python.cc",
)


def compute_stamp(root: Path) -> str:
    """SHA-256 over the names and contents of what a native module's interfaces are made of, in the source tree at `root`."""
    names = {path.relative_to(root).as_posix() for pattern in PATTERNS for path in root.glob(pattern) if path.is_file()}
    digest = hashlib.sha256()
    for name in sorted(names):
        content = (root / name).read_bytes()
        digest.update(f"{len(name)} {name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(compute_stamp(Path(sys.argv[1])) + "\n")
