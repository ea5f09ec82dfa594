"""What is refused, with the right exception and text, by every form, and with nothing written."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import operator_runtime as rt

warnings.filterwarnings("ignore", category=UserWarning, module="torch")

FORMS: list[Callable[[Any, Any], Any]] = [
    lambda out, x: rt.copy_(out, x),
    lambda out, x: rt.prepare_copy(out, x),
    lambda out, x: rt.copy(x),
]
EVERY_FORM = pytest.mark.parametrize("call", FORMS, ids=["copy_", "prepare_copy", "copy"])


def fake() -> Any:
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        return torch.empty(3)


def quantized() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8)


def nested(layout: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=layout)


def sparse_rows() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.eye(3).to_sparse_csr()


UNREADABLE: dict[str, tuple[Callable[[], Any], str]] = {
    "conj": (lambda: torch.ones(3, dtype=torch.complex64).conj(), "x is a conjugated view"),
    "neg": (lambda: torch.ones(3, dtype=torch.complex64).conj().imag, "x is a negated view"),
    "sparse": (lambda: torch.eye(3).to_sparse(), "x is a sparse tensor"),
    "sparse rows": (sparse_rows, "x is a sparse tensor"),
    "quantized": (quantized, "x is a quantized tensor"),
    "meta": (lambda: torch.empty(3, device="meta"), "x is a meta tensor, which has no data"),
    "nested": (lambda: nested(torch.strided), "x is a nested tensor"),
    "jagged": (lambda: nested(torch.jagged), "__torch_dispatch__"),
    "fake": (fake, "FakeTensor, a subclass that answers operations itself"),
    "masked": (lambda: np.ma.masked_array([1.0, 2.0], [True, False]), "a masked array, whose mask would be ignored"),
    "big-endian": (lambda: np.ones(3, ">f4"), "x cannot be read"),
    "objects": (lambda: np.array([None]), "x cannot be read"),
    "nine dims": (lambda: np.ones((1,) * 9), "x has 9 dimensions, expected 0..8"),
    "nine dims of torch": (lambda: torch.ones((1,) * 9), "x has 9 dimensions, expected 0..8"),
}


@EVERY_FORM
@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_tensor_that_cannot_be_read_is_a_value_error(call: Callable[[Any, Any], Any], kind: str) -> None:
    make, text = UNREADABLE[kind]
    x = make()
    out = np.full(3, 7.0) if isinstance(x, np.ndarray) else torch.full((3,), 7.0)
    with pytest.raises(ValueError, match=text) as caught:
        call(out, x)
    assert str(caught.value).startswith("copy: ")
    assert out.tolist() == [7.0] * 3


@EVERY_FORM
@pytest.mark.parametrize("x", [[1.0], 3.5, None, "text", np.float32(1), np.ndarray, torch.Tensor], ids=str)
def test_what_is_no_tensor_is_a_type_error(call: Callable[[Any, Any], Any], x: Any) -> None:
    with pytest.raises(TypeError, match=r"copy: x is a .*, expected a tensor"):
        call(torch.ones(1), x)


@EVERY_FORM
def test_an_input_that_requires_grad_is_refused_while_grad_mode_is_on(call: Callable[[Any, Any], Any]) -> None:
    x, out = torch.ones(3, requires_grad=True), torch.full((3,), 7.0)
    with pytest.raises(RuntimeError, match=r"copy: x requires grad and grad mode is on.*torch\.ops\.operator_runtime\.copy"):
        call(out, x)
    assert out.tolist() == [7.0] * 3


@EVERY_FORM
@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_an_input_that_requires_grad_is_read_while_grad_mode_is_off(call: Callable[[Any, Any], Any], mode: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    with mode():
        call(torch.zeros(3), x)


def test_an_out_that_requires_grad_is_refused() -> None:
    out = torch.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="copy: out requires grad"):
        rt.copy_(out, torch.ones(3))
    assert not out.any()


def test_a_read_only_array_is_no_out() -> None:
    out = np.zeros(3)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="copy: out is read-only"):
        rt.copy_(out, np.ones(3))
    assert not out.any()


def test_a_read_only_array_is_an_input() -> None:
    x = np.ones(3)
    x.flags.writeable = False
    assert rt.copy(x).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("out", "a", "b", "text"),
    [
        (torch.zeros(3), torch.ones(3), np.ones(3, np.float32), r"b is a numpy\.ndarray, expected a torch\.Tensor"),
        (torch.zeros(3), np.ones(3, np.float32), torch.ones(3), r"a is a numpy\.ndarray, expected a torch\.Tensor"),
        (np.zeros(3, np.float32), torch.ones(3), torch.ones(3), r"a is a torch\.Tensor, expected a numpy\.ndarray"),
    ],
)
def test_tensors_of_two_kinds_are_refused(out: Any, a: Any, b: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        rt.vector_add_(out, a, b)
    assert not out.any()


def test_a_subclass_is_of_the_kind_of_its_base() -> None:
    class Mine(np.ndarray):
        pass

    assert rt.vector_add(np.ones(2), np.ones(2).view(Mine)).tolist() == [2, 2]
    with torch.no_grad():
        assert rt.vector_add(torch.ones(2), torch.nn.Parameter(torch.ones(2))).tolist() == [2, 2]


@pytest.mark.parametrize(
    ("exception", "out", "text"),
    [
        (ValueError, torch.zeros(4), r"softmax: out has shape \(4,\), expected \(3,\)"),
        (NotImplementedError, torch.zeros(3, dtype=torch.float64), "softmax: float32 to float64 is not supported"),
        (ValueError, torch.zeros(1).expand(3), "softmax: out has several elements at one address"),
    ],
)
def test_an_out_that_does_not_fit_is_refused(exception: type[Exception], out: Any, text: str) -> None:
    for form in (rt.softmax_, rt.prepare_softmax):
        with pytest.raises(exception, match=text):
            form(out, torch.ones(3))
    assert not out.any()
    assert rt.is_supported("softmax", out, torch.ones(3))[0] is False


def test_memory_that_overlaps_is_refused_when_it_runs() -> None:
    memory = torch.arange(4.0)
    with pytest.raises(ValueError, match="copy: out overlaps"):
        rt.copy_(memory[1:], memory[:3])
    with pytest.raises(ValueError, match="copy: out overlaps"):
        rt.prepare_copy(memory[1:], memory[:3]).run()
    assert memory.tolist() == [0, 1, 2, 3]


def dim_calls() -> Iterator[Callable[[Any], Any]]:
    x = np.ones((2, 3))
    yield lambda dim: rt.softmax(x, dim)
    yield lambda dim: rt.softmax_(np.empty((2, 3)), x, dim=dim)
    yield lambda dim: rt.prepare_softmax(np.empty((2, 3)), x, dim)
    yield lambda dim: rt.reduce_sum(x, dim)
    yield lambda dim: rt.reduce_sum(x, [0, dim], keepdim=True)


EVERY_DIM = pytest.mark.parametrize("call", [*dim_calls()], ids=["softmax", "softmax_", "prepare_softmax", "reduce_sum", "list"])


@EVERY_DIM
@pytest.mark.parametrize("dim", [2, -3, 2**31, -(2**31) - 1, 2**63, -(2**200)])
def test_a_dim_out_of_range_is_a_value_error_and_an_index_error(call: Callable[[Any], Any], dim: int) -> None:
    with pytest.raises(rt.DimError, match=rf": dim is {dim}, expected -2..1 for a 2-D input$"):
        call(dim)
    assert issubclass(rt.DimError, ValueError)
    assert issubclass(rt.DimError, IndexError)


@EVERY_DIM
def test_a_dim_too_long_to_be_printed_is_out_of_range_too(call: Callable[[Any], Any]) -> None:
    with pytest.raises(rt.DimError, match=r": dim is <unprintable int object>, expected -2..1 for a 2-D input$"):
        call(10**5000)


@EVERY_DIM
@pytest.mark.parametrize("dim", [True, np.True_, torch.tensor(True), np.array(True), 1.0, np.float64(1), "1", b"1"], ids=repr)
def test_a_dim_that_is_no_integer_is_a_type_error(call: Callable[[Any], Any], dim: Any) -> None:
    with pytest.raises(TypeError, match=r": dim is a .*, expected an integer"):
        call(dim)


@EVERY_DIM
@pytest.mark.parametrize("dim", [1, np.int64(1), np.uint8(1), torch.tensor(1), -1], ids=repr)
def test_any_integer_is_a_dim(call: Callable[[Any], Any], dim: Any) -> None:
    call(dim)


def test_softmax_takes_no_dim_of_none() -> None:
    with pytest.raises(TypeError, match="softmax: dim is a NoneType, expected an integer"):
        rt.softmax(np.ones(3), None)


def test_a_dim_given_twice_is_refused() -> None:
    with pytest.raises(rt.DimError, match="reduce_sum: dim -1 appears twice"):
        rt.reduce_sum(np.ones((2, 3)), (1, -1))


def test_more_dims_than_a_tensor_can_have_are_refused() -> None:
    with pytest.raises(ValueError, match=r"9 dims are given, expected 0\.\.8"):
        rt.reduce_sum(np.ones((2, 3)), [0] * 9)


def test_a_dtype_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="reduce_sum: dtype is 'float31', expected a dtype"):
        rt.reduce_sum(np.ones(3), dtype="float31")


def test_a_result_that_does_not_fit_into_memory_is_a_memory_error() -> None:
    for x in (torch.ones(1).expand(1 << 46), np.broadcast_to(np.ones(1, np.float32), (1 << 46,))):
        with pytest.raises(MemoryError):
            rt.copy(x)


@pytest.mark.parametrize(
    ("backend", "exception", "text"),
    [
        ("cuda", ValueError, "copy: backend is 'cuda', expected one of auto, cpu, nvidia, metax, tilelang"),
        (1, TypeError, "copy: backend is a int, expected a name, a Backend or None"),
        ("tilelang", RuntimeError, "copy: there are no TileLang operators in this build"),
    ],
)
def test_a_backend_that_is_none_is_refused(backend: Any, exception: type[Exception], text: str) -> None:
    with pytest.raises(exception, match=text):
        rt.copy(np.ones(3), backend=backend)


def test_a_backend_that_is_not_here_is_a_runtime_error_with_the_reason() -> None:
    from operator_runtime.backend import available_backends, emulated_backends

    missing = [name for name in ("nvidia", "metax") if available_backends()[name]]
    assert bool(missing) != bool(emulated_backends()), "only an emulation build holds both GPU backends"
    for name in missing:
        with pytest.raises(RuntimeError, match=f"copy: backend {name} is not available"):
            rt.copy(np.ones(3), backend=name)
