"""One hash of all sources that decide what runs on an NVIDIA GPU, and whether the last GPU check saw the same ones.

python scripts/kernel_hash.py           prints the hash
python scripts/kernel_hash.py --check   says whether benchmarks/results/ holds a GPU check of these sources; always exits with 0
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATTERNS = (
    "src/simt/*",
    "src/backends/nvidia/*",
    "src/core/*",
    "ops/*/*.cuh",
    "ops/*/*.h",
    "ops/*/*.cc",
    "ops/*/nvidia/*",
    "cmake/cuda.cmake",
    "cmake/compile.cmake",
)
BINDING = "python.cc"


def kernel_hash(root: Path = ROOT) -> str:
    digest = hashlib.sha256()
    for file in sorted({file for pattern in PATTERNS for file in root.glob(pattern) if file.is_file() and file.name != BINDING}):
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def newest_check(root: Path = ROOT) -> dict[str, str] | None:
    """The summary of the latest GPU check, by its date and time."""
    summaries = [json.loads(file.read_text()) for file in (root / "benchmarks" / "results").glob("gpu-check-*.json")]
    return max(summaries, key=lambda summary: summary["date"], default=None)


def main() -> int:
    current = kernel_hash()
    if "--check" not in sys.argv[1:]:
        print(current)
        return 0
    newest = newest_check()
    if newest is None:
        print("GPU check: none is recorded; run scripts/gpu_check.sh on a machine with an NVIDIA GPU")
    elif newest["kernel_hash"] == current:
        print(f"GPU check: these kernels {newest['verdict']} on {newest['device']}, {newest['date']}")
    else:
        print(f"GPU check: the kernels have changed since {newest['date']}; run scripts/gpu_check.sh where an NVIDIA GPU is")
    return 0


if __name__ == "__main__":
    sys.exit(main())
