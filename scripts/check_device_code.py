"""What nvcc made of the kernels, without a GPU: nothing spills, and contiguous paths move 128 bits an instruction.

python scripts/check_device_code.py BUILD   reads the CUDA objects of a build folder with nvdisasm (from the CUDA toolkit, or from
requirements-dev.txt). A kernel that touches local memory has spilled registers, or indexes an array at run time: both cost memory
traffic that the source does not show. Prints a line for each finding. Exit code 1 if there is one, 2 where nvdisasm is missing, 77
where the build holds no CUDA code to read (tests are off, or NVIDIA is).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ELF, CUDA_MACHINE = b"\x7fELF", 190
FUNCTION = re.compile(r"^\.text\.(\w+):", re.MULTILINE)
INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", re.MULTILINE)
WIDE_LOAD, WIDE_STORE = re.compile(r"LDG\..*\b128\b"), re.compile(r"STG\..*\b128\b")
LOCAL = re.compile(r"(LDL|STL)\b")

# Kernels of contiguous paths, by a part of their mangled name: whether each of them loads and stores 128 bits at once.
WIDE = {
    "copy_contiguous": (True, True),
    "copy_rows": (True, True),
    "add_contiguous": (True, True),
    "add_rows": (True, True),
    "sum_rows_short": (True, False),
    "sum_rows_packed": (True, False),
    "sum_rows_group.*Contiguous": (True, False),
    "sum_rows_block.*Contiguous": (True, False),
    "softmax_short_rows": (True, True),
    "softmax_rows.*Contiguous": (True, True),
    "softmax_rows_packed": (True, True),
    "softmax_stream.*Contiguous": (True, True),
    "softmax_split_stats.*Contiguous": (True, False),
    "softmax_split_write.*Contiguous": (True, True),
    # Vectors of columns: Li1 are the kernels of single columns.
    "sum_columnsI.*Li(?!1E)\\d+E": (True, False),
    "softmax_columnsI.*Li(?!1E)\\d+E": (True, False),
}


def find_nvdisasm() -> str | None:
    from_pip = sorted(Path(sysconfig.get_path("purelib")).glob("nvidia/*/bin/nvdisasm"))
    return shutil.which("nvdisasm") or (str(from_pip[-1]) if from_pip else None)


def cubins(data: bytes) -> Iterator[bytes]:
    """The device code in an object file; that is uncompressed in builds with tests."""
    start = data.find(ELF, 1)
    while start >= 0:
        if int.from_bytes(data[start + 18 : start + 20], "little") == CUDA_MACHINE:
            yield data[start:]
        start = data.find(ELF, start + 1)


def kernels(listing: str) -> Iterator[tuple[str, Counter[str]]]:
    """Name and instruction counts of each kernel in a listing of nvdisasm."""
    starts = list(FUNCTION.finditer(listing))
    ends = [match.start() for match in starts[1:]] + [len(listing)]
    for match, end in zip(starts, ends, strict=False):  # no kernel, no end
        body = listing[match.end() : end]
        yield match.group(1), Counter(INSTRUCTION.findall(body))


def findings(all_kernels: Iterable[tuple[str, Counter[str]]]) -> list[str]:
    found, unseen = [], set(WIDE)
    for name, instructions in all_kernels:
        local = sum(count for opcode, count in instructions.items() if LOCAL.match(opcode))
        if local:
            found.append(f"{name}: {local} accesses to local memory")
        for pattern, wanted in WIDE.items():
            if not re.search(pattern, name):
                continue
            unseen.discard(pattern)
            for kind, wide, is_wanted in zip(("loads", "stores"), (WIDE_LOAD, WIDE_STORE), wanted, strict=True):
                if is_wanted and not any(wide.match(opcode) for opcode in instructions):
                    found.append(f"{name}: no 128-bit {kind}")
    return found + [f"no kernel is named {pattern}: mend the table in scripts/check_device_code.py" for pattern in sorted(unseen)]


def disassemble(nvdisasm: str, file: Path) -> list[tuple[str, Counter[str]]]:
    listed: list[tuple[str, Counter[str]]] = []
    for cubin in cubins(file.read_bytes()):
        with tempfile.NamedTemporaryFile(suffix=".cubin") as temporary:
            temporary.write(cubin)
            temporary.flush()
            done = subprocess.run((nvdisasm, "-c", temporary.name), capture_output=True, text=True, check=True)
        listed += kernels(done.stdout)
    return listed


def main() -> int:
    files = sorted(Path(sys.argv[1]).glob("CMakeFiles/oprt_kernels_nvidia.dir/**/*.cu.o"))
    if not files:
        print(f"{sys.argv[1]} has no objects of CUDA kernels")
        return 77
    nvdisasm = find_nvdisasm()
    if nvdisasm is None:
        print("nvdisasm is missing: pip install -r requirements-dev.txt")
        return 2
    with ThreadPoolExecutor() as pool:
        listed = [kernel for part in pool.map(lambda file: disassemble(nvdisasm, file), files) for kernel in part]
    if not listed:
        print(f"{sys.argv[1]} holds compressed device code: configure with -DOPRT_BUILD_TESTS=ON")
        return 77
    found = findings(listed)
    for finding in found:
        print(finding)
    print(f"{len(listed)} kernels, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
