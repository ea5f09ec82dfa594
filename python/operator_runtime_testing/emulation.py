"""`run_ops.py --emulate`: finds or builds the emulation tree, and has the package load it."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

LANES = {"nvidia": 32, "metax": 64}
BACKENDS = {lanes: backend for backend, lanes in LANES.items()}
ORDER = re.compile(r"forward|reverse|shuffle:[0-9]+")
LOG_LINES = 60


class EmulationError(Exception):
    """What cannot be emulated, or the emulation tree does not build."""


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("kernels on the CPU")
    group.add_argument("--emulate", action="store_true", help="run the backend's kernels in the emulator, built where needed")
    group.add_argument("--check", action="store_true", help="report races, wrong addresses and uninitialised reads; slower")
    group.add_argument("--lanes", type=int, choices=sorted(BACKENDS), help="of a warp: 32 is nvidia, 64 is metax")
    group.add_argument("--order", default=None, help="in which threads run: forward, reverse or shuffle:SEED")


def emulate(root: Path, options: argparse.Namespace) -> None:
    """Builds the tree that the options ask for and names it to the loader. Sets options.backend to whom the lanes belong."""
    if not options.emulate:
        given = [name for name in ("check", "lanes", "order") if getattr(options, name)]
        if given:
            raise EmulationError(f"--{given[0]} needs --emulate")
        return
    backend = "nvidia" if options.backend == "auto" else options.backend
    if backend not in LANES:
        raise EmulationError(f"--emulate runs nvidia or metax, not {backend}")
    if options.order is not None and not ORDER.fullmatch(options.order):
        raise EmulationError(f"--order is {options.order!r}, expected forward, reverse or shuffle:SEED")
    if options.mode != "test":
        raise EmulationError(f"--mode is {options.mode}, but an emulated backend has no speed: use --mode test")
    options.backend = BACKENDS[options.lanes or LANES[backend]]
    folder = root / ("build-emulation-check" if options.check else "build-emulation")
    build(root, folder, options.check)
    os.environ["CAMP_BUILD_DIR"] = str(folder)
    if options.order is not None:
        os.environ["OPRT_EMULATOR_ORDER"] = options.order


def build(root: Path, folder: Path, check: bool) -> None:
    """Configures a folder that is new or was for another interpreter, and builds what has changed."""
    beside = Path(sys.executable).parent  # where pip installs cmake and ninja, which may not be in PATH
    environment = {**os.environ, "PATH": f"{beside}{os.pathsep}{os.environ.get('PATH', '')}"}
    cmake = shutil.which("cmake", path=environment["PATH"])
    if cmake is None:
        raise EmulationError("--emulate builds with cmake, which is not installed (requirements.txt lists it)")
    interpreter = f"-DPython_EXECUTABLE={sys.executable}"
    cache = folder / "CMakeCache.txt"
    if not cache.is_file():
        mode = "ON" if check else "OFF"
        flags = ["-DCAMP_ENABLE_EMULATION=ON", f"-DOPRT_EMULATION_CHECK={mode}", "-DOPRT_BUILD_TESTS=OFF"]
        print(f"Building the emulation into {folder}, minutes the first time", file=sys.stderr, flush=True)
        run([cmake, "-S", str(root), "-B", str(folder), *flags, interpreter], environment)
    elif not re.search(rf"^Python_EXECUTABLE:\w+={re.escape(sys.executable)}$", cache.read_text(), re.MULTILINE):
        run([cmake, "-S", str(root), "-B", str(folder), interpreter], environment)
    run([cmake, "--build", str(folder), "--target", "_native", "-j", str(len(os.sched_getaffinity(0)))], environment)


def run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        lines = done.stdout.splitlines()
        # A compiler's first error explains those after it; without one, the end of the log does.
        first = next((index for index, line in enumerate(lines) if "error:" in line.lower()), len(lines) - LOG_LINES)
        text = "\n".join(lines[max(first, 0) :][:LOG_LINES])
        raise EmulationError(f"{' '.join(command)} failed:\n{text}")
