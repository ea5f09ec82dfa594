"""Tensors that torch transforms, traces or wraps: computed as they are, or refused; never a result that lost a derivative."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad

import operator_runtime as rt

DUAL = "is a dual tensor of forward-mode differentiation"


@pytest.mark.parametrize(
    "call",
    [
        lambda x: rt.softmax(x, -1),
        lambda x: rt.copy(x, backend="cpu"),
        lambda x: rt.copy_(torch.zeros(3), x),
        lambda x: rt.vector_add(x.detach(), x),
    ],
)
def test_a_dual_tensor_is_refused(call: Callable[[Any], Any]) -> None:
    with forward_ad.dual_level():
        for mode in (torch.enable_grad, torch.no_grad):
            with mode(), pytest.raises(RuntimeError, match=rf": [xb] {DUAL}.*unpack_dual\([xb]\)\.primal"):
                call(forward_ad.make_dual(torch.ones(3), torch.ones(3)))


def test_a_dual_tensor_is_no_out() -> None:
    with forward_ad.dual_level():
        out = forward_ad.make_dual(torch.zeros(3), torch.ones(3))
        with pytest.raises(RuntimeError, match=f"copy: out {DUAL}"):
            rt.copy_(out, torch.ones(3))
    assert not out.any()


def test_a_prepared_tensor_that_became_dual_is_noticed() -> None:
    out, x = torch.zeros(3), torch.ones(3)
    prepared = rt.prepare_copy(out, x)
    with forward_ad.dual_level():
        x.copy_(forward_ad.make_dual(torch.ones(3), torch.ones(3)))
        with pytest.raises(RuntimeError, match=f"copy: x {DUAL}"):
            prepared.run()
    prepared.run()
    assert out.tolist() == [1, 1, 1]


def test_a_plain_tensor_is_read_inside_a_dual_level() -> None:
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(torch.zeros(2), torch.ones(2))
        assert rt.softmax(forward_ad.unpack_dual(dual).primal).tolist() == [0.5, 0.5]
        assert rt.softmax(torch.zeros(2)).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "transform",
    [
        torch.func.vmap,
        torch.func.functionalize,
        torch.func.jacrev,
        torch.func.jacfwd,
        lambda f: torch.func.grad(lambda x: f(x).sum()),
        lambda f: torch.func.grad(lambda x: torch.no_grad()(f)(x).sum()),
        lambda f: lambda x: torch.func.vjp(f, x),
        lambda f: lambda x: torch.func.jvp(f, (x,), (x,)),
    ],
    ids=["vmap", "functionalize", "jacrev", "jacfwd", "grad", "grad without grad mode", "vjp", "jvp"],
)
@pytest.mark.parametrize(
    "call", [lambda x: rt.softmax(x, -1), lambda x: rt.softmax_(torch.zeros(2), x)], ids=["softmax", "softmax_"]
)
def test_a_tensor_inside_a_transform_is_refused(call: Callable[[Any], Any], transform: Callable[..., Any]) -> None:
    with pytest.raises(
        ValueError, match=r"softmax: (x|out) is a tensor inside a torch\.func transform \(vmap, grad, jvp, \.\.\.\)"
    ):
        transform(call)(torch.ones(2, 2))


def test_a_tensor_that_a_transform_closes_over_is_read() -> None:
    x = torch.zeros(2)
    assert torch.func.vmap(lambda row: row + rt.softmax(x))(torch.zeros(3, 2)).tolist() == [[0.5, 0.5]] * 3


def freed() -> Any:
    x = torch.ones(3)
    x.untyped_storage().resize_(0)
    return x


@pytest.mark.parametrize("make", [freed, lambda: torch._efficientzerotensor(3)], ids=["freed", "zero tensor"])
def test_a_tensor_without_memory_is_refused(make: Callable[[], Any]) -> None:
    x = make()
    for call in (rt.copy, lambda x: rt.prepare_copy(torch.zeros(3), x)):
        with pytest.raises(ValueError, match="copy: x has no memory for its elements"):
            call(x)
    with pytest.raises(ValueError, match="copy: out has no memory for its elements"):
        rt.copy_(x, torch.zeros(3))


def test_a_result_that_a_mode_makes_without_memory_is_refused() -> None:
    from torch._subclasses.fake_tensor import FakeTensorMode

    x = torch.ones(3)
    with FakeTensorMode(), pytest.raises(RuntimeError, match=r"copy: the result has no memory for its elements"):
        rt.copy(x)


def test_a_subclass_that_only_watches_functions_is_read() -> None:
    class Watching(torch.Tensor):
        pass

    assert rt.copy(torch.ones(3).as_subclass(Watching)).tolist() == [1, 1, 1]


def test_a_compiled_function_computes_what_it_computes_without_the_compiler() -> None:
    function = torch.compile(lambda x: rt.softmax(x * 2) + 1, backend="eager")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert function(torch.zeros(2)).tolist() == [1.5, 1.5]
        with pytest.raises(RuntimeError, match="softmax: x requires grad"):
            function(torch.zeros(2, requires_grad=True))


def test_what_is_traced_by_symbols_is_no_tensor() -> None:
    with pytest.raises(TypeError, match=r"softmax: x is a torch\.fx\.proxy\.Proxy, expected a tensor"):
        torch.fx.symbolic_trace(lambda x: rt.softmax(x))
