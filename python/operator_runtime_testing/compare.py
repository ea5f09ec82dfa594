"""Comparing a result with its reference, and saying where and how it differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from operator_runtime_testing.case import Case
from operator_runtime_testing.dtypes import DTYPES, Array, narrow, widen


class CaseError(AssertionError):
    """A case that an implementation does not pass."""


def same_bits(got: Array, want: Array) -> Array:
    """Elementwise equality of bytes."""
    shape = (*got.shape, got.dtype.itemsize)
    pairs = [np.ascontiguousarray(a).reshape(-1).view(np.uint8).reshape(shape) for a in (got, want)]
    equal: Array = (pairs[0] == pairs[1]).all(axis=-1)
    return equal


def expected(case: Case, inputs: Mapping[str, Array]) -> Array:
    """The wide reference of a case, or the stored one where it compares bits."""
    assert case.reference is not None, f"{case.name} has neither a reference nor a refusal"
    operands = inputs.values() if case.bits else [widen(case.inputs[name].dtype, stored) for name, stored in inputs.items()]
    with np.errstate(all="ignore"):
        return np.asarray(case.reference(*operands, **case.attributes))


def agreement(case: Case, inputs: Mapping[str, Array], want: Array, got: Array) -> tuple[Array, Array | None]:
    """Where `got` (stored) is right, and the absolute error that was allowed (None: bits)."""
    dtype = DTYPES[case.output.dtype]
    if case.bits:
        return same_bits(got, want), None
    rounded = narrow(dtype.name, want)
    right = same_bits(got, rounded)
    if dtype.kind not in ("float", "complex"):
        return right, None
    with np.errstate(all="ignore"):
        if dtype.kind == "complex":
            return right | _same_parts(widen(dtype.name, got), widen(dtype.name, rounded)), None
        values = got.astype(np.longdouble) if dtype.name == "float64" else widen(dtype.name, got)
        right |= np.isnan(values) & np.isnan(want)
        wide = [widen(case.inputs[name].dtype, stored) for name, stored in inputs.items()]
        allowed = case.tolerance.allowed(dtype.name, want, wide, case.attributes)
        if allowed is None:
            return right, None
        near = np.isfinite(values) & np.isfinite(want) & (np.abs(values - want) <= allowed)
        # A zero has the sign of an exact zero; and what is within the error of the largest number may be infinite.
        near &= (want != 0) | (values != 0) | (np.signbit(values) == np.signbit(want))
        overflow = np.isinf(values) & np.isfinite(want) & (np.signbit(values) == np.signbit(want))
        near |= overflow & (np.abs(want) + allowed >= dtype.largest)
        return right | near | (np.isposinf(allowed) & np.isfinite(want)), allowed


def _same_parts(got: Array, want: Array) -> Array:
    parts = [
        (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
        for a, b in ((got.real, want.real), (got.imag, want.imag))
    ]
    return np.asarray(parts[0] & parts[1])


def assert_agrees(case: Case, inputs: Mapping[str, Array], want: Array, got: Array, form: str) -> None:
    """Raises CaseError with the first wrong element, both values, what was allowed, and how many are wrong."""
    if got.shape != want.shape:
        raise CaseError(f"{form}: the result has shape {got.shape}, expected {want.shape}")
    right, allowed = agreement(case, inputs, want, got)
    if right.all():
        return
    wrong = np.argwhere(~right)
    first = tuple(int(i) for i in wrong[0])
    dtype = case.output.dtype
    if case.bits:
        shown, reference = f"bytes {got[first].tobytes().hex()}", want[first].tobytes().hex()
    else:
        shown, reference = str(widen(dtype, got[first])), str(want[first])
    limit = f" within {allowed[first]:.3g}" if allowed is not None and np.isfinite(want[first]) else ""
    share = f"{len(wrong)} of {got.size} wrong{_pattern(wrong, got)}"
    raise CaseError(f"{form}: {list(first)} is {shown}, expected {reference}{limit}; {share}")


def _pattern(wrong: Array, got: Array) -> str:
    """A guess at what the wrong elements have in common."""
    if got.ndim == 0 or len(wrong) == got.size:
        return ", all of them" if got.size > 1 else ""
    first = int(wrong[:, -1].min())
    last_dim = got.shape[-1]
    rows = len(np.unique(wrong[:, :-1], axis=0))
    if first > 0 and rows * (last_dim - first) == len(wrong):
        return f", all from column {first} of {last_dim} on: a tail"
    if got.ndim > 1 and len(np.unique(wrong[:, 0])) * int(np.prod(got.shape[1:])) == len(wrong):
        return f", whole rows from {int(wrong[:, 0].min())} to {int(wrong[:, 0].max())}"
    return ""


def assert_untouched(before: Sequence[tuple[str, Array, int]], after: Sequence[Array], form: str) -> None:
    """`before` holds (names, bytes, start of element 0) per storage; out's own elements are already equal in both."""
    for (names, image, start), now in zip(before, after, strict=True):
        if np.array_equal(image, now):
            continue
        changed = np.flatnonzero(image != now)
        where = "was modified" if "out" not in names else "has bytes changed that are not elements of out"
        raise CaseError(
            f"{form}: the memory of {names} {where}: {changed.size} bytes, the first at {int(changed[0]) - start:+d} from element 0"
        )
