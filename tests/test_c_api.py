"""The C library from outside: what it exports, how its headers compile, and the C and C++ programs of the build folder."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from operator_runtime.backend import emulated_backends

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
OPERATOR_FUNCTIONS = (
    "oprt_create_{op}_descriptor",
    "oprt_check_{op}_support",
    "oprt_get_{op}_workspace_size",
    "oprt_execute_{op}",
    "oprt_destroy_{op}_descriptor",
)


def build_dir() -> Path:
    return (ROOT / os.environ.get("CAMP_BUILD_DIR", "build")).resolve()


def tool(name: str) -> str:
    """A program on the PATH or beside this interpreter; skips where there is none."""
    beside = Path(sys.executable).with_name(name)
    path = shutil.which(name) or (str(beside) if beside.exists() else None)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


def compiler(variable: str, default: str) -> list[str]:
    command = shlex.split(os.environ.get(variable, default))
    if shutil.which(command[0]) is None:
        pytest.skip(f"no compiler: {command[0]} (set {variable}) is not installed")
    return command


def library() -> Path:
    path = build_dir() / "lib" / "liboperator_runtime.so.0"
    assert path.exists(), f"{path} is missing; build first: cmake --build {build_dir()}"
    return path


def built_operators() -> set[str]:
    text = (build_dir() / "generated" / "operator_runtime" / "ops.h").read_text()
    return set(re.findall(r'#include "operator_runtime/ops/(\w+)\.h"', text))


def functions_of(op: str) -> set[str]:
    return {name.format(op=op) for name in OPERATOR_FUNCTIONS}


def expected_symbols() -> set[str]:
    """The list, less the operators that this build leaves out, plus the five functions of each operator that is not in it.

    An emulation build has one function more.
    """
    listed = set((ROOT / "tests" / "c_api" / "exported_symbols.txt").read_text().split())
    listed_operators = {name.removeprefix("oprt_execute_") for name in listed if name.startswith("oprt_execute_")}
    built = built_operators()
    for op in listed_operators - built:
        listed -= functions_of(op)
    for op in built - listed_operators:
        listed |= functions_of(op)
    return listed | ({"oprt_emulator_take_reports"} if emulated_backends() else set())


def test_the_list_of_exported_symbols_is_sorted_and_holds_each_once() -> None:
    lines = (ROOT / "tests" / "c_api" / "exported_symbols.txt").read_text().splitlines()
    assert lines == sorted(set(lines))


def test_the_library_exports_exactly_the_listed_symbols() -> None:
    lines = subprocess.run(
        [tool("nm"), "-D", "--defined-only", str(library())], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    rows = [line.split()[-2:] for line in lines]
    exported = {name.split("@")[0] for kind, name in rows if kind != "A"}  # A: the version OPRT_0 itself
    assert exported == expected_symbols()
    assert {kind for kind, _ in rows} <= {"T", "A"}, "only functions are exported"


def test_the_soname_carries_the_abi_version() -> None:
    version = (INCLUDE / "operator_runtime" / "version.h").read_text()
    abi = re.search(r"#define OPRT_ABI_VERSION (\d+)", version)
    assert abi is not None
    dynamic = subprocess.run([tool("readelf"), "-d", str(library())], check=True, capture_output=True, text=True).stdout
    assert re.findall(r"SONAME\).*\[(.*)\]", dynamic) == [f"liboperator_runtime.so.{abi[1]}"]


def test_the_library_needs_no_third_party_library() -> None:
    dynamic = subprocess.run([tool("readelf"), "-d", str(library())], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"NEEDED\).*\[(.*?)\.so[.\d]*\]", dynamic))
    allowed = {"libstdc++", "libc++", "libc++abi", "libgcc_s", "libm", "libc", "libpthread", "libdl", "ld-linux-x86-64"}
    allowed |= {"librt", "ld-linux-aarch64", "libasan", "libubsan", "libtsan"}
    assert needed <= allowed


HEADERS = sorted(path.relative_to(INCLUDE).as_posix() for path in INCLUDE.rglob("*.h"))


def compiles_alone(command: list[str], header: str) -> None:
    source = f'#include "{header}"\n#include "{header}"\nextern int not_empty;\n'
    include = [f"-I{INCLUDE}", f"-I{build_dir() / 'generated'}"]
    result = subprocess.run([*command, *WARNINGS, *include, "-"], input=source, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("header", HEADERS)
def test_a_public_header_compiles_alone_as_c11(header: str) -> None:
    compiles_alone([*compiler("CC", "gcc"), "-std=c11", "-x", "c"], header)


@pytest.mark.parametrize("header", [*HEADERS, "operator_runtime/cpp/operator_runtime.hpp"])
def test_a_public_header_compiles_alone_as_cxx17(header: str) -> None:
    compiles_alone([*compiler("CXX", "g++"), "-std=c++17", "-x", "c++"], header)


def test_every_program_of_the_build_folder_passes() -> None:
    build = build_dir()
    if not (build / "CTestTestfile.cmake").exists():
        pytest.skip(f"{build} has no tests: it was configured with -DOPRT_BUILD_TESTS=OFF")
    ctest = [tool("ctest"), "--test-dir", str(build)]
    names = set(re.findall(r"Test +#\d+: (\w+)", subprocess.run([*ctest, "-N"], check=True, capture_output=True, text=True).stdout))
    if {path.name for path in (ROOT / "ops").iterdir() if path.is_dir()} == built_operators():
        expected = {f"tests_c_api_{path.stem}" for path in (ROOT / "tests" / "c_api").glob("*.c")}
        expected |= {f"examples_{path.parent.name}_{path.stem}" for path in (ROOT / "examples").glob("c*/*.c*")}
        assert expected <= names
    result = subprocess.run([*ctest, "--output-on-failure", "--no-tests=error"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
