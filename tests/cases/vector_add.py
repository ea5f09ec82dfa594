"""Cases of vector_add: one rounding of the exact sum, with broadcasting, in any layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from operator_runtime_testing.case import (
    INVALID,
    NO_TENSOR,
    UNSUPPORTED,
    Case,
    Cost,
    Refusal,
    Tensor,
    Tolerance,
    in_place,
    shape_text,
)
from operator_runtime_testing.dtypes import ALL, COMPLEX, FLOATS, INTEGERS, Array
from operator_runtime_testing.layouts import DENSE_OR_GAPPED, EMPTY_SHAPES, LAYOUTS, SHAPES_OF_EVERY_RANK, SIZES
from operator_runtime_testing.values import bits, constant, cycle, scaled, specials

DTYPES = tuple(dtype for dtype in ALL if dtype != "bool")
# The reference adds in float64. Rounding its sum again gives the correctly rounded sum of the narrower dtypes, because 53 bits are
# at least 2p + 2 for p = 8, 11 and 24; float64 itself is added as IEEE 754 says. The same argument (24 >= 2p + 2) lets float16 and
# bfloat16 add in float32. So nothing but equal bits is right.
EXACT = Tolerance("IEEE addition is correctly rounded; integers wrap")

Shape = tuple[int, ...]


def reference(a: Array, b: Array) -> Array:
    return np.asarray(a + b)


def baseline(torch: Any, out: Any, a: Any, b: Any) -> Any:
    return torch.add(a, b, out=out)


def _case(name: str, a: Tensor, b: Tensor, out: Tensor | None = None, **fields: Any) -> Case:
    if out is None:
        out = Tensor(a.dtype, np.broadcast_shapes(a.shape, b.shape))
    flops = out.num_elements
    inputs = {"a": a, "b": b}
    return Case("vector_add", name, inputs, out, reference=reference, tolerance=EXACT, baseline=baseline, flops=flops, **fields)


def _refused(name: str, a: Tensor, b: Tensor, out: Tensor, exception: str, text: str, stage: str = "create", **fields: Any) -> Case:
    allocate = fields.pop("allocate", None)
    refusal = Refusal(exception, text, stage)
    return Case("vector_add", f"refused/{name}", {"a": a, "b": b}, out, allocate=allocate, refusal=refusal, **fields)


def _t(shape: Shape, dtype: str = "float32", **fields: Any) -> Tensor:
    return Tensor(dtype, shape, **fields)


def _sizes() -> Iterator[Case]:
    for dtype in DTYPES:
        for size in SIZES:
            yield _case(f"size/{dtype}/{size}", _t((size,), dtype), _t((size,), dtype))
    for shape in SHAPES_OF_EVERY_RANK:
        yield _case(f"rank/{len(shape)}", _t(shape), _t(shape))
        mixed = _t(shape, layout="rotated"), _t(shape, layout="padded"), _t(shape, layout="transposed")
        yield _case(f"rank/{len(shape)}-mixed", *mixed)
    # A wrong last element behind a vector loop shows only at these lengths and at a stride of -1.
    for size in (15, 23, 47, 70003, 70015):
        for a, b in (
            ("contiguous", "contiguous"),
            ("reversed", "contiguous"),
            ("contiguous", "reversed"),
            ("reversed", "reversed"),
        ):
            yield _case(f"size/float32/{size}-{a}-{b}", _t((size,), layout=a), _t((size,), layout=b))
    for shape in EMPTY_SHAPES:  # pytorch/pytorch #17256
        yield _case(f"empty/{shape_text(shape)}", _t(shape), _t(shape, layout="padded"))
    yield _case("empty/broadcast", _t((0, 1)), _t((1, 5)))
    yield _case("empty/broadcast-one", _t((3, 0)), _t((1,)))


def _layouts() -> Iterator[Case]:
    pairs = {("contiguous", "contiguous"), ("transposed", "padded"), ("stepped", "rotated")}
    for dtype in ("int8", "bfloat16", "float32", "complex64"):
        for first in LAYOUTS:
            for second, target in sorted(pairs | {(first, first)}):
                out_layout = target if target in DENSE_OR_GAPPED else "contiguous"
                shape = (33, 65)
                out = _t(shape, dtype, layout=out_layout)
                name = f"layout/{first}-{second}-{target}/{dtype}"
                case = _case(name, _t(shape, dtype, layout=first), _t(shape, dtype, layout=second), out)
                if not (case.needs_numpy and dtype == "bfloat16"):
                    yield case
    # NVIDIA/TransformerEngine #2734: the last stride is 1 and the one before it is not the size.
    yield _case("layout/swapped-outer", _t((3, 2, 5), strides=(5, 15, 1)), _t((3, 2, 5)))
    # csarofeen/pytorch #1741: transposed operands with dimensions of size 1 that carry odd strides.
    a, b = _t((2, 3, 4, 8, 8), "float16", strides=(768, 256, 64, 1, 8)), _t((3, 1, 1, 8), "float16", strides=(8, 8, 1, 1))
    yield _case("layout/size-one-strides", a, b)
    for stride in (0, 3, -5, 2**40):
        yield _case(f"layout/size-one-stride-{stride}", _t((1, 70, 1), strides=(stride, 1, stride)), _t((1, 70, 1)))


def _broadcasts() -> Iterator[Case]:
    for dtype in ("uint8", "float16", "float32", "float64"):
        for a, b in (
            ((33, 65), (65,)), ((33, 65), (33, 1)), ((65,), (33, 65)), ((33, 1), (33, 65)), ((33, 1), (1, 65)), ((33, 65), ()),
            ((), (33, 65)), ((), ()), ((1,), (1000,)), ((1,), (1,)), ((4, 1, 5, 1), (1, 6, 1, 7)), ((3, 1, 5), (4, 1)),
            ((2, 3, 1025), (3, 1)), ((64, 1), (1, 1025)), ((1, 1, 1), ()), ((2, 1, 2, 1, 2, 1, 2, 1), (1, 3, 1, 3, 1, 3, 1, 3)),
        ):  # fmt: skip
            yield _case(f"broadcast/{shape_text(a)}+{shape_text(b)}/{dtype}", _t(a, dtype), _t(b, dtype))
    yield _case("broadcast/expanded", _t((40, 50), layout="expanded_rows"), _t((40, 50), layout="expanded_columns"))
    yield _case("broadcast/one-element", _t((40, 50), strides=(0, 0)), _t((40, 50), strides=(0, 0)))
    yield _case("broadcast/to-padded", _t((40, 1)), _t((50,)), _t((40, 50), layout="padded"))


def _alignment() -> Iterator[Case]:
    # tile-ai/tilelang #2526, apache/tvm #8540, triton-lang/triton #1330.
    for dtype in ("uint8", "float16", "float32", "float64"):
        for size in (1, 7, 16, 33, 70, 4096):
            for a, b, target in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (3, 7, 15)):
                inputs = _t((size,), dtype, offset=a), _t((size,), dtype, offset=b)
                yield _case(f"misaligned/{dtype}/{size}-{a}-{b}-{target}", *inputs, _t((size,), dtype, offset=target))
    pitched, packed = _t((64, 1184), "float16", strides=(1185, 1)), _t((64, 1184), "float16")
    yield _case("misaligned/float16/pitch", pitched, packed, pitched)


def _values() -> Iterator[Case]:
    for dtype in INTEGERS:  # every sum that wraps, both signs
        yield _case(f"value/wrap/{dtype}", _t((4097,), dtype, fill=bits), _t((4097,), dtype, fill=bits))
    yield _case("value/wrap/uint64-near-top", _t((3,), "uint64", fill=cycle([5])), _t((3,), "uint64", fill=bits))
    for dtype in FLOATS:
        ends = specials(dtype)
        column, row = (len(ends), 1), (len(ends),)
        yield _case(f"value/special-pairs/{dtype}", _t(column, dtype, fill=cycle(ends)), _t(row, dtype, fill=cycle(ends)))
        yield _case(f"value/any-bits/{dtype}", _t((65, 257), dtype, fill=bits), _t((65, 257), dtype, fill=bits))
        # Halfway cases: 1 + k ulp/4, k odd and even, must round to even.
        steps = cycle([k * 2.0**-e for e in (9, 10, 12, 13, 25, 26, 54, 55) for k in (-3, -1, 1, 3)])
        yield _case(f"value/ties/{dtype}", _t((4096,), dtype, fill=constant(1.0)), _t((4096,), dtype, fill=steps))
        yield _case(f"value/cancel/{dtype}", _t((999,), dtype, fill=scaled(1e4)), _t((999,), dtype, fill=scaled(1e-4)))
    for dtype in COMPLEX:
        yield _case(f"value/any-bits/{dtype}", _t((257,), dtype, fill=bits), _t((257,), dtype, fill=bits))
    # pytorch/pytorch #188546: results below the normal range are kept.
    small = _t((66,), fill=cycle([1e-39, 2e-39, 1e-45])), _t((66,), fill=cycle([0.0, -1e-39, 1e-45]))
    yield _case("value/subnormal-results", *small)


def _aliasing() -> Iterator[Case]:
    for dtype in ("int16", "bfloat16", "float32", "float64"):
        for layout in ("contiguous", "transposed", "stepped"):
            shape = (9, 33)
            case = _case(f"in-place/{dtype}/{layout}", _t(shape, dtype, layout=layout), _t(shape, dtype))
            yield replace(in_place(case, "a"), name=f"in-place/{dtype}/{layout}-a")
            other = _case("", _t(shape, dtype), _t(shape, dtype, layout=layout))
            yield replace(in_place(other, "b"), name=f"in-place/{dtype}/{layout}-b")
        same = _case(f"in-place/{dtype}/both", _t((1025,), dtype), Tensor(dtype, (1025,), memory_of="a"))
        yield in_place(same, "a")
    # A tail that is done again, over what has been written, adds twice; lines are cut at about 21845 elements of 2 bytes.
    for dtype, size in product(("float16", "complex32"), (1025, 30001)):
        case = _case(f"in-place/{dtype}/{size}", _t((size,), dtype), _t((size,), dtype))
        yield replace(in_place(case, "a"), name=f"in-place/{dtype}/{size}-a")
        yield replace(in_place(case, "b"), name=f"in-place/{dtype}/{size}-b")
    odd = Tensor("float32", (100,), strides=(2,), memory_of="a", offset=1)
    yield _case("interleaved/even-odd", _t((100,), strides=(2,)), _t((100,)), odd)
    yield _case("interleaved/inputs-overlap", _t((99,)), Tensor("float32", (99,), memory_of="a", offset=1))


def _overlaps() -> Iterator[Case]:
    square = Tensor("float32", (2, 2), layout="transposed", memory_of="a")
    fields: dict[str, Any] = {"stage": "execute"}
    a_out = Tensor("float32", (2, 2), memory_of="a")
    # pytorch/pytorch #48401: a += a^T.
    yield _refused("overlap/own-transpose", _t((2, 2)), square, a_out, INVALID, "overlaps b", **fields)
    big = Tensor("float32", (64, 64), layout="transposed", memory_of="a")
    a_out = Tensor("float32", (64, 64), memory_of="a")
    yield _refused("overlap/own-transpose-64", _t((64, 64)), big, a_out, INVALID, "overlaps b", **fields)
    # pytorch/pytorch #135487: in place with a column or a row of itself, at both sizes.
    for shape in ((1, 2), (2, 2), (64, 40)):
        column = Tensor("float32", (shape[0], 1), strides=(shape[1], 1), memory_of="a")
        out = Tensor("float32", shape, memory_of="a")
        yield _refused(f"overlap/own-column-{shape_text(shape)}", _t(shape), column, out, INVALID, "overlaps b", **fields)
    row = Tensor("float32", (40,), memory_of="a", offset=40)
    yield _refused("overlap/own-row", _t((8, 40)), row, Tensor("float32", (8, 40), memory_of="a"), INVALID, "overlaps b", **fields)
    # pytorch/pytorch #23812: a[1:] += a[:-1].
    for offset in (1, -1, 64):
        out = Tensor("float32", (20, 10), memory_of="a", offset=offset)
        yield _refused(f"overlap/shifted-{offset}", _t((20, 10)), _t((20, 10)), out, INVALID, "overlaps a", **fields)


def _refusals() -> Iterator[Case]:
    for name, strides in (("column", (1, 0)), ("windows", (1, 1)), ("one-element", (0, 0))):  # pytorch/pytorch #89301
        out = _t((5, 5), strides=strides)
        yield _refused(f"out-writes-twice/{name}", _t((5, 5)), _t((5, 5)), out, INVALID, "out has several elements at one address")
    text = "which do not broadcast"
    for a, b in (((2, 3), (2, 4)), ((3,), (2,)), ((2, 3), (3, 2)), ((0,), (2,))):
        yield _refused(f"shape/{shape_text(a)}+{shape_text(b)}", _t(a), _t(b), _t(a), INVALID, text, allocate={})
    for name, out in (("small", (1, 3)), ("rank", (3,)), ("large", (4, 2, 3))):
        text = "expected (2, 3), the broadcast of a and b"
        yield _refused(f"out-shape/{name}", _t((2, 3)), _t((3,)), _t(out), INVALID, text)
    flags = _t((3,), "bool")
    yield _refused("dtype/bool", flags, flags, flags, UNSUPPORTED, "bool + bool to bool", allocate={})
    # pytorch/pytorch #89565, #58489, #65685: no promotion, whatever the rank.
    for a, b, out in (
        ("float16", "float64", "float64"), ("uint8", "int64", "uint8"), ("int8", "float64", "float64"),
        ("int32", "uint32", "int32"), ("float32", "bfloat16", "float32"), ("float32", "complex64", "complex64"),
        ("bool", "int64", "int64"), ("float16", "bfloat16", "float32"),
    ):  # fmt: skip
        for rank, shape in (("1d", (1,)), ("0d", ())):
            text = f"{a} + {b} to {out} is not supported"
            yield _refused(f"dtype/{a}+{b}-{rank}", _t((1,), a), _t(shape, b), _t((1,), out), UNSUPPORTED, text)
    yield _refused("dtype/out", _t((3,)), _t((3,)), _t((3,), "float64"), UNSUPPORTED, "float32 + float32 to float64")
    for name in ("a", "b", "out"):
        a, b, out = (_t((8,), offset_bytes=1 if key == name else 0) for key in ("a", "b", "out"))
        yield _refused(f"unaligned/{name}", a, b, out, INVALID, f"{name} is", "execute")
    # cupy/cupy #563, pytorch/pytorch #59868: a Python number is no tensor.
    number = _t((4,), wrap=lambda tensor: 2**63)
    yield _refused("not-a-tensor", _t((4,)), number, _t((4,)), NO_TENSOR, "b is a int, expected a tensor", "tensor", allocate={})
    of_torch, of_numpy = _t((4,), kind="torch"), _t((4,), kind="numpy")
    text = "b is a numpy.ndarray, expected a torch.Tensor"
    yield _refused("mixed-kinds", of_torch, of_numpy, of_torch, INVALID, text, "tensor", allocate={})
    # pytorch/pytorch #184379: a lazy negation is not in the bytes.
    negated = _t((4,), "complex64", wrap=lambda tensor: tensor.conj().imag)
    yield _refused("lazy-negative", _t((4,)), negated, _t((4,)), INVALID, "negative bit is set", "tensor", allocate={})
    grad = _t((4,), wrap=lambda tensor: tensor.requires_grad_())
    yield _refused("requires-grad", _t((4,)), grad, _t((4,)), "RuntimeError", "b requires grad", "tensor", allocate={})


def _benchmarks() -> Iterator[Case]:
    for name, a, b in (
        ("4KB", (1024,), (1024,)), ("4MB", (1 << 20,), (1 << 20,)), ("64MB", (1 << 24,), (1 << 24,)),
        ("row-2048x1024", (2048, 1024), (1024,)), ("column-2048x1024", (2048, 1024), (2048, 1)),
    ):  # fmt: skip
        cost = Cost.LARGE if a[0] > 1 << 22 else Cost.NORMAL
        yield _case(f"bench/{name}", _t(a), _t(b), benchmark=True, cost=cost)
    yield _case("bench/16-bit-2MB", _t((1 << 20,), "bfloat16"), _t((1 << 20,), "bfloat16"), benchmark=True, cost=Cost.NORMAL)


def cases() -> list[Case]:
    values = [*_sizes(), *_layouts(), *_broadcasts(), *_alignment(), *_values(), *_aliasing()]
    return [*values, *_overlaps(), *_refusals(), *_benchmarks()]
