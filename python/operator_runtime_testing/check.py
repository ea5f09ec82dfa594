"""Runs a case through the operator's three forms and checks the result and everything that the call must leave alone.

Every case runs at least twice, through the form that writes into `out` and through one of the others, with another poison in
`out` each time; results of the same descriptor must have the same bits. Inputs, gaps between elements and guard bands are
compared after every call.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from operator_runtime_testing.case import Case, Refusal, Tensor, contiguous
from operator_runtime_testing.compare import CaseError, assert_agrees, assert_untouched, expected, same_bits
from operator_runtime_testing.dtypes import DTYPES, Array
from operator_runtime_testing.memory import POISONS, DeviceMemory, Memory

DEVICES = {"cpu": "cpu", "nvidia": "cuda", "metax": "cuda", "tilelang": "cuda"}
MOST_EMULATED = 1 << 20  # elements of a tensor


@dataclass(frozen=True)
class Runtime:
    """The package under test and the backend that is asked for."""

    module: Any
    backend: str
    lanes: int = 0  # of a warp where the backend is emulated, else 0

    @property
    def device(self) -> str:
        return "cpu" if self.lanes else DEVICES[self.backend]

    def take_reports(self) -> list[dict[str, Any]]:
        """What the emulator has reported since the last call."""
        if not self.lanes:
            return []
        reports: list[dict[str, Any]] = importlib.import_module("operator_runtime.backend").emulator_reports()
        return reports

    def skips(self, case: Case) -> str:
        """Why a case cannot be put to this backend at all, or ""."""
        if self.lanes and max(tensor.num_elements for tensor in case.tensors.values()) > MOST_EMULATED:
            return "more than 1 M elements take the emulator too long"
        return "NumPy tensors are on the cpu" if case.needs_numpy and self.device != "cpu" else ""


def forms_of(case: Case) -> list[str]:
    """The forms that a case goes through: out, and by the case's number one of the others, or both."""
    number = case.seed(0)
    if case.allocate is None:
        return ["out", "prepared"]
    if number % 5 == 0:
        return ["out", "prepared", "allocating"]
    return ["out", "prepared" if number % 2 else "allocating"]


def same_bits_forms(case: Case) -> tuple[str, ...]:
    """Forms whose result must have the bits of the out form: those that make the same descriptor, at the same alignment."""
    like_allocated = contiguous(case.output) and case.output.offset == 0 and not case.needs_numpy
    return ("prepared", "allocating") if like_allocated else ("prepared",)


def check_case(case: Case, runtime: Runtime, seed: int = 0) -> None:
    """Raises CaseError; lets NotImplementedError through where the case expects a result, for the caller's refusal list."""
    memory = Memory(case, seed)
    if case.refusal is not None:
        _check_refused(case, case.refusal, memory, runtime)
        return
    want = expected(case, memory.inputs)
    results: dict[str, Array] = {}
    for turn, form in enumerate(forms_of(case)):
        results[form] = _run(case, memory, runtime, form, POISONS[turn % 2])
        assert_agrees(case, memory.inputs, want, results[form], form)
    for form in same_bits_forms(case):
        if form in results and not same_bits(results[form], results["out"]).all():
            raise CaseError(f"{form}: other bits than the out form, on the same inputs")
    if case.seed(0) % 5 == 0:
        _check_supported(case, DeviceMemory(memory, runtime.device), runtime)


def _run(case: Case, memory: Memory, runtime: Runtime, form: str, poison: int) -> Array:
    memory.poison(poison)
    device = DeviceMemory(memory, runtime.device)
    out, inputs = device.arguments["out"], [device.arguments[name] for name in case.inputs]
    attributes = {**case.attributes, "backend": runtime.backend}
    if form == "allocating":
        result = getattr(runtime.module, case.op)(*inputs, **attributes, **(case.allocate or {}))
        stored = _stored_result(result, case.output, inputs[0])
    elif form == "out":
        result = getattr(runtime.module, f"{case.op}_")(out, *inputs, **attributes)
        if result is not out:
            raise CaseError(f"out: {case.op}_ returned {type(result).__name__}, expected the out that it was given")
        stored = device.stored("out")
    else:
        with getattr(runtime.module, f"prepare_{case.op}")(out, *inputs, **attributes) as prepared:
            prepared.run()
        stored = device.stored("out")
    check_untouched(case, memory, device, form)
    return stored


def check_untouched(case: Case, memory: Memory, device: DeviceMemory, form: str) -> None:
    """Raises CaseError where bytes changed that are no element of out."""
    before, after = [], []
    for storage in memory.storages:
        now = device.bytes_after(storage.names[0])
        if "out" in storage.names and form != "refused":
            now = now.copy()
            memory.stored("out", now)[...] = memory.stored("out")
        before.append((", ".join(storage.names), storage.image, storage.start))
        after.append(now)
    assert_untouched(before, after, form)


def _stored_result(result: Any, want: Tensor, like: Any) -> Array:
    """The elements of an allocated result: of the first input's kind, row-major contiguous, of the dtype and shape of out."""
    dtype = DTYPES[want.dtype]
    if type(result) is not type(like):
        raise CaseError(f"allocating: the result is a {type(result).__name__}, the inputs are {type(like).__name__}")
    if tuple(result.shape) != want.shape or str(result.dtype).removeprefix("torch.") != want.dtype:
        raise CaseError(f"allocating: {result.dtype} {tuple(result.shape)}, expected {want.dtype} {want.shape}")
    if isinstance(result, np.ndarray):
        if not result.flags.c_contiguous:
            raise CaseError(f"allocating: strides {result.strides} are not row-major contiguous")
        return result.view(dtype.stored)
    import torch

    if not result.is_contiguous():
        raise CaseError(f"allocating: strides {result.stride()} are not row-major contiguous")
    if result.device != like.device:
        raise CaseError(f"allocating: the result is on {result.device}, the inputs are on {like.device}")
    raw = torch.empty(0, dtype=torch.uint8, device=result.device).set_(result.untyped_storage()).cpu().numpy()
    start = result.storage_offset() * dtype.itemsize
    elements: Array = raw[start : start + want.num_elements * dtype.itemsize].view(dtype.stored).reshape(want.shape)
    return elements


def _calls(case: Case, runtime: Runtime, device: DeviceMemory) -> Iterator[tuple[str, Callable[[], Any]]]:
    out, inputs = device.arguments["out"], [device.arguments[name] for name in case.inputs]
    attributes = {**case.attributes, "backend": runtime.backend}
    yield "out", lambda: getattr(runtime.module, f"{case.op}_")(out, *inputs, **attributes)
    yield "prepared", lambda: getattr(runtime.module, f"prepare_{case.op}")(out, *inputs, **attributes).run()
    if case.allocate is not None:
        extra = case.allocate
        yield "allocating", lambda: getattr(runtime.module, case.op)(*inputs, **attributes, **extra)


def _check_refused(case: Case, refusal: Refusal, memory: Memory, runtime: Runtime) -> None:
    memory.poison(POISONS[0])
    device = DeviceMemory(memory, runtime.device)
    wanted = f"{refusal.exception} with {refusal.text!r}"
    for form, call in _calls(case, runtime, device):
        try:
            call()
        except Exception as error:
            kinds = {kind.__name__ for kind in type(error).__mro__}
            if refusal.exception not in kinds or refusal.text not in str(error):
                raise CaseError(f"{form}: {type(error).__name__}: {error}, expected {wanted}") from error
        else:
            raise CaseError(f"{form}: accepted, expected {wanted}")
        check_untouched(case, memory, device, "refused")
    if refusal.stage == "create":
        supported, reason = _is_supported(case, device, runtime)
        if supported or refusal.text not in reason:
            raise CaseError(f"is_supported: ({supported}, {reason!r}), expected False with {refusal.text!r}")


def _is_supported(case: Case, device: DeviceMemory, runtime: Runtime) -> tuple[bool, str]:
    inputs = [device.arguments[name] for name in case.inputs]
    answer = runtime.module.is_supported(case.op, device.arguments["out"], *inputs, **case.attributes, backend=runtime.backend)
    return bool(answer[0]), str(answer[1])


def _check_supported(case: Case, device: DeviceMemory, runtime: Runtime) -> None:
    supported, reason = _is_supported(case, device, runtime)
    if not supported:
        raise CaseError(f"is_supported: False, {reason!r}, but the case runs")
