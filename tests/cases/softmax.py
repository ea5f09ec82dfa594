"""Cases of softmax: any dimension, any layout, and rows that break a kernel which forgets the maximum, NaN or the accumulator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from operator_runtime_testing.case import (
    BAD_DIM,
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
from operator_runtime_testing.dtypes import ALL, DTYPES, FLOATS, Array
from operator_runtime_testing.layouts import DENSE_OR_GAPPED, EMPTY_SHAPES, LAYOUTS, SHAPES_OF_EVERY_RANK, SIZES
from operator_runtime_testing.values import Fill, bits, constant, cycle, normal, scaled, with_at, with_points

Shape = tuple[int, ...]
INF, NAN = math.inf, math.nan


def reference(x: Array, dim: int = -1) -> Array:
    """In longdouble, so that float64 has a reference of higher precision too; no case of more than 2^20 elements is float64."""
    if x.size == 0:
        return x
    wide = x.astype(np.longdouble if x.size <= 1 << 20 else np.float64).reshape(x.shape or (1,))
    exponentials = np.exp(wide - wide.max(axis=dim, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=dim, keepdims=True)).reshape(x.shape)


def _bound(precision: int) -> Any:
    """Relative error of exp(d) / sum, d = x - max, computed with `precision` bits, u = 2^-precision.

    d is rounded once, which is |d| u in the exponent, exp is good to 2 ulp, 4 u, and the division to u. The sum has the same errors
    in its terms, where |d| counts by the term's weight (its weighted mean over a row is at most ln n), and adds (64 + log2 n) u by
    its additions, as reduce_sum does. A result below the normal range loses two smallest subnormals at most.
    """
    unit = 2.0**-precision
    subnormal = DTYPES["float64" if precision == 53 else "float32"].smallest_subnormal

    def bound(want: Array, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        x = inputs[0].reshape(inputs[0].shape or (1,))
        dim = attributes.get("dim", -1)
        if x.size == 0:
            return np.zeros(want.shape)
        distance = np.minimum(np.abs(x - x.max(axis=dim, keepdims=True)), 1e5).reshape(want.shape)
        n = x.shape[dim]
        return np.asarray(want * unit * (distance + 12 + 64 + 2 * math.log2(n)) + 2 * subnormal)

    return bound


_FLOAT32 = Tolerance("float32 arithmetic throughout; float16 and bfloat16 are rounded once at the end", _bound(24))
TOLERANCES = {
    "float16": _FLOAT32,
    "bfloat16": _FLOAT32,
    "float32": _FLOAT32,
    "float64": Tolerance("float64 arithmetic throughout, against longdouble", _bound(53)),
}


def baseline(torch: Any, out: Any, x: Any, dim: int = -1) -> Any:
    return torch.softmax(x, dim, out=out)


def _case(name: str, x: Tensor, dim: int = -1, out: Tensor | None = None, **fields: Any) -> Case:
    # A subtraction, an exponential, two additions and comparisons, a multiplication: five operations an element.
    fields = {"attributes": {"dim": dim}, "flops": 5 * x.num_elements, **fields}
    tolerance = TOLERANCES[x.dtype]
    return Case("softmax", name, {"x": x}, out, reference=reference, tolerance=tolerance, baseline=baseline, **fields)


def _x(shape: Shape, dtype: str = "float32", fill: Fill = normal, **fields: Any) -> Tensor:
    return Tensor(dtype, shape, fill=fill, **fields)


def _rows(*rows: Sequence[float]) -> Tensor:
    return _x((len(rows), len(rows[0])), fill=cycle([value for row in rows for value in row]))


def _sizes() -> Iterator[Case]:
    for dtype, size in product(FLOATS, SIZES):
        yield _case(f"size/{dtype}/{size}", _x((size,), dtype))
        yield _case(f"size/{dtype}/3x{size}", _x((3, size), dtype))
        yield _case(f"size/{dtype}/{size}x3-dim0", _x((size, 3), dtype), 0)
    for dtype, size in product(("float16", "float32"), (1, 17, 33, 129, 1025)):
        yield _case(f"size/{dtype}/2x{size}x5-dim1", _x((2, size, 5), dtype), 1)
        yield _case(f"size/{dtype}/{size}x257-dim0", _x((size, 257), dtype), 0)
    for shape in SHAPES_OF_EVERY_RANK:  # NVIDIA-AI-IOT/torch2trt #396: every dim, and its negative twin
        for dim in range(-max(len(shape), 1), max(len(shape), 1)):
            yield _case(f"rank/{len(shape)}-dim{dim}", _x(shape), dim)
    # A wrong last element behind a vector loop shows only at these lengths and at a stride of -1.
    for size in (15, 23, 47, 70003, 70015):
        yield _case(f"size/float32/{size}-reversed", _x((size,), "float32", layout="reversed"))
    yield _case("rank/default-dim", _x((4, 9)), attributes={})
    for shape in EMPTY_SHAPES:  # apache/mxnet #17792, pytorch/pytorch #17262
        for dim in range(len(shape)):
            yield _case(f"empty/{shape_text(shape)}-dim{dim}", _x(shape), dim)
    # linkedin/Liger-Kernel #1252, flagos-ai/FlagGems #4376: rows that no tile holds.
    for width in (32767, 32768, 32769, 49152, 65535, 65536, 65537, 102400, 151552, 262144):
        for dtype in FLOATS if width in (32769, 65537) else ("float16", "float32"):
            yield _case(f"wide/{dtype}/{width}", _x((2, width), dtype), cost=Cost.NORMAL)
    yield _case("wide/float32/1000003", _x((1, 1000003)), cost=Cost.NORMAL)
    for width in (1023, 1024, 1025, 2047, 2048, 2049):  # InfiniTensor/InfiniCore #746
        yield _case(f"wide/square/{width}", _x((28, width), "float16"), cost=Cost.NORMAL)
    # pytorch/pytorch #2080, torch/nn #812: a middle dimension before a long inner one.
    yield _case("wide/2x10x68921-dim1", _x((2, 10, 68921)), 1, cost=Cost.NORMAL)
    yield _case("wide/2x1x68921-dim1", _x((2, 1, 68921)), 1)
    for rows in (65535, 65536, 65537):  # ml-explore/mlx #2267
        yield _case(f"many-rows/{rows}x7", _x((rows, 7), "bfloat16"), cost=Cost.NORMAL)


def _layouts() -> Iterator[Case]:
    for dtype, source, target in product(("bfloat16", "float32", "float64"), LAYOUTS, DENSE_OR_GAPPED):
        numpy_only = LAYOUTS[source].negative or LAYOUTS[target].negative
        if dtype == "bfloat16" and numpy_only:
            continue
        for dim in (0, 1, 2):
            shape = (5, 7, 34)
            out = _x(shape, dtype, layout=target)
            yield _case(f"layout/{source}-{target}/{dtype}-dim{dim}", _x(shape, dtype, layout=source), dim, out)
    # flagos-ai/Torch-FL #171: rows of the transpose of 1..12.
    yield _case("layout/transposed-1-to-12", _x((4, 3), fill=cycle(range(1, 13)), layout="transposed"), 1)
    # ROCm/rocm-libraries #11387: an outer stride that skips.
    yield _case("layout/outer-gap", _x((2, 4, 2, 2), strides=(32, 4, 2, 1)), 1)
    # NVIDIA/TransformerEngine #2734: the last stride is 1 and the one before it is not the size.
    yield _case("layout/swapped-outer", _x((3, 2, 5), strides=(5, 15, 1)), -1)
    # pytorch/pytorch #75923: an out with gaps, which must stay as they are.
    yield _case("layout/out-every-second", _x((2, 3)), 0, _x((2, 3), strides=(6, 2)))
    # flagos-ai/FlagGems #4995, openxla/xla #11772: an outer dimension, and one among dimensions of size 1.
    yield _case("layout/32x64-dim0", _x((32, 64)), 0)
    for shape in ((3, 1, 1), (1, 3, 1), (1, 1, 3), (3, 1), (3,)):
        thirds = cycle([0.0, math.log(2), math.log(4)])
        yield _case(f"layout/size-one/{shape_text(shape)}", _x(shape, fill=thirds), shape.index(3))
    for stride in (0, 3, -5, 2**40):
        yield _case(f"layout/size-one-stride/{stride}", _x((1, 70, 1), strides=(stride, 1, stride)), 1)
        yield _case(f"layout/size-one-stride/{stride}-dim", _x((1, 70, 1), strides=(stride, 1, stride)), 0)


def _alignment() -> Iterator[Case]:
    # tile-ai/tilelang #2526; uxlfoundation/oneDNN #3501, triton-lang/triton #1330: rows that start anywhere.
    for dtype, size, (source, target) in product(FLOATS, (1, 7, 33, 70, 4096), ((1, 0), (0, 1), (3, 7))):
        name = f"misaligned/{dtype}/{size}-{source}-{target}"
        yield _case(name, _x((size,), dtype, offset=source), -1, _x((size,), dtype, offset=target))
    for dtype in ("float16", "bfloat16", "float32"):
        yield _case(f"misaligned/{dtype}/pitch", _x((64, 1184), dtype, strides=(1185, 1)), cost=Cost.NORMAL)
        yield _case(f"misaligned/{dtype}/385", _x((1, 1, 77, 385), dtype, offset=1))
        yield _case(f"misaligned/{dtype}/30063", _x((6, 30063), dtype, strides=(30064, 1), offset=1), cost=Cost.NORMAL)


def _values() -> Iterator[Case]:
    finite = [0.5, -1.0, 2.0]
    # pytorch/pytorch #25110: all -inf is NaN, and the neighbours do not notice.
    yield _case("value/all-minus-inf", _rows(finite, [-INF] * 3, finite))
    yield _case("value/all-minus-inf-dim0", _rows([0.5, -INF, 1.0], [1.5, -INF, -INF], [2.5, -INF, 2.0]), 0)
    # pytorch/pytorch #6864: +inf is NaN for its row.
    yield _case("value/plus-inf", _rows([0, INF, 0], [INF, 1, 2], finite, [INF, INF, -INF]))
    yield _case("value/some-minus-inf", _rows([0, -INF, 0], [-INF, 1, 2], [-INF, -INF, 7]))
    for dtype, width in product(FLOATS, (3, 64, 1025, 8192)):  # apache/tvm #19518, triton-lang/triton #7349
        masked = constant(-INF)
        for place in (0, width // 2, width - 1):
            yield _case(f"value/nan-masked/{dtype}/{width}-{place}", _x((2, width), dtype, with_at(masked, {place: NAN})))
            yield _case(f"value/nan/{dtype}/{width}-{place}", _x((2, width), dtype, with_at(normal, {place: NAN})))
            yield _case(f"value/one-unmasked/{dtype}/{width}-{place}", _x((2, width), dtype, with_at(masked, {place: -3.0})))
        yield _case(f"value/all-minus-inf/{dtype}/{width}", _x((2, width), dtype, masked))
    # The same along columns, few and many, and along rows that are split: a column of every kind beside ordinary ones.
    for dtype in FLOATS:
        for rows in (20, 2000):
            name = f"value/columns/{dtype}/{rows}"
            yield _case(f"{name}-nan", _x((rows, 30), dtype, with_points(normal, [(3, 4, NAN), (rows - 1, 29, NAN)])), 0)
            masked = with_points(normal, [*((slice(None), column, -INF) for column in (4, 7, 29)), (rows - 1, 7, -3.0)])
            yield _case(f"{name}-masked", _x((rows, 30), dtype, masked), 0)
            yield _case(f"{name}-200", _x((rows, 30), dtype, constant(200.0)), 0)
        name, long = f"value/long-rows/{dtype}", (2, 70000)
        for place in (5, 69999):
            nan, unmasked = with_points(normal, [(0, place, NAN)]), with_at(constant(-INF), {place: -3.0})
            yield _case(f"{name}-nan-{place}", _x(long, dtype, nan), cost=Cost.NORMAL)
            yield _case(f"{name}-one-unmasked-{place}", _x(long, dtype, unmasked), cost=Cost.NORMAL)
        masked = with_points(normal, [(0, slice(None), -INF)])
        yield _case(f"{name}-all-minus-inf", _x(long, dtype, masked), cost=Cost.NORMAL)
        yield _case(f"{name}-200", _x(long, dtype, constant(200.0)), cost=Cost.NORMAL)
    # bytedance/lightseq #74: every logit far below zero, and fewer of them than lanes.
    for dtype, width in product(FLOATS, (1, 2, 3, 17, 31, 32, 33, 1000)):
        yield _case(f"value/negative/{dtype}/{width}", _x((3, width), dtype, scaled(1.0, -200.0)))
    # tenstorrent/tt-metal #52131: exp would overflow without the maximum.
    for dtype in FLOATS:
        yield _case(f"value/hundreds/{dtype}", _x((3,), dtype, cycle([100, 101, 102])))
        yield _case(f"value/1e4/{dtype}", _x((2,), dtype, cycle([1e4, 0])))
        yield _case(f"value/1e4-rows/{dtype}", _x((5, 999), dtype, scaled(1e4)))
        yield _case(f"value/88.8/{dtype}", _x((4,), dtype, constant(88.8)))
        yield _case(f"value/uniform/{dtype}", _x((3, 1000), dtype, constant(1.25)))
        yield _case(f"value/any-bits/{dtype}", _x((65, 33), dtype, bits))
        yield _case(f"value/alternating/{dtype}", _x((3, 1001), dtype, cycle([6e4, -6e4])))
        yield _case(f"value/spike/{dtype}", _x((3, 4097), dtype, with_at(normal, {4096: 30.0})))
    yield _case("value/65000/float16", _x((2,), "float16", cycle([6.5e4, 6.5e4 - 32])))
    # pytorch/pytorch #38839: a large offset, already rounded into the input.
    yield _case("value/offset-1e7", _x((4, 3), fill=scaled(3.0, -1e7)))
    # pytorch/pytorch #188546: exp(-88) / (1 + exp(-88)) is subnormal.
    yield _case("value/subnormal-result", _x((2,), fill=cycle([0, -88])))
    yield _case("value/subnormal-results", _x((3, 200), fill=with_at(scaled(3.0, -95.0), {7: 0.0})))
    yield _case("value/subnormal-inputs", _x((3, 200), fill=scaled(1e-40)))
    # jax-ml/ml_dtypes #63, tenstorrent/tt-metal #52045: a 16-bit accumulator stops at 256.
    for dtype, width in product(("bfloat16", "float16"), (512, 1000, 8192, 65536)):
        yield _case(f"value/uniform/{dtype}/{width}", _x((1, width), dtype, constant(0.0)), cost=Cost.NORMAL)
        yield _case(f"value/accumulate/{dtype}/{width}", _x((2, width), dtype), cost=Cost.NORMAL)


def _aliasing() -> Iterator[Case]:
    # tenstorrent/tt-metal #45200: in place, on the path of wide rows too.
    for dtype, width in product(("float16", "float32"), (7, 1024, 8192, 65537, 151552)):
        cost = Cost.QUICK if width < 10000 else Cost.NORMAL
        yield in_place(_case(f"in-place/{dtype}/{width}", _x((2, width), dtype), cost=cost), "x")
    for layout, dim in product(("transposed", "stepped"), (0, 1)):
        yield in_place(_case(f"in-place/{layout}-dim{dim}", _x((33, 65), layout=layout), dim), "x")
    out = Tensor("float32", (9, 33), strides=(66, 2), memory_of="x", offset=1)
    yield _case("interleaved/even-odd", _x((9, 33), strides=(66, 2)), -1, out)


def _refused(
    name: str, x: Tensor, exception: str, text: str, out: Tensor | None = None, stage: str = "create", **fields: Any
) -> Case:
    fields = {"attributes": {"dim": -1}, **fields}
    return Case("softmax", f"refused/{name}", {"x": x}, out, refusal=Refusal(exception, text, stage), **fields)


def _refusals() -> Iterator[Case]:
    for offset in (8192, -8192, 1):  # ggml-org/ggml #1521
        shifted = Tensor("float32", (4, 8192), memory_of="x", offset=offset)
        yield _refused(f"overlap/{offset}", _x((4, 8192)), INVALID, "overlaps", shifted, "execute", allocate=None)
    for dim, shape, text in (
        (3, (2, 3), "dim is 3, expected -2..1 for a 2-D input"), (2, (2, 3), "dim is 2, expected -2..1 for a 2-D input"),
        (-3, (2, 3), "dim is -3, expected -2..1"), (-5, (2, 3, 4, 5), "dim is -5, expected -4..3 for a 4-D input"),
        (4, (2, 3, 4, 5), "dim is 4, expected -4..3"), (1, (), "dim is 1, expected"), (-2, (), "dim is -2, expected"),
    ):  # fmt: skip
        yield _refused(f"dim/{shape_text(shape)}-dim{dim}", _x(shape), BAD_DIM, text, attributes={"dim": dim})
    for name, bad in (("text", "0"), ("float", 1.0), ("none", None), ("tuple", (0,))):
        yield _refused(
            f"dim-type/{name}",
            _x((2, 3)),
            NO_TENSOR,
            f"dim is a {type(bad).__name__}, expected an integer",
            None,
            "tensor",
            attributes={"dim": bad},
        )
    for dtype in ALL:
        if dtype not in FLOATS:
            yield _refused(f"dtype/{dtype}", _x((4,), dtype), UNSUPPORTED, f"{dtype} to {dtype} is not supported")
    for source, target in (("float16", "float32"), ("float32", "float16"), ("bfloat16", "float16"), ("int64", "float32")):
        text = f"{source} to {target} is not supported"
        yield _refused(f"dtype/{source}-{target}", _x((4,), source), UNSUPPORTED, text, _x((4,), target), allocate=None)
    text = "out has shape (3, 2), expected (2, 3)"
    yield _refused("out-shape", _x((2, 3)), INVALID, text, _x((3, 2)), allocate=None)
    for name, strides in (("row", (0, 1)), ("windows", (1, 1))):
        out = _x((5, 5), strides=strides)
        yield _refused(f"out-writes-twice/{name}", _x((5, 5)), INVALID, "out has several elements", out, allocate=None)
    yield _refused("unaligned", _x((8,), offset_bytes=2), INVALID, "aligned to 4 bytes", None, "execute")
    not_a_tensor = _x((8,), wrap=lambda tensor: tensor.tolist())
    yield _refused("not-a-tensor", not_a_tensor, NO_TENSOR, "x is a list, expected a tensor", None, "tensor")
    grad = _x((8,), wrap=lambda tensor: tensor.requires_grad_())
    yield _refused("requires-grad", grad, "RuntimeError", "x requires grad", None, "tensor")


def _benchmarks() -> Iterator[Case]:
    for name, x, dim in (
        ("4x256", _x((4, 256)), -1), ("1024x1024", _x((1024, 1024)), -1), ("4096x4096", _x((4096, 4096)), -1),
        ("16-bit-1024x1024", _x((1024, 1024), "bfloat16"), -1), ("1024x1024-dim0", _x((1024, 1024)), 0),
        ("8x151552", _x((8, 151552)), -1),
    ):  # fmt: skip
        cost = Cost.LARGE if x.num_elements > 1 << 22 else Cost.NORMAL
        yield _case(f"bench/{name}", x, dim, benchmark=True, cost=cost)


def cases() -> list[Case]:
    return [*_sizes(), *_layouts(), *_alignment(), *_values(), *_aliasing(), *_refusals(), *_benchmarks()]
