"""Text that comes from Python, and what the texts of errors call things."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import operator_runtime as rt

X = np.ones(3)


class Surrogate:
    __qualname__ = "Odd\udc80"

    def __init__(self, act: Callable[[], Any] = lambda: None) -> None:
        self.act = act

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class Unreadable(Surrogate):
    def __dlpack__(self, **_: Any) -> Any:
        return self.act()


class SilentError(ValueError):
    def __str__(self) -> str:
        raise KeyError


def raise_error(error: Exception) -> Callable[[], Any]:
    def act() -> Any:
        raise error

    return act


@pytest.mark.parametrize(
    ("exception", "call", "text"),
    [
        (TypeError, lambda: rt.copy(Surrogate()), r"copy: x is a \w+\.Odd\\udc80, expected a tensor"),
        (TypeError, lambda: rt.copy(X, backend=Surrogate()), r"backend is a \w+\.Odd\\udc80, expected a name"),
        (TypeError, lambda: rt.softmax(X, Surrogate()), r"dim is a \w+\.Odd\\udc80, expected an integer"),
        (ValueError, lambda: rt.copy(X, backend="cpu\udc80"), r"backend is 'cpu\\udc80', expected one of"),
        (ValueError, lambda: rt.copy(X, backend="cpu\0"), r"backend is 'cpu\\x00', expected one of"),
        (ValueError, lambda: rt.reduce_sum(X, dtype="float64\udc80"), r"dtype is 'float64\\udc80', expected"),
        (ValueError, lambda: rt.reduce_sum(X, dtype="float64\0"), r"dtype is 'float64\\x00', expected"),
        (ValueError, lambda: rt.copy(Unreadable(raise_error(ValueError("why\udc80")))), r"x cannot be read: why\\udc80"),
        (ValueError, lambda: rt.copy(Unreadable(raise_error(SilentError()))), "x cannot be read: <unprintable SilentError object>"),
        (TypeError, lambda: rt.copy(type("\u00e9" * 400, (), {})()), "copy: x is a test_text.\u00e9\u00e9\u00e9"),
    ],
)
def test_any_text_can_be_part_of_an_error(exception: type[Exception], call: Callable[[], Any], text: str) -> None:
    with pytest.raises(exception, match=text):
        call()


def overlapping() -> Any:
    memory = np.arange(4.0)
    return rt.copy_(memory[1:], memory[:3])


def workspace_in_x() -> Any:
    x = torch.zeros(1 << 22)
    start = -x.data_ptr() % 256 // 4
    return rt.prepare_reduce_sum(torch.zeros(()), x, workspace=x[start : start + (1 << 20)]).run()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: rt.copy_(np.ones(2), X), r"copy: out has shape \(2,\), expected \(3,\), the shape of x$"),
        (lambda: rt.copy(np.frombuffer(bytes(41), np.uint8)[1:].view(np.float64)), "copy: x is 0x.*aligned to 8 bytes"),
        (overlapping, "copy: out overlaps x, expected disjoint memory"),
        (lambda: rt.reduce_sum_(X[:1], X, keepdim=True), "reduce_sum: out overlaps x, expected disjoint memory$"),
        (workspace_in_x, "reduce_sum: workspace overlaps x, expected memory of its own$"),
        (lambda: rt.copy(np.ones((1,) * 9)), r"copy: x has 9 dimensions, expected 0\.\.8$"),
        (lambda: rt.copy(torch.ones((1,) * 9)), r"copy: x has 9 dimensions, expected 0\.\.8$"),
    ],
)
def test_an_error_calls_an_argument_by_its_name_in_python(call: Callable[[], Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()
    assert rt.is_supported("copy", np.ones(2), X) == (False, "copy: out has shape (2,), expected (3,), the shape of x")


def test_a_sentence_keeps_the_word_in() -> None:
    from operator_runtime.backend import available_backends, emulated_backends

    for name, reason in available_backends().items():
        if "not in this build" in reason:
            with pytest.raises(RuntimeError, match="not in this build" if name != "tilelang" else "TileLang"):
                rt.copy(X, backend=name)
    assert emulated_backends() or any("not in this build" in reason for reason in available_backends().values())
