"""Backends: who computes."""

from __future__ import annotations

import enum

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
