"""The memory of one call: guard bands, poison, padding that shows when it is read, and views checked against their storage."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from operator_runtime_testing.case import Case, Tensor
from operator_runtime_testing.dtypes import DTYPES, Array

GUARD_BYTES = 256
BASE_ALIGNMENT = 64
INPUT_PADDING = 0xFF  # NaN as any float, true as a bool, and no small integer
POISONS = (0xA5, 0x5A)  # what an output holds before the call; two, so that no result can equal both


def byte_range(tensor: Tensor) -> tuple[int, int]:
    """[low, high) of the bytes that a tensor touches, from its element 0."""
    itemsize = DTYPES[tensor.dtype].itemsize
    if tensor.num_elements == 0:
        return 0, 0
    reach = [(size - 1) * stride for size, stride in zip(tensor.shape, tensor.element_strides, strict=True)]
    return itemsize * sum(min(r, 0) for r in reach), itemsize * (sum(max(r, 0) for r in reach) + 1)


def element_zero(tensor: Tensor) -> int:
    return tensor.offset * DTYPES[tensor.dtype].itemsize + tensor.offset_bytes


def _aligned_bytes(count: int) -> Array:
    raw = np.empty(count + BASE_ALIGNMENT, dtype=np.uint8)
    start = -raw.ctypes.data % BASE_ALIGNMENT
    return raw[start : start + count]


class Storage:
    """One allocation, and the tensors in it: a host image with its guards, from which device memory is filled."""

    def __init__(self, tensors: Mapping[str, Tensor], root: str) -> None:
        self.names = [name for name, tensor in tensors.items() if root in (name, tensor.memory_of)]
        base = element_zero(tensors[root])
        zeros = {name: element_zero(tensors[name]) + (base if name != root else 0) for name in self.names}
        ranges = {}
        for name in self.names:
            low, high = byte_range(tensors[name])
            ranges[name] = (zeros[name] + low, zeros[name] + high)
        self.low = min(low for low, _ in ranges.values()) // BASE_ALIGNMENT * BASE_ALIGNMENT
        high = max(high for _, high in ranges.values())
        self.start = GUARD_BYTES - self.low  # of the root's alignment boundary
        self.image = _aligned_bytes(GUARD_BYTES + (high - self.low) + GUARD_BYTES)
        self.zero = {name: self.start + zeros[name] for name in self.names}
        for name, (low, high) in ranges.items():
            inside = GUARD_BYTES <= self.start + low <= self.start + high <= self.image.nbytes - GUARD_BYTES
            assert inside, f"{name} leaves its storage"

    def view(self, image: Array, name: str, tensor: Tensor) -> Array:
        """`tensor` as a stored array in a host image; NumPy checks it against the image's size."""
        dtype = DTYPES[tensor.dtype]
        strides = tuple(
            stride * dtype.itemsize if size > 1 else dtype.itemsize
            for size, stride in zip(tensor.shape, tensor.element_strides, strict=True)
        )
        return np.ndarray(tensor.shape, dtype.stored, buffer=image, offset=self.zero[name], strides=strides)


class Memory:
    """The storages of a case, filled. `tensors` and `before` are what the operator gets and what the bytes were."""

    def __init__(self, case: Case, seed: int) -> None:
        self.case = case
        self.tensors = case.tensors
        roots = [name for name, tensor in self.tensors.items() if not tensor.memory_of]
        self.storages = [Storage(self.tensors, root) for root in roots]
        self.storage_of = {name: storage for storage in self.storages for name in storage.names}
        generator = np.random.default_rng(case.seed(seed))
        for storage in self.storages:
            storage.image.fill(INPUT_PADDING)
        for name, tensor in case.inputs.items():
            view = self.stored(name)
            if tensor.num_elements:
                view[...] = tensor.fill(generator, tensor.dtype, tensor.shape)
        # Read back: where several indices share an address, the last value written is the one that the operator sees.
        self.inputs = {name: np.array(self.stored(name), order="C") for name in case.inputs}

    def stored(self, name: str, image: Array | None = None) -> Array:
        storage = self.storage_of[name]
        return storage.view(storage.image if image is None else image, name, self.tensors[name])

    def poison(self, pattern: int) -> None:
        """Fills out, and the gaps and guards around it, with `pattern`; bytes that an input shares keep the input."""
        out = self.storage_of["out"]
        if out.names == ["out"]:
            out.image.fill(pattern)
            return
        shared = self.case.inputs
        view = self.stored("out")
        view[...] = np.frombuffer(bytes([pattern]) * view.dtype.itemsize, dtype=view.dtype)[0]
        for name in out.names:
            if name in shared:
                self.stored(name)[...] = self.inputs[name]


class DeviceMemory:
    """A copy of a Memory that an operator may write, on the backend's device."""

    def __init__(self, memory: Memory, device: str) -> None:
        self.memory = memory
        self.device = device
        self.images: list[Array] = []
        self.on_device: list[Any] = []
        for storage in memory.storages:
            image = _aligned_bytes(storage.image.nbytes)
            image[...] = storage.image
            self.images.append(image)
            if device != "cpu":
                import torch

                self.on_device.append(torch.from_numpy(image).to(device))
        self.arguments = {name: self._argument(name) for name in memory.tensors}

    def _argument(self, name: str) -> Any:
        tensor = self.memory.tensors[name]
        made = self._numpy(name, tensor) if tensor.is_numpy else self._torch(name, tensor)
        return tensor.wrap(made) if tensor.wrap is not None else made

    def _numpy(self, name: str, tensor: Tensor) -> Array:
        dtype = DTYPES[tensor.dtype]
        assert dtype.numpy is not None, f"NumPy has no {tensor.dtype}"
        assert self.device == "cpu", f"NumPy is not on {self.device}"
        storage = self.memory.storage_of[name]
        image = self.images[self.memory.storages.index(storage)]
        strides = tuple(stride * dtype.itemsize for stride in tensor.element_strides)
        array: Array = np.ndarray(tensor.shape, dtype.numpy, buffer=image, offset=storage.zero[name], strides=strides)
        array.flags.writeable = not tensor.readonly
        return array

    def _torch(self, name: str, tensor: Tensor) -> Any:
        import torch

        dtype = DTYPES[tensor.dtype]
        storage = self.memory.storage_of[name]
        index = self.memory.storages.index(storage)
        raw = torch.from_numpy(self.images[index]) if self.device == "cpu" else self.on_device[index]
        zero, remainder = divmod(storage.zero[name], dtype.itemsize)
        assert remainder == 0, f"no torch tensor of {tensor.dtype} at byte {storage.zero[name]}"
        with warnings.catch_warnings():
            if tensor.dtype == "complex32":  # torch says that it computes little with it; it stores it well
                warnings.simplefilter("ignore")
            made = torch.empty(0, dtype=getattr(torch, tensor.dtype), device=self.device)
        return made.set_(raw.untyped_storage(), zero, tensor.shape, tensor.element_strides)

    def bytes_after(self, name: str) -> Array:
        index = self.memory.storages.index(self.memory.storage_of[name])
        if self.device == "cpu":
            return self.images[index]
        after: Array = self.on_device[index].cpu().numpy()
        return after

    def stored(self, name: str) -> Array:
        """What a tensor holds now, as a stored array."""
        return np.array(self.memory.stored(name, self.bytes_after(name)), order="C")
