"""Backends: who computes."""

from __future__ import annotations

import enum
import json
from typing import Any

from operator_runtime._internal.loader import native


class Backend(str, enum.Enum):
    """Who computes. A Backend equals its name: Backend.CPU == "cpu"."""

    AUTO = "auto"  # follows the tensors' device
    CPU = "cpu"
    NVIDIA = "nvidia"
    METAX = "metax"
    TILELANG = "tilelang"

    def __str__(self) -> str:
        return str(self.value)


def normalize_backend(backend: Backend | str | None) -> Backend:
    """The Backend that a name (in any case), a Backend or None (AUTO) means.

    Raises ValueError that lists the names for another name, TypeError for another type.

    >>> from operator_runtime.backend import normalize_backend
    >>> normalize_backend("NVIDIA")
    <Backend.NVIDIA: 'nvidia'>
    """
    if backend is None:
        return Backend.AUTO
    if not isinstance(backend, str):
        raise TypeError(f"backend is a {type(backend).__name__}, expected a name, a Backend or None")
    try:
        return Backend(backend.lower())
    except ValueError:
        raise ValueError(f"backend is {str(backend)!r}, expected one of {', '.join(b.value for b in Backend)}") from None


def available_backends() -> dict[str, str]:
    """Every backend by name, with "" where it can run here, else the reason why it cannot.

    May load a GPU's driver.
    """
    reasons = {backend.value: str(native.check_backend(backend.value)) for backend in (Backend.CPU, Backend.NVIDIA, Backend.METAX)}
    return {**reasons, Backend.TILELANG.value: "no TileLang operators in this build"}


def emulated_backends() -> dict[str, int]:
    """The lanes of a warp of every backend that this build emulates: its kernels run on the CPU, on CPU tensors. Else empty."""
    lanes: dict[str, int] = getattr(native, "emulated_lanes", {})
    return dict(lanes)


if hasattr(native, "take_emulator_reports"):

    def emulator_reports() -> list[dict[str, Any]]:
        """What the emulator has reported since the last call, oldest first; only in an emulation build.

        A launch with a fault raises RuntimeError with the text of its first report.
        """
        reports: list[dict[str, Any]] = json.loads(native.take_emulator_reports())
        return reports
