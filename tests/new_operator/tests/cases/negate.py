"""Cases of negate."""

from __future__ import annotations

from typing import Any

import numpy as np

from operator_runtime_testing.case import INVALID, UNSUPPORTED, Case, Refusal, Tensor, in_place, shape_text
from operator_runtime_testing.dtypes import Array
from operator_runtime_testing.layouts import DENSE_OR_GAPPED, EMPTY_SHAPES, SHAPES_OF_EVERY_RANK, SIZES
from operator_runtime_testing.values import cycle, specials

DTYPES = ("float32", "float64")


def negate(x: Array) -> Array:
    return np.negative(x)


def torch_negate(torch: Any, out: Any, x: Any) -> Any:
    return torch.neg(x, out=out)


def make(name: str, x: Tensor, **changes: Any) -> Case:
    return Case("negate", name, {"in": x}, reference=negate, **changes)


def refused(name: str, x: Tensor, out: Tensor, exception: str, text: str) -> Case:
    return Case("negate", f"refused/{name}", {"in": x}, out, allocate=None, refusal=Refusal(exception, text))


def cases() -> list[Case]:
    found = [make(f"size/{dtype},n={n}", Tensor(dtype, (n,))) for dtype in DTYPES for n in SIZES]
    found += [make(f"rank/{shape_text(shape)}", Tensor("float32", shape)) for shape in SHAPES_OF_EVERY_RANK]
    found += [make(f"empty/{shape_text(shape)}", Tensor("float32", shape)) for shape in EMPTY_SHAPES]
    for layout in DENSE_OR_GAPPED:
        found.append(make(f"layout/in={layout}", Tensor("float32", (5, 33), layout)))
        out = Tensor("float64", (5, 33), layout)
        found.append(make(f"layout/out={layout}", Tensor("float64", (5, 33)), out=out, allocate=None))
    found += [make(f"values/{dtype}", Tensor(dtype, (97,), fill=cycle(specials(dtype)))) for dtype in DTYPES]
    found.append(in_place(make("in_place/padded", Tensor("float32", (7, 65), "padded")), "in"))
    found.append(refused("int32", Tensor("int32", (4,)), Tensor("int32", (4,)), UNSUPPORTED, "int32 to int32 is not supported"))
    found.append(refused("shape", Tensor("float32", (4,)), Tensor("float32", (5,)), INVALID, "out has shape (5,), expected (4,)"))
    found += [
        make(f"bench/{dtype},n={n}", Tensor(dtype, (n,)), benchmark=True, baseline=torch_negate, flops=n)
        for dtype in DTYPES
        for n in (4096, 1 << 20)
    ]
    return found
