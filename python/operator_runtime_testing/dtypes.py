"""The dtypes of the runtime on the host: how they are stored, widened for a reference, and rounded back.

A *stored* array holds an element's bytes in a NumPy dtype of the same size: bool as uint8, bfloat16 as uint16, complex32 as uint32,
everything else as itself. A *wide* array holds values for a reference to compute with: float64 or longdouble, complex128, integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Kind = Literal["bool", "integer", "float", "complex"]


@dataclass(frozen=True)
class DType:
    name: str
    kind: Kind
    stored: np.dtype[Any]
    numpy: np.dtype[Any] | None  # None where NumPy lacks it
    precision: int = 0  # bits of the significand, the hidden one included (of a component, for complex)
    min_exponent: int = 0  # of the smallest normal number
    max_exponent: int = 0  # of the largest finite number

    @property
    def itemsize(self) -> int:
        return self.stored.itemsize

    @property
    def alignment(self) -> int:
        return min(self.itemsize, 8)

    @property
    def largest(self) -> float:
        return float(np.ldexp(2.0 - 2.0 ** (1 - self.precision), self.max_exponent))

    @property
    def smallest_subnormal(self) -> float:
        return float(np.ldexp(1.0, self.min_exponent - self.precision + 1))


def _dtype(name: str, kind: Kind, stored: str, numpy: str | None, *float_format: int) -> DType:
    return DType(name, kind, np.dtype(stored), None if numpy is None else np.dtype(numpy), *float_format)


_HALF, _BFLOAT, _SINGLE, _DOUBLE = (11, -14, 15), (8, -126, 127), (24, -126, 127), (53, -1022, 1023)
DTYPES: dict[str, DType] = {
    dtype.name: dtype
    for dtype in (
        _dtype("bool", "bool", "uint8", "bool"),
        *(_dtype(name, "integer", name, name) for name in ("int8", "int16", "int32", "int64")),
        *(_dtype(name, "integer", name, name) for name in ("uint8", "uint16", "uint32", "uint64")),
        _dtype("float16", "float", "float16", "float16", *_HALF),
        _dtype("bfloat16", "float", "uint16", None, *_BFLOAT),
        _dtype("float32", "float", "float32", "float32", *_SINGLE),
        _dtype("float64", "float", "float64", "float64", *_DOUBLE),
        _dtype("complex32", "complex", "uint32", None, *_HALF),
        _dtype("complex64", "complex", "complex64", "complex64", *_SINGLE),
        _dtype("complex128", "complex", "complex128", "complex128", *_DOUBLE),
    )
}
ALL = tuple(DTYPES)
FLOATS = tuple(name for name, dtype in DTYPES.items() if dtype.kind == "float")
INTEGERS = tuple(name for name, dtype in DTYPES.items() if dtype.kind == "integer")
COMPLEX = tuple(name for name, dtype in DTYPES.items() if dtype.kind == "complex")


def widen(name: str, stored: Array) -> Array:
    """Values of a stored array: float64, complex128, bool, or the integers themselves. Exact."""
    with np.errstate(invalid="ignore"):  # a signalling NaN is a NaN
        if name == "bool":
            return np.asarray(stored != 0)
        if name == "bfloat16":
            return (stored.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
        if name == "complex32":
            parts = np.asarray(stored)[..., None].view(np.float16).astype(np.float64)
            return np.asarray(parts.view(np.complex128)[..., 0])
        kind = DTYPES[name].kind
        if kind == "float":
            return stored.astype(np.float64)
        return stored.astype(np.complex128) if kind == "complex" else stored


def _round_to_bfloat16(wide: Array) -> Array:
    # To float32 towards zero with a sticky last bit, so that the second rounding sees what the first one dropped.
    exact = wide.astype(np.float64)
    single = exact.astype(np.float32)
    single = np.where(np.abs(single.astype(np.float64)) > np.abs(exact), np.nextafter(single, np.float32(0)), single)
    bits = single.view(np.uint32) | (single.astype(np.float64) != exact).astype(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(exact), np.uint32(0x7FC0), rounded).astype(np.uint16)


def narrow(name: str, wide: Array) -> Array:
    """The stored array nearest to `wide`: floats round to nearest even, integers wrap."""
    wide = np.asarray(wide)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if name == "bool":
            return np.asarray(wide != 0).astype(np.uint8)
        if name == "bfloat16":
            return _round_to_bfloat16(wide)
        if name == "complex32":
            parts = np.stack([wide.real, wide.imag], axis=-1).astype(np.float16)
            return np.asarray(parts).view(np.uint32)[..., 0]
        return np.asarray(wide.astype(DTYPES[name].stored))


def ulp(name: str, value: Array) -> Array:
    """Distance between neighbours of the dtype at |value|, as float64; the smallest subnormal at 0 and below the normal range."""
    dtype = DTYPES[name]
    magnitude = np.minimum(np.abs(np.asarray(value, dtype=np.float64)), dtype.largest)
    exponent = np.frexp(np.nan_to_num(magnitude))[1] - 1
    exponent = np.where(magnitude == 0, dtype.min_exponent, np.maximum(exponent, dtype.min_exponent))
    return np.asarray(np.ldexp(1.0, exponent - (dtype.precision - 1)))
