"""Tensors of other libraries, as DLPack's standard allows them: every version, flag and odd layout, made by hand."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

CPU, CUDA, CUDA_HOST = 1, 2, 3
READ_ONLY, IS_COPIED = 1, 2
CODES = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", _DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Producer:
    """A tensor over `array`'s memory. `calls` are the keywords that each __dlpack__ got, `deleted` counts what was given back."""

    def __init__(self, array: Array, *, version: tuple[int, int] | None = (1, 0), flags: int = 0, **fields: int) -> None:
        self.array = array
        self.version = version  # None: a producer of DLPack 0.x
        self.flags = flags
        self.fields = fields  # of the tensor, in place of what describes the array
        self.calls: list[dict[str, Any]] = []
        self.deleted = 0
        self._alive: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.fields.get("device_type", CPU), self.fields.get("device_id", 0)

    def __dlpack__(self, **keywords: Any) -> Any:
        self.calls.append(keywords)
        if self.version is None and "max_version" in keywords:
            raise TypeError("__dlpack__() got an unexpected keyword argument 'max_version'")
        return self.export()

    def export(self) -> Any:
        array, ndim = self.array, self.array.ndim
        offset = self.fields.get("byte_offset", 0)
        described = _Tensor(
            data=array.ctypes.data - offset,
            device_type=CPU,
            ndim=ndim,
            code=CODES[array.dtype.kind],
            bits=array.itemsize * 8,
            lanes=1,
        )
        described.shape = (ctypes.c_int64 * ndim)(*array.shape)
        described.strides = (ctypes.c_int64 * ndim)(*(stride // array.itemsize for stride in array.strides))
        for name, value in self.fields.items():
            setattr(described, name, value)
        deleter = _DELETER(self._delete)
        if self.version is None:
            managed: Any = _Managed(described, None, deleter)
        else:
            managed = _Versioned(*self.version, None, deleter, self.flags, described)
        self._alive += [managed, deleter, described]
        return _new_capsule(ctypes.addressof(managed), b"dltensor" if self.version is None else b"dltensor_versioned", None)

    def _delete(self, _: int) -> None:
        self.deleted += 1


class WithoutKeywords(Producer):
    """As __dlpack__ was in the beginning: on the cpu it takes nothing."""

    def __dlpack__(self) -> Any:  # type: ignore[override]
        self.calls.append({})
        return self.export()


class _Backed:
    """A tensor of a library with an array-API namespace, whose memory is a NumPy array."""

    device = "cpu"

    def __init__(self, array: Array) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU, 0

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return Namespace(type(self))


class NumpyBacked(_Backed):
    """One that can be written."""

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)


class Immutable(_Backed):
    """As JAX's arrays: never written, made from others' memory."""

    __module__ = "jaxlib.arrays"

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)


class Namespace:
    """The part of an array-API namespace that allocates."""

    float32, float64, int64 = np.dtype("float32"), np.dtype("float64"), np.dtype("int64")

    def __init__(self, kind: Callable[[Array], Any]) -> None:
        self.kind = kind

    def empty(self, shape: tuple[int, ...], *, dtype: Any, device: str) -> Any:
        assert device == "cpu"
        return self.kind(np.full(shape, 77, dtype=dtype))

    def from_dlpack(self, tensor: Any) -> Any:
        array = np.from_dlpack(tensor)
        array.flags.writeable = False
        return self.kind(array)
