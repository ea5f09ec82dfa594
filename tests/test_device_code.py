"""scripts/check_device_code.py finds what nvcc should not have made of a kernel; scripts/gpu_check.py says where it cannot run."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
NAME = "_ZN4oprt4copy6cuda32{}EvPj"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_device_code", ROOT / "scripts" / "check_device_code.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


checker = load()


def listing(kernel: str, *instructions: str) -> str:
    lines = [f'\t.section\t.text.{NAME.format(kernel)},"ax",@progbits', f".text.{NAME.format(kernel)}:"]
    lines += [f"        /*{16 * i:04x}*/                   {text} ;" for i, text in enumerate(instructions)]
    return "\n".join(lines) + "\n"


def findings(text: str) -> list[str]:
    """Without those about kernels that the text does not hold."""
    return [finding for finding in checker.findings(checker.kernels(text)) if "no kernel is named" not in finding]


GOOD = ("LDG.E.128 R4, desc[UR6][R2.64]", "@!P0 STG.E.EF.128 desc[UR6][R2.64], R4", "EXIT")


def test_wide_loads_and_stores_pass() -> None:
    assert findings(listing("15copy_contiguous", *GOOD)) == []


@pytest.mark.parametrize("spill", ["STL [R1+0x8], R4", "@P1 LDL.64 R4, [R1]"])
def test_an_access_to_local_memory_is_found(spill: str) -> None:
    assert findings(listing("11copy_single", *GOOD, spill)) == [f"{NAME.format('11copy_single')}: 1 accesses to local memory"]


def test_a_store_that_was_split_is_found_in_its_kernel_alone() -> None:
    split = ("LDG.E.128 R4, desc[UR6][R2.64]", "STG.E desc[UR6][R2.64], R4", "STG.E desc[UR6][R2.64+0x4], R5")
    text = listing("9copy_rows", *split) + listing("15copy_contiguous", *GOOD)
    assert findings(text) == [f"{NAME.format('9copy_rows')}: no 128-bit stores"]


def test_a_name_in_the_table_that_no_kernel_has_is_found() -> None:
    found = checker.findings(checker.kernels(listing("15copy_contiguous", *GOOD)))
    assert not any("named copy_contiguous" in finding for finding in found)
    assert any("named copy_rows" in finding for finding in found)


def test_device_code_is_found_behind_other_elf_files() -> None:
    host = checker.ELF + bytes(14) + (62).to_bytes(2, "little") + bytes(40)
    device = checker.ELF + bytes(14) + checker.CUDA_MACHINE.to_bytes(2, "little") + bytes(40)
    assert [found.startswith(device) for found in checker.cubins(host + device)] == [True]
    assert list(checker.cubins(host + host)) == []


def test_a_folder_without_cuda_objects_is_exit_code_77(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "check_device_code.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (77, f"{tmp_path} has no objects of CUDA kernels\n")


def test_the_gpu_check_without_a_gpu_is_exit_code_77_and_a_reason(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "gpu_check.py"), "--build", str(tmp_path), "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (77, "gpu_check: no NVIDIA GPU is available here\n")
    assert not list(tmp_path.iterdir())
