"""scripts/check_layers.py accepts this tree and finds each kind of include that points the wrong way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILES = {
    "include/operator_runtime/tensor.h": "",
    "src/core/error.h": '#include "operator_runtime/tensor.h"\n',
    "src/simt/warp.h": "",
    "src/backends/cpu/cpu.h": '#include "core/error.h"\n',
    "src/backends/nvidia/device.h": '#include <cuda_runtime.h>\n\n#include "core/error.h"\n',
    "ops/copy/copy.h": '#include "core/error.h"\n',
    "ops/copy/cpu/copy_cpu.cc": '#include "backends/cpu/cpu.h"\n#include "ops/copy/copy.h"\n',
    "ops/copy/nvidia/copy.cu": '#include "backends/nvidia/device.h"\n#include "simt/warp.h"\n',
    "ops/copy/python.cc": "#include <nanobind/nanobind.h>\n",
    "ops/softmax/softmax.h": "",
}


def check(tree: Path) -> tuple[int, list[str]]:
    command = [sys.executable, str(ROOT / "scripts/check_layers.py"), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_this_tree_keeps_the_rules() -> None:
    assert check(ROOT) == (0, [])


def test_includes_that_point_the_right_way_are_accepted(tree: Path) -> None:
    assert check(tree) == (0, [])


@pytest.mark.parametrize(
    ("file", "included", "rule"),
    [
        ("include/operator_runtime/tensor.h", "core/error.h", "include may not include core"),
        ("src/core/error.h", "ops/copy/copy.h", "core may not include ops"),
        ("src/core/error.h", "backends/cpu/cpu.h", "core may not include backends"),
        ("src/core/error.h", "simt/warp.h", "core may not include simt"),
        ("src/simt/warp.h", "backends/nvidia/device.h", "simt may not include backends"),
        ("src/backends/cpu/cpu.h", "ops/copy/copy.h", "backends may not include ops"),
        ("src/backends/cpu/cpu.h", "backends/nvidia/device.h", "nvidia is another backend"),
        ("ops/copy/cpu/copy_cpu.cc", "backends/nvidia/device.h", "nvidia is another backend"),
        ("ops/copy/copy.h", "backends/cpu/cpu.h", "cpu is another backend"),
        ("ops/copy/copy.h", "ops/softmax/softmax.h", "softmax is another operator"),
        ("ops/copy/copy.h", "nanobind/nanobind.h", "framework headers belong in ops/<op>/python.cc and python/"),
        ("src/core/error.h", "torch/extension.h", "framework headers belong in ops/<op>/python.cc and python/"),
        ("src/core/error.h", "cuda_runtime.h", "headers of nvidia belong in its folders and in src/simt"),
        ("ops/copy/cpu/copy_cpu.cc", "cuda.h", "headers of nvidia belong in its folders and in src/simt"),
    ],
)
def test_an_include_that_points_the_wrong_way_is_named_with_its_line(tree: Path, file: str, included: str, rule: str) -> None:
    (tree / file).write_text(f'{FILES[file]}// one more\n#include "{included}"\n')
    line = FILES[file].count("\n") + 2
    assert check(tree) == (1, [f"{file}:{line}: includes {included}: {rule}"])
