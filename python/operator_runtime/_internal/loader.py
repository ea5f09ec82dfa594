"""Finds and loads the native module of the build that CAMP_BUILD_DIR names, by default build/ in the source tree."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType
from typing import Any

from operator_runtime._internal.stamp import compute_stamp

ROOT = Path(__file__).resolve().parents[3]
MODULE = "operator_runtime._internal._native"


def has_sources(root: Path) -> bool:
    return (root / "include" / "operator_runtime").is_dir() and (root / "python" / "native").is_dir()


def build_folder(root: Path) -> Path:
    """$CAMP_BUILD_DIR, relative to the current folder or else to the source tree; without it <root>/build."""
    named = os.environ.get("CAMP_BUILD_DIR")
    if not named:
        return root / "build"
    here = Path(named).absolute()
    return here if here.is_dir() or Path(named).is_absolute() else root / named


def how_to_build(root: Path, folder: Path) -> str:
    """Two ways to make the module: the script, which has an interpreter of its own, and the lines for this one."""
    variable = "" if folder == root / "build" else f"CAMP_BUILD_DIR={folder} "
    cmake = f"cmake -S {root} -B {folder} -DPython_EXECUTABLE={sys.executable} && cmake --build {folder}"
    return f"{variable}{root}/scripts/run.sh (for {root}/.venv/bin/python), or for this interpreter: {cmake}"


def find_module(root: Path, folder: Path) -> Path:
    """The native module for this interpreter. Raises ImportError that says how to build it."""
    for suffix in EXTENSION_SUFFIXES:
        path = folder / "python" / f"_native{suffix}"
        if path.is_file():
            return path
    others = sorted(path.name for path in folder.glob("python/_native*.so"))
    if others:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        missing = f"{folder} was built for another Python ({', '.join(others)}), not for {version} ({EXTENSION_SUFFIXES[0]})"
    else:
        missing = f"{folder} holds no native module (python/_native{EXTENSION_SUFFIXES[0]})"
    raise ImportError(f"operator_runtime: {missing}. Build it: {how_to_build(root, folder)}")


def check_stamp(root: Path, folder: Path) -> None:
    """Raises ImportError where the module was built from other headers or bindings than the source tree holds now."""
    if not has_sources(root):
        return
    stamp = folder / "python" / "_native.stamp"
    if not stamp.is_file() or stamp.read_text().strip() != compute_stamp(root):
        raise ImportError(
            f"operator_runtime: the native module in {folder} was built from other sources than those in {root}. "
            f"Rebuild with {how_to_build(root, folder)}"
        )


def load(root: Path = ROOT) -> ModuleType:
    """Loads the native module. Raises ImportError that says what to do."""
    folder = build_folder(root)
    path = find_module(root, folder)
    check_stamp(root, folder)
    spec = importlib.util.spec_from_file_location(MODULE, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"operator_runtime: {path} is no extension module")
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except ImportError as error:
        raise ImportError(
            f"operator_runtime: {path} cannot be loaded: {error}. Rebuild with {how_to_build(root, folder)}"
        ) from error
    sys.modules[MODULE] = module
    return module


native: Any = load()
