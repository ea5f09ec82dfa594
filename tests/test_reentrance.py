"""Python code that runs inside a call, or beside it while the process ends: no memory is used that is no longer there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import operator_runtime as rt
from python_process import run_python

CHANGED = "was given other memory or another shape while the arguments of this call were read"


class IndexThat:
    """A dim of 0 whose conversion runs `act`."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.act = act

    def __index__(self) -> int:
        self.act()
        return 0


class TruthThat(IndexThat):
    """A keepdim."""

    def __bool__(self) -> bool:
        self.act()
        return False


class DTypeThat(IndexThat):
    @property
    def name(self) -> str:
        self.act()
        return "float32"


def give_away(tensor: Any) -> Callable[[], Any]:
    """The storage of `tensor` is freed; it gets another one."""
    return lambda: tensor.set_(torch.full((1 << 16,), 3.0))


@pytest.mark.parametrize(
    "call",
    [
        lambda out, x, act: rt.softmax_(out, x, IndexThat(act)),
        lambda out, x, act: rt.softmax(x, IndexThat(act)),
        lambda out, x, act: rt.reduce_sum(x, [IndexThat(act)]),
        lambda out, x, act: rt.reduce_sum(x, 0, TruthThat(act)),
        lambda out, x, act: rt.reduce_sum(x, dtype=DTypeThat(act)),
    ],
    ids=["softmax_", "softmax", "dims", "keepdim", "dtype"],
)
def test_an_attribute_that_changes_an_input_is_noticed(call: Callable[..., Any]) -> None:
    out, x = torch.zeros(1 << 16), torch.ones(1 << 16)
    with pytest.raises(RuntimeError, match=f": x {CHANGED}"):
        call(out, x, give_away(x))
    assert not out.any()


def test_an_attribute_that_changes_out_is_noticed() -> None:
    out, x = torch.zeros(1 << 16), torch.ones(1 << 16)
    with pytest.raises(RuntimeError, match=f"softmax: out {CHANGED}"):
        rt.softmax_(out, x, IndexThat(give_away(out)))
    assert out[0] == 3


def test_an_attribute_that_changes_a_shape_is_noticed() -> None:
    out, x = torch.zeros(2, 3), torch.ones(2, 3)
    with pytest.raises(RuntimeError, match=f"softmax: x {CHANGED}"):
        rt.softmax_(out, x, IndexThat(x.t_))
    assert not out.any()


class Acting(torch.Tensor):
    """A tensor whose reading runs `act`."""

    act: Callable[[], Any]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.Tensor.is_neg:
            args[0].act()
        return super().__torch_function__(func, types, args, kwargs or {})


def acting(act: Callable[[], Any]) -> Any:
    tensor = torch.ones(1 << 16).as_subclass(Acting)
    tensor.act = act
    return tensor


def test_a_tensor_that_changes_another_while_it_is_read_is_noticed() -> None:
    out, a = torch.zeros(1 << 16), torch.ones(1 << 16)
    with pytest.raises(RuntimeError, match=f"vector_add: a {CHANGED}"):
        rt.vector_add_(out, a, acting(give_away(a)))
    prepared = rt.prepare_vector_add(out, a, a)
    with pytest.raises(RuntimeError, match=f"vector_add: a {CHANGED}"):
        prepared.run_inputs(out, a, acting(give_away(a)))
    assert not out.any()


def test_an_attribute_may_change_what_is_in_a_tensor() -> None:
    x = torch.zeros(2)
    assert rt.reduce_sum(x, IndexThat(lambda: x.fill_(2))) == 4


def test_memory_of_an_array_is_kept_while_it_is_read() -> None:
    x = np.ones(4)
    with pytest.raises(TypeError, match="cannot resize an array that references or is referenced"):
        rt.softmax(x, IndexThat(lambda: x.resize(1 << 20)))


@pytest.mark.parametrize("form", ["rt.softmax_(out, x)", "prepared.run()"])
def test_a_process_ends_cleanly_while_a_daemon_thread_computes(form: str) -> None:
    code = f"""
        import sys, threading, time
        import numpy as np, operator_runtime as rt
        x, out = np.ones((4, 1 << 20)), np.ones((4, 1 << 20))
        prepared = rt.prepare_softmax(out, x)
        def work():
            while True:
                {form}
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        print("over")
    """
    for _ in range(3):
        done = run_python(code, 60)
        assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")
