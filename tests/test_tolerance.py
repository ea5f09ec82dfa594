"""A tolerance that accepts everything checks nothing: it must reject constants, the input, and the next lower precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from operator_runtime_testing.case import Case, load_cases
from operator_runtime_testing.compare import agreement, expected
from operator_runtime_testing.dtypes import DTYPES, Array, narrow, widen
from operator_runtime_testing.memory import Memory

CASES = load_cases(Path(__file__).resolve().parent / "cases")
# Bits of significand that a result has when it was computed one format too low.
LOWER_PRECISION = {"float64": 24, "float32": 11, "float16": 8, "bfloat16": 5}
LONG = 1000
SIZED = [
    case
    for cases in CASES.values()
    for case in cases
    if case.group == "size" and max(next(iter(case.inputs.values())).shape, default=0) >= LONG
]
OF_FLOATS = [case for case in SIZED if case.output.dtype in LOWER_PRECISION and not case.bits]


def accepts(case: Case, change: str) -> bool:
    memory = Memory(case, 0)
    want = expected(case, memory.inputs)
    if change == "lower precision":
        got = narrow(case.output.dtype, with_precision(want, LOWER_PRECISION[case.output.dtype]))
    elif change == "input":
        (got, *_) = memory.inputs.values()
        if got.shape != want.shape or got.dtype != DTYPES[case.output.dtype].stored:
            return False
    else:
        got = narrow(case.output.dtype, np.full(want.shape, {"zeros": 0, "ones": 1}[change]))
    right, _ = agreement(case, memory.inputs, want, got)
    return bool(right.all())


def with_precision(wide: Array, bits: int) -> Array:
    fraction, exponent = np.frexp(wide)
    return np.asarray(np.ldexp(np.round(np.ldexp(fraction, bits)), exponent - bits))


@pytest.mark.parametrize("change", ["zeros", "ones", "input"])
def test_trivial_results_are_rejected(change: str) -> None:
    identity = {"copy"} if change == "input" else set()
    accepted = [f"{case.op} {case.name}" for case in SIZED if case.op not in identity and accepts(case, change)]
    assert accepted == []


def test_the_next_lower_precision_is_rejected() -> None:
    assert {case.output.dtype for case in OF_FLOATS} == set(LOWER_PRECISION)
    verdicts: dict[tuple[str, str], list[bool]] = {}
    for case in OF_FLOATS:
        verdicts.setdefault((case.op, case.output.dtype), []).append(accepts(case, "lower precision"))
    # One sum, or three, can happen to be numbers of few bits; most cannot.
    assert [key for key, accepted in verdicts.items() if sum(accepted) > len(accepted) / 2] == []


def test_a_result_rounded_once_is_accepted() -> None:
    for case in OF_FLOATS:
        memory = Memory(case, 0)
        want = expected(case, memory.inputs)
        right, _ = agreement(case, memory.inputs, want, narrow(case.output.dtype, want))
        assert right.all(), case.name
        assert widen(case.output.dtype, narrow(case.output.dtype, want)).shape == want.shape


def test_sums_have_no_bound_only_where_a_partial_sum_may_overflow() -> None:
    tolerance = next(case for case in CASES["reduce_sum"] if case.output.dtype == "float32").tolerance
    rows = np.array([[3e38, 3e38, -3e38], [3e38, -3e37, 0], [np.inf, 1, 1], [np.nan, 1, 1]], dtype=np.longdouble)
    allowed = tolerance.allowed("float32", rows.sum(axis=1), [rows], {"dim": 1})
    assert allowed is not None
    assert np.isposinf(allowed).tolist() == [True, False, False, False]
