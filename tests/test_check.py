"""The check itself: a harness that accepts a wrong operator would make every other test worthless."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from operator_runtime_testing.case import Case, Refusal, Tensor, Tolerance, in_place
from operator_runtime_testing.check import Runtime, check_case
from operator_runtime_testing.compare import CaseError
from operator_runtime_testing.dtypes import DTYPES, narrow, ulp, widen
from operator_runtime_testing.memory import Memory
from operator_runtime_testing.values import constant

Body = Callable[[Any, Any], Any]


def twice(out: Any, x: Any) -> None:
    out[...] = x + x


def runtime(body: Body, allocate: Callable[[Any], Any] | None = None, returns: Callable[[Any], Any] = lambda out: out) -> Runtime:
    """An operator `twice` in NumPy that does `body`."""

    def twice_(out: Any, x: Any, backend: str) -> Any:
        body(out, x)
        return returns(out)

    def default(x: Any) -> Any:
        out = np.empty(x.shape, x.dtype)
        body(out, x)
        return out

    class Prepared(AbstractContextManager["Prepared"]):
        def __init__(self, out: Any, x: Any, backend: str) -> None:
            self.tensors = out, x

        def __exit__(self, *_: object) -> None:
            del self.tensors

        def run(self) -> None:
            body(*self.tensors)

    module = SimpleNamespace(
        twice=lambda x, backend: (allocate or default)(x),
        twice_=twice_,
        prepare_twice=Prepared,
        is_supported=lambda *tensors, backend: (True, ""),
    )
    return Runtime(module, "cpu")


# A name whose number asks for all three forms.
NAME = next(name for name in map("check/{}".format, range(100)) if Case("twice", name, {}, Tensor("int8", ())).seed(0) % 5 == 0)
SMALL = Tolerance("half an ulp and a bit", lambda want, inputs, attributes: np.abs(want) * 2.0**-22)
CASE = Case("twice", NAME, {"x": Tensor("float32", (4, 6), kind="numpy")}, reference=lambda x: x + x, tolerance=SMALL)


def rejected(case: Case, body: Body, **fields: Any) -> str:
    with pytest.raises(CaseError) as caught:
        check_case(case, runtime(body, **fields))
    return str(caught.value)


def test_a_right_operator_passes_in_any_layout() -> None:
    check_case(CASE, runtime(twice))
    for layout in ("transposed", "padded", "stepped", "reversed"):
        tensor = Tensor("float32", (4, 6), layout, kind="numpy")
        check_case(replace(CASE, inputs={"x": tensor}, out=tensor), runtime(twice))
    check_case(in_place(CASE, "x"), runtime(twice))


def test_one_wrong_element_is_named() -> None:
    def body(out: Any, x: Any) -> None:
        twice(out, x)
        out[2, 5] *= 1 + 1e-5

    assert "[2, 5] is" in rejected(CASE, body)
    assert "1 of 24 wrong" in rejected(CASE, body)


def test_an_unwritten_element_is_seen() -> None:
    def body(out: Any, x: Any) -> None:
        out[:, :-1] = (x + x)[:, :-1]

    assert "column 5 of 6" in rejected(CASE, body)


def test_a_modified_input_is_seen() -> None:
    def body(out: Any, x: Any) -> None:
        twice(out, x)
        x[0, 0] = 0

    assert "memory of x was modified" in rejected(CASE, body)


@pytest.mark.parametrize("step", [-1, 24])
def test_a_write_beside_the_output_is_seen(step: int) -> None:
    def body(out: Any, x: Any) -> None:
        twice(out, x)
        ctypes.c_float.from_address(out.ctypes.data + 4 * step).value = 7

    assert "not elements of out" in rejected(CASE, body)


def test_a_write_into_a_gap_is_seen() -> None:
    def body(out: Any, x: Any) -> None:
        twice(out, x)
        np.lib.stride_tricks.as_strided(out, (4, 7), out.strides)[1, 6] = 7

    assert "not elements of out" in rejected(replace(CASE, out=Tensor("float32", (4, 6), "padded", kind="numpy")), body)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_special_values_are_no_wildcards(value: float) -> None:
    def finite(out: Any, x: Any) -> None:
        out[...] = 1.0

    def special(out: Any, x: Any) -> None:
        twice(out, x)
        out[0, 0] = value

    case = replace(CASE, inputs={"x": Tensor("float32", (4, 6), fill=constant(value), kind="numpy")})
    check_case(case, runtime(twice))
    assert "24 of 24" in rejected(case, finite)
    assert "[0, 0] is" in rejected(CASE, special)


def test_the_sign_of_a_zero_counts() -> None:
    case = replace(CASE, inputs={"x": Tensor("float32", (4,), fill=constant(0.0), kind="numpy")})

    def body(out: Any, x: Any) -> None:
        out[...] = -0.0

    assert "is -0.0, expected 0.0" in rejected(case, body)


def test_results_that_differ_between_calls_are_seen() -> None:
    calls: list[int] = []

    def body(out: Any, x: Any) -> None:
        twice(out, x)
        calls.append(0)
        if len(calls) > 1:
            out[0, 0] = np.nextafter(out[0, 0], np.float32(9))

    assert "other bits" in rejected(CASE, body)


def test_the_forms_must_return_what_they_promise() -> None:
    assert "expected the out that it was given" in rejected(CASE, twice, returns=lambda out: out.copy())
    assert "not row-major" in rejected(CASE, twice, allocate=lambda x: np.asfortranarray(x + x))
    assert "expected float32" in rejected(CASE, twice, allocate=lambda x: (x + x).astype(np.float64))


def refusing(text: str, kind: type[Exception] = ValueError, write: bool = False) -> Body:
    def body(out: Any, x: Any) -> None:
        if write:
            out[0, 0] = 1
        raise kind(text)

    return body


def test_a_refusal_has_its_type_and_text_and_writes_nothing() -> None:
    case = replace(CASE, refusal=Refusal("ValueError", "wrong shape", "execute"), allocate=None)
    check_case(case, runtime(refusing("twice: wrong shape")))
    assert "accepted" in rejected(case, twice)
    assert "ValueError" in rejected(case, refusing("twice: something else"))
    assert "TypeError" in rejected(case, refusing("twice: wrong shape", TypeError))
    assert "memory of out" in rejected(case, refusing("twice: wrong shape", write=True))
    assert "is_supported" in rejected(replace(case, refusal=Refusal("ValueError", "wrong shape")), refusing("twice: wrong shape"))


def test_a_view_outside_of_its_storage_is_refused_before_the_call() -> None:
    tensor = Tensor("float32", (3, 5), strides=(7, 1))
    memory = Memory(replace(CASE, inputs={"x": tensor}, out=None), 0)
    storage = memory.storage_of["x"]
    with pytest.raises((TypeError, ValueError)):
        storage.view(storage.image, "x", replace(tensor, strides=(700, 1)))


@pytest.mark.parametrize("dtype", [name for name, dtype in DTYPES.items() if dtype.kind == "float"])
def test_rounding_and_ulps_agree_with_the_format(dtype: str) -> None:
    format_ = DTYPES[dtype]
    for value in (0.0, format_.smallest_subnormal, 2.0**format_.min_exponent, 1.0, -3.0, format_.largest):
        assert widen(dtype, narrow(dtype, np.array([value])))[0] == value
    step = float(ulp(dtype, np.array(1.0)))
    assert step == 2.0 ** (1 - format_.precision)
    if dtype != "float64":
        halfway = widen(dtype, narrow(dtype, np.array([1 + step / 2, 1 + 3 * step / 2, 1 + step * 0.500001])))
        assert halfway.tolist() == [1.0, 1 + 2 * step, 1 + step]
