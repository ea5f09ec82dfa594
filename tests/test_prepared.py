"""Prepared: checked once, run many times, keeps what it needs alive."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import operator_runtime as rt
from python_process import assert_runs

BOTH_KINDS = pytest.mark.parametrize("np_like", [torch, np], ids=["torch", "numpy"])


def reducing(rows: int = 1, cols: int = 1 << 22) -> tuple[Any, Any]:
    """Few long rows: the sum that needs a workspace."""
    return torch.empty(rows), torch.ones(rows, cols)


def aligned_bytes(count: int, offset: int = 0) -> Any:
    raw = torch.empty(count + 512, dtype=torch.uint8)
    start = -raw.data_ptr() % 256 + offset
    return raw[start : start + count]


@BOTH_KINDS
def test_it_computes_what_its_tensors_hold_when_it_runs(np_like: Any) -> None:
    x, out = np_like.zeros(3), np_like.ones(3)
    with rt.prepare_copy(out, x) as prepared:
        x[...] = 5
        assert prepared.run() is None
        assert out.tolist() == [5, 5, 5]
        x[...] = 6
        prepared.run()
    assert out.tolist() == [6, 6, 6]


@BOTH_KINDS
def test_it_keeps_its_tensors_alive(np_like: Any) -> None:
    out, x = np_like.zeros(1000), np_like.ones(1000)
    gone = weakref.ref(x)
    prepared = rt.prepare_vector_add(out, x, x)
    del x
    gc.collect()
    assert gone() is not None
    prepared.run()
    assert out.tolist() == [2] * 1000
    prepared.destroy()
    assert gone() is None


class Attributed(np.ndarray[Any, Any]):
    prepared: Any


@pytest.mark.parametrize("make", [lambda: torch.zeros(3), lambda: np.zeros(3).view(Attributed)], ids=["torch", "numpy"])
def test_a_cycle_through_it_is_collected(make: Any) -> None:
    tensor = make()
    tensor.prepared = rt.prepare_copy(tensor, tensor)
    gone = weakref.ref(tensor)
    del tensor
    gc.collect()
    assert gone() is None


def test_it_does_not_run_after_destroy() -> None:
    out = torch.zeros(3)
    prepared = rt.prepare_copy(out, torch.ones(3))
    prepared.destroy()
    prepared.destroy()
    for call in (prepared.run, lambda: prepared.run_inputs(out, out)):
        with pytest.raises(RuntimeError, match=r"copy: run(_inputs)?\(\) after destroy\(\)"):
            call()
    assert repr(prepared) == "<Prepared copy, destroyed>"
    assert not out.any()


def test_leaving_the_with_block_destroys_it() -> None:
    with pytest.raises(KeyError), rt.prepare_copy(torch.zeros(3), torch.ones(3)) as prepared:
        raise KeyError
    with pytest.raises(RuntimeError, match="after destroy"):
        prepared.run()


def test_it_names_backend_and_implementation() -> None:
    from operator_runtime.backend import Backend

    prepared = rt.prepare_copy(torch.zeros(3), torch.ones(3))
    assert isinstance(prepared, rt.Prepared)
    assert prepared.backend == Backend.CPU
    assert prepared.implementation
    assert repr(prepared) == f"<Prepared copy on cpu, {prepared.implementation}>"


@BOTH_KINDS
def test_run_inputs_computes_on_other_tensors_of_the_description(np_like: Any) -> None:
    first = [np_like.ones((2, 3)) for _ in range(3)]
    prepared = rt.prepare_vector_add(*first)
    out, a, b = np_like.zeros((2, 3)), np_like.ones((2, 3)) * 2, np_like.ones((2, 3)) * 3
    prepared.run_inputs(out, a, b)
    assert out.tolist() == [[5, 5, 5]] * 2
    assert first[0].tolist() == [[1, 1, 1]] * 2


@pytest.mark.parametrize(
    ("out", "x", "text"),
    [
        (torch.zeros(2, 3), torch.ones(2, 3, dtype=torch.float64), "x is float64, expected float32 as prepared"),
        (torch.zeros(2, 3), torch.ones(3, 2), r"x has shape \(3, 2\), expected \(2, 3\) as prepared"),
        (torch.zeros(6), torch.ones(2, 3), r"out has shape \(6,\), expected \(2, 3\) as prepared"),
        (torch.zeros(2, 3), torch.ones(3, 2).T, r"x has strides \(1, 2\), expected \(3, 1\) as prepared"),
        (torch.zeros(3, 2).T, torch.ones(2, 3), r"out has strides \(1, 2\), expected \(3, 1\) as prepared"),
    ],
)
def test_run_inputs_refuses_another_description(out: Any, x: Any, text: str) -> None:
    prepared = rt.prepare_copy(torch.zeros(2, 3), torch.ones(2, 3))
    with pytest.raises(ValueError, match=f"copy: {text}"):
        prepared.run_inputs(out, x)
    assert not out.any()


def test_run_inputs_counts_its_tensors() -> None:
    prepared = rt.prepare_copy(torch.zeros(3), torch.ones(3))
    with pytest.raises(TypeError, match="copy: run_inputs takes 2 tensors, out first, and got 1"):
        prepared.run_inputs(torch.zeros(3))


def test_strides_of_single_elements_do_not_matter_to_run_inputs() -> None:
    prepared = rt.prepare_copy(torch.zeros(1, 3), torch.ones(1, 3))
    out = torch.zeros(4, 3)[:1]
    prepared.run_inputs(out, torch.ones(3, 1).T)
    assert out.tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("other", [torch.full((3,), 2.0), torch.empty(0)], ids=["other", "none"])
def test_a_tensor_that_was_given_other_memory_is_noticed(other: Any) -> None:
    out, x = torch.zeros(3), torch.ones(3)
    prepared = rt.prepare_copy(out, x)
    x.data = other
    with pytest.raises(RuntimeError, match="copy: x was given other memory or another shape after it was prepared"):
        prepared.run()
    assert not out.any()


def test_a_tensor_that_was_given_another_shape_is_noticed() -> None:
    x, out = torch.rand(2, 3), torch.zeros(2, 3)
    prepared = rt.prepare_copy(out, x)
    x.t_()
    with pytest.raises(RuntimeError, match="x was given other memory or another shape"):
        prepared.run()
    assert torch.equal(out, torch.zeros(2, 3))


def test_an_input_that_came_to_require_grad_is_noticed() -> None:
    out, x = torch.zeros(3), torch.ones(3)
    prepared = rt.prepare_copy(out, x)
    x.requires_grad_()
    with pytest.raises(RuntimeError, match="copy: x requires grad and grad mode is on"):
        prepared.run()
    with torch.no_grad():
        prepared.run()
    assert out.tolist() == [1, 1, 1]


def test_an_out_that_came_to_require_grad_is_noticed() -> None:
    out = torch.zeros(3)
    prepared = rt.prepare_copy(out, torch.ones(3))
    out.requires_grad_()
    with pytest.raises(RuntimeError, match="copy: out requires grad and grad mode is on"):
        prepared.run()
    assert not out.any()


def test_a_dtype_that_changed_is_noticed() -> None:
    out, x = torch.zeros(3), torch.ones(3)
    prepared = rt.prepare_copy(out, x)
    x.data = x.data.view(torch.int32)
    with pytest.raises(RuntimeError, match="copy: x was given"):
        prepared.run()


def test_an_array_is_written_as_it_was_prepared() -> None:
    out = np.zeros(3)
    prepared = rt.prepare_copy(out, np.ones(3))
    out.flags.writeable = False  # like a view taken before, what was prepared may still write
    prepared.run()
    assert out.tolist() == [1, 1, 1]


@pytest.mark.parametrize("given", [True, False], ids=["given", "allocated"])
def test_a_workspace_that_was_given_other_memory_is_noticed(given: bool) -> None:
    out, x = reducing()
    prepared = rt.prepare_reduce_sum(out, x, dim=1, workspace=aligned_bytes(1 << 20) if given else None)
    prepared.workspace.set_(torch.zeros(1 << 20, dtype=torch.uint8))
    out.zero_()
    for call in (prepared.run, lambda: prepared.run_inputs(out, x)):
        with pytest.raises(
            RuntimeError, match="reduce_sum: workspace was given other memory or another shape after it was prepared"
        ):
            call()
    assert not out.any()


def test_a_call_that_needs_no_workspace_has_none() -> None:
    assert rt.prepare_copy(torch.zeros(3), torch.ones(3)).workspace is None


@BOTH_KINDS
def test_a_workspace_is_allocated_in_the_kind_of_the_caller(np_like: Any) -> None:
    out, x = (np.asarray(t) if np_like is np else t for t in reducing())
    prepared = rt.prepare_reduce_sum(out, x, dim=1)
    assert type(prepared.workspace) is type(x)
    assert prepared.workspace is prepared.workspace
    prepared.run()
    assert out.tolist() == [1 << 22]


def test_a_workspace_that_is_given_is_used() -> None:
    out, x = reducing()
    workspace = aligned_bytes(1 << 20)
    workspace.fill_(0xA5)
    before = workspace.clone()
    prepared = rt.prepare_reduce_sum(out, x, dim=1, workspace=workspace)
    assert prepared.workspace is workspace
    prepared.run()
    assert out.tolist() == [1 << 22]
    assert not torch.equal(workspace, before)


def test_a_workspace_of_any_dtype_is_taken() -> None:
    out, x = reducing()
    rt.prepare_reduce_sum(out, x, dim=1, workspace=aligned_bytes(1 << 20).view(torch.float64)).run()
    assert out.tolist() == [1 << 22]


@pytest.mark.parametrize(
    ("exception", "workspace", "text"),
    [
        (RuntimeError, aligned_bytes(8), "reduce_sum: workspace_size is 8 bytes, expected at least"),
        (ValueError, aligned_bytes(1 << 20, 64), "reduce_sum: workspace is 0x.*, expected an address aligned to 256 bytes"),
        (ValueError, aligned_bytes(1 << 20)[::2], r"reduce_sum: workspace has strides \(2,\), expected a contiguous tensor"),
        (ValueError, np.broadcast_to(np.ones(1), 1 << 20), "reduce_sum: workspace is read-only"),
        (TypeError, b"bytes", "reduce_sum: workspace is a bytes, expected a tensor"),
    ],
    ids=["small", "misaligned", "strided", "read-only", "bytes"],
)
def test_a_workspace_that_does_not_fit_is_refused(exception: type[Exception], workspace: Any, text: str) -> None:
    out, x = reducing()
    with pytest.raises(exception, match=text):
        rt.prepare_reduce_sum(out, x, dim=1, workspace=workspace)


def test_references_are_given_back() -> None:
    out, x = torch.zeros(3), torch.ones(3)
    before = sys.getrefcount(out), sys.getrefcount(x)
    for _ in range(1000):
        prepared = rt.prepare_copy(out, x)
        prepared.run()
        prepared.run_inputs(out, x)
        with pytest.raises(ValueError, match="has shape"):
            prepared.run_inputs(out, x[:2])
        with pytest.raises(ValueError, match="has shape"):
            rt.prepare_copy(out, x[:2])
    del prepared
    assert (sys.getrefcount(out), sys.getrefcount(x)) == before


def test_a_process_ends_cleanly_with_one_in_a_global() -> None:
    code = """
        import numpy as np, operator_runtime as rt
        out, x = np.zeros(3), np.ones(3)
        prepared = rt.prepare_copy(out, x)
        prepared.run()
        import builtins
        builtins.kept = rt.prepare_softmax(out, x)
        print(out.sum())
    """
    assert assert_runs(code) == "3.0\n"
