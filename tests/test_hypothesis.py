"""Shapes, strides, offsets and dtypes that nobody thought of, for each operator, against the NumPy reference of its cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from operator_runtime_testing.case import Case, Tensor, load_cases
from operator_runtime_testing.check import Runtime, check_case
from operator_runtime_testing.dtypes import ALL, DTYPES, FLOATS
from operator_runtime_testing.values import bits, normal

CASES = load_cases(Path(__file__).resolve().parent / "cases")
NO_BOOL = tuple(dtype for dtype in ALL if dtype != "bool")
NO_COMPLEX = tuple(name for name, dtype in DTYPES.items() if dtype.kind != "complex")
Draw = Callable[[st.SearchStrategy[Any]], Any]
# The same examples every time, in bounded time: CI must not fail by luck, and must be worth waiting for.
bounded = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=300,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def shapes() -> st.SearchStrategy[tuple[int, ...]]:
    small = st.lists(st.integers(0, 5), max_size=8).filter(lambda sizes: int(np.prod(sizes, dtype=np.int64)) <= 4000)
    long = st.tuples(st.integers(1, 3), st.integers(30, 300))
    return st.one_of(small.map(tuple), long, long.map(lambda shape: shape[::-1]), st.tuples(st.integers(0, 2100)))


@st.composite
def tensors(draw: Draw, dtype: str, shape: tuple[int, ...], writable: bool, numpy: bool) -> Tensor:
    """A layout of `shape`: dimensions in any memory order with gaps, backwards for NumPy, repeated where it is an input."""
    order = draw(st.permutations(range(len(shape))))
    strides = [0] * len(shape)
    step = draw(st.sampled_from([1, 1, 1, 2, 3]))
    for dim in reversed(order):
        strides[dim] = step
        step = step * max(shape[dim], 1) + draw(st.sampled_from([0, 0, 0, 1, 5]))
    for dim in range(len(shape)):
        if numpy and draw(st.booleans()):
            strides[dim] = -strides[dim]
        elif not writable and draw(st.integers(0, 9)) == 0:
            strides[dim] = 0
    fill = draw(st.sampled_from([normal, bits]))
    return Tensor(
        dtype, shape, fill=fill, strides=tuple(strides), offset=draw(st.integers(0, 9)), kind="numpy" if numpy else "torch"
    )


def drawn(draw: Draw, op: str, dtype: str, **fields: Any) -> Case:
    """A case of `op` like the listed ones for `dtype`, with its reference and tolerance, and other tensors."""
    like = next(case for case in CASES[op] if case.refusal is None and next(iter(case.inputs.values())).dtype == dtype)
    return replace(like, name=f"drawn/{draw(st.integers(0, 999999))}", **fields)


def draw_dtype(draw: Draw, dtypes: tuple[str, ...], runtime: Runtime) -> tuple[str, bool]:
    """A dtype, and whether NumPy holds it: where it can, and where the backend computes."""
    dtype = draw(st.sampled_from(dtypes))
    return dtype, DTYPES[dtype].numpy is not None and runtime.device == "cpu" and draw(st.booleans())


@bounded
@given(st.data())
def test_copy_is_right_for_drawn_layouts(runtime: Runtime, data: st.DataObject) -> None:
    dtype, numpy = draw_dtype(data.draw, ALL, runtime)
    shape = data.draw(shapes())
    x, out = (data.draw(tensors(dtype, shape, writable, numpy)) for writable in (False, True))
    check_case(drawn(data.draw, "copy", dtype, inputs={"x": x}, out=out), runtime)


@bounded
@given(st.data())
def test_vector_add_is_right_for_drawn_layouts(runtime: Runtime, data: st.DataObject) -> None:
    dtype, numpy = draw_dtype(data.draw, NO_BOOL, runtime)
    shape = data.draw(shapes())
    inputs = {}
    for name in ("a", "b"):
        kept = data.draw(st.integers(0, len(shape))) if name == "b" else len(shape)
        sizes = tuple(size if data.draw(st.integers(0, 3)) else 1 for size in shape[len(shape) - kept :])
        inputs[name] = data.draw(tensors(dtype, sizes, False, numpy))
    out = data.draw(tensors(dtype, np.broadcast_shapes(*(t.shape for t in inputs.values())), True, numpy))
    check_case(drawn(data.draw, "vector_add", dtype, inputs=inputs, out=out), runtime)


@bounded
@given(st.data())
def test_reduce_sum_is_right_for_drawn_layouts(runtime: Runtime, data: st.DataObject) -> None:
    dtype, numpy = draw_dtype(data.draw, NO_COMPLEX, runtime)
    shape = data.draw(shapes())
    ndim = len(shape)
    dims = data.draw(st.lists(st.integers(0, ndim - 1), unique=True)) if ndim else []
    dim = None if not dims and data.draw(st.booleans()) else tuple(d - ndim if data.draw(st.booleans()) else d for d in dims)
    keepdim = data.draw(st.booleans())
    reduced = set(dims or range(ndim))
    kept = tuple(1 if d in reduced else size for d, size in enumerate(shape) if keepdim or d not in reduced)
    x = data.draw(tensors(dtype, shape, False, numpy))
    out = data.draw(tensors(dtype if dtype in FLOATS else "int64", kept, True, numpy))
    check_case(
        drawn(data.draw, "reduce_sum", dtype, inputs={"x": x}, out=out, attributes={"dim": dim, "keepdim": keepdim}), runtime
    )


@bounded
@given(st.data())
def test_softmax_is_right_for_drawn_layouts(runtime: Runtime, data: st.DataObject) -> None:
    dtype, numpy = draw_dtype(data.draw, FLOATS, runtime)
    shape = data.draw(shapes())
    dim = data.draw(st.integers(-max(len(shape), 1), max(len(shape) - 1, 0)))
    x, out = (data.draw(tensors(dtype, shape, writable, numpy)) for writable in (False, True))
    check_case(drawn(data.draw, "softmax", dtype, inputs={"x": x}, out=out, attributes={"dim": dim}), runtime)
