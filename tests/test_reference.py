"""The references against PyTorch in float64 and in integers: same shapes, same values, same NaN and infinities."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from operator_runtime_testing.case import Case, Cost, load_cases
from operator_runtime_testing.compare import expected
from operator_runtime_testing.dtypes import DTYPES, widen
from operator_runtime_testing.memory import Memory

CASES = load_cases(Path(__file__).resolve().parent / "cases")
# PyTorch computes with float64 here; n additions of it err by at most n 2^-53 of the sum of magnitudes.
RELATIVE = 2.0**-40


def is_comparable(case: Case) -> bool:
    """Quick, and in dtypes that PyTorch computes with as they are: uint16 and wider sum to other int64 values once they are read as
    signed; reduce_sum has its own reference for them."""
    if case.refusal is not None or case.baseline is None or case.cost != Cost.QUICK:
        return False
    inputs = [DTYPES[tensor.dtype] for tensor in case.inputs.values()]
    return all(dtype.kind != "complex" and (dtype.name[:4] != "uint" or dtype.itemsize in (1, 8)) for dtype in inputs)


GROUPS = sorted({(op, case.group) for op, cases in CASES.items() for case in cases if is_comparable(case)})


def compare(case: Case) -> None:
    memory = Memory(case, 0)
    wide = [widen(case.inputs[name].dtype, stored) for name, stored in memory.inputs.items()]
    with np.errstate(all="ignore"):
        scale = sum(float(np.nansum(np.where(np.isfinite(x), np.abs(x), 0))) for x in wide if x.dtype.kind == "f")
    assert case.baseline is not None
    signed = [x.view(x.dtype.str.replace("u", "i")) if x.dtype.kind == "u" and x.itemsize > 1 else x for x in wide]
    theirs = np.asarray(case.baseline(torch, None, *(torch.from_numpy(np.array(x)) for x in signed), **case.attributes))
    ours = widen(case.output.dtype, expected(case, memory.inputs)) if case.bits else expected(case, memory.inputs)
    assert ours.shape == theirs.shape == case.output.shape, case.name
    if ours.dtype.kind in "iub":
        np.testing.assert_array_equal(ours.astype(np.uint64), theirs.astype(np.uint64), err_msg=case.name)
    elif ours.dtype.kind == "f":
        reduces = ours.size < wide[0].size
        atol = scale * RELATIVE if reduces else 0.0
        np.testing.assert_allclose(ours.astype(np.float64), theirs, rtol=RELATIVE, atol=atol, err_msg=case.name)


@pytest.mark.parametrize(("op", "group"), GROUPS, ids=["-".join(pair) for pair in GROUPS])
def test_the_reference_means_what_pytorch_means(op: str, group: str) -> None:
    for case in CASES[op]:
        if case.group == group and is_comparable(case):
            compare(case)
