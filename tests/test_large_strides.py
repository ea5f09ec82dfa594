"""Strides beyond 2^31 elements on tensors of a few: an index or a stride in 32 bits reads elsewhere.

The kind of intel/intel-xpu-backend-for-triton #7334. Memory is reserved, not used: only the pages of the elements are touched.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from operator_runtime_testing.check import Runtime

MAP_NORESERVE = 0x4000
ROW = 2**31 + 8  # elements between the two rows
COLUMNS = 8


@pytest.fixture
def sparse(runtime: Runtime) -> Callable[[str], Any]:
    """Makes (2, 8) arrays whose rows lie 2^31 + 8 elements apart."""
    if runtime.device != "cpu":
        pytest.skip("backend: reserves host memory")

    def make(dtype: str) -> Any:
        itemsize = np.dtype(dtype).itemsize
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_NORESERVE
        memory = mmap.mmap(-1, (ROW + COLUMNS) * itemsize, flags=flags)
        array: Any = np.ndarray((2, COLUMNS), dtype, buffer=memory, strides=(ROW * itemsize, itemsize))
        array[...] = np.arange(16).reshape(2, 8) - 4
        return array

    return make


@pytest.mark.parametrize("dtype", ["int8", "float16", "float64"])
def test_copy_reads_and_writes_rows_2_31_elements_apart(sparse: Callable[[str], Any], runtime: Runtime, dtype: str) -> None:
    x, out = sparse(dtype), sparse(dtype)
    np.testing.assert_array_equal(runtime.module.copy(x), x)
    out[...] = 0
    runtime.module.copy_(out, np.ascontiguousarray(x))
    np.testing.assert_array_equal(out, x)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_vector_add_takes_rows_2_31_elements_apart(sparse: Callable[[str], Any], runtime: Runtime, dtype: str) -> None:
    x, out = sparse(dtype), sparse(dtype)
    runtime.module.vector_add_(out, x, x[:1])
    np.testing.assert_array_equal(out, x + x[:1])


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_reduce_sum_takes_rows_2_31_elements_apart(sparse: Callable[[str], Any], runtime: Runtime, dtype: str) -> None:
    x = sparse(dtype)
    for dim in (0, 1, None):
        np.testing.assert_array_equal(runtime.module.reduce_sum(x, dim), x.astype(np.int64).sum(axis=dim))


def test_softmax_takes_rows_2_31_elements_apart(sparse: Callable[[str], Any], runtime: Runtime) -> None:
    x, out = sparse("float32"), sparse("float32")
    for dim in (0, 1):
        runtime.module.softmax_(out, x, dim)
        dense = np.ascontiguousarray(x)
        np.testing.assert_array_equal(out, runtime.module.softmax(dense, dim))
        np.testing.assert_allclose(out.sum(axis=dim), 1.0, rtol=1e-6)


@pytest.mark.parametrize("n", [2**31 - 1, 2**31, 2**31 + 1])
def test_a_sum_counts_past_2_31_elements(runtime: Runtime, n: int) -> None:
    """One byte, repeated by a stride of 0. The kind of NVIDIA/cub #592."""
    if runtime.device != "cpu":
        pytest.skip("backend: on a GPU tests/cuda/stress.cc does it with real memory")
    assert int(runtime.module.reduce_sum(np.broadcast_to(np.int8(1), (n,)))) == n


@pytest.mark.parametrize("missing", [0, 1, 62, 63, 64])
def test_a_sum_of_nearly_2_63_elements_has_room_for_every_part(runtime: Runtime, missing: int) -> None:
    if runtime.device != "cpu":
        pytest.skip("backend: one byte of host memory, repeated")
    x = np.lib.stride_tricks.as_strided(np.ones(1, np.int8), (2**63 - 1 - missing,), (0,))
    with runtime.module.prepare_reduce_sum(np.empty((), np.int64), x, backend=runtime.backend) as prepared:
        assert 64 * 8 <= prepared.workspace.nbytes <= 64 * 8 + 256  # aligned by hand
