"""scripts/check_dialect.py finds each word that the dialect has another name for, and no other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def findings(tree: Path) -> list[str]:
    command = [sys.executable, str(ROOT / "scripts" / "check_dialect.py"), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.stderr
    assert done.returncode == (1 if done.stdout else 0)
    return done.stdout.splitlines()


def write(tree: Path, path: str, text: str) -> None:
    (tree / path).parent.mkdir(parents=True, exist_ok=True)
    (tree / path).write_text(text)


@pytest.mark.parametrize(
    "line",
    [
        "kernel<<<grid, block>>>(x);",
        "int lane = threadIdx.x % 32;",
        "int warp = t / 32;",
        "int lane = t & 31;",
        "int lane = t & 63;",
        "int warp = t >> 5;",
        "unsigned all = 0xffffffff;",
        "auto all = 0xffffffffffffffffULL;",
        "x += __shfl_xor_sync(mask, x, 1);",
        "__syncthreads();",
        "__syncwarp();",
        "atomicAdd(&total, 1);",
        "__threadfence();",
        "float v = __ldg(p);",
        "__stcs(p, v);",
        'asm volatile("bar.sync 0;");',
        "int lanes = warpSize;",
    ],
)
@pytest.mark.parametrize(
    "path", ["ops/copy/kernels.cuh", "ops/copy/nvidia/rows.cu", "ops/copy/metax/rows.maca", "ops/copy/nvidia/plan.h"]
)
def test_a_vendors_word_is_found_with_its_line(tmp_path: Path, path: str, line: str) -> None:
    write(tmp_path, path, f"// a comment about warps of 32\n{line}\n")
    (found,) = findings(tmp_path)
    assert found.startswith(f"{path}:2: ")


def test_comments_other_numbers_and_exempt_files_pass(tmp_path: Path) -> None:
    write(tmp_path, "ops/copy/kernels.cuh", "/* __syncthreads(); */ int a = n / 320, b = n % 3.2, c = n & 3;\n// k<<<1, 32>>>()\n")
    write(tmp_path, "src/simt/cuda.h", "__syncthreads();\n")
    write(tmp_path, "src/simt/tiles.cuh", "int lane = t & 31;\n")
    write(tmp_path, "benchmarks/peers/cub.cu", "kernel<<<1, 32>>>();\n")
    write(tmp_path, "ops/copy/cpu/copy.cc", "int x = n % 32;\n")
    assert findings(tmp_path) == []


def test_the_kernels_of_this_tree_pass() -> None:
    assert findings(ROOT) == []
