"""Cases of reduce_sum: any dimensions and layout, and sums that show a narrow accumulator, a serial chain, an unwritten output."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
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
    shape_text,
)
from operator_runtime_testing.dtypes import ALL, FLOATS, INTEGERS, Array
from operator_runtime_testing.layouts import EMPTY_SHAPES, LAYOUTS, SHAPES_OF_EVERY_RANK, SIZES
from operator_runtime_testing.values import Fill, bits, constant, cycle, normal, scaled, stored, with_at, with_points

Shape = tuple[int, ...]
Dims = int | tuple[int, ...] | list[int] | None
INF, NAN = math.inf, math.nan


def axes(dim: Dims, ndim: int) -> tuple[int, ...]:
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return tuple(range(ndim))
    return tuple(d % ndim if ndim else 0 for d in ([dim] if isinstance(dim, int) else dim))


def kept_shape(shape: Shape, dim: Dims, keepdim: bool) -> Shape:
    reduced = axes(dim, len(shape))
    return tuple(1 if d in reduced else size for d, size in enumerate(shape) if keepdim or d not in reduced)


def reference(x: Array, dim: Dims = None, keepdim: bool = False) -> Array:
    """Integers modulo 2^64, floats in longdouble (64 bits of significand), and +0 for what is empty or -0 throughout."""
    reduced = axes(dim, x.ndim) if x.ndim else ()
    if x.dtype.kind in "iub":
        return np.asarray(np.sum(x.astype(np.uint64), axis=reduced, keepdims=keepdim).astype(np.uint64)).view(np.int64)
    return np.asarray(np.sum(x, axis=reduced, keepdims=keepdim, dtype=np.longdouble) + np.longdouble(0))


def _bound(accumulator: type[np.floating[Any]]) -> Any:
    """(64 + log2 n) u sum|x|: no value passes through more than 64 additions in a row and log2 n levels of combination.

    There is no bound where finite values add up, in absolute value, to more than the accumulator holds: the contract fixes no order
    of addition, and in some order a partial sum is infinite.
    """
    info = np.finfo(accumulator)
    unit = float(info.eps) / 2

    def bound(want: Array, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array:
        x = inputs[0]
        reduced = axes(attributes.get("dim"), x.ndim) if x.ndim else ()
        n = math.prod(x.shape[d] for d in reduced)
        magnitude = np.sum(np.abs(x), axis=reduced, dtype=np.longdouble).reshape(want.shape)
        magnitude = np.where(np.isfinite(magnitude), magnitude, 0)  # the sum of infinities and NaN is one, exactly
        return np.where(magnitude > info.max, INF, (64 + math.log2(max(n, 1))) * unit * magnitude)

    return bound


# The contract's own bound. float16 and bfloat16 accumulate in float32, so theirs is the same before the one rounding at the end.
# It rejects an accumulator of 16 bits: 2^-11 is 2^13 times 2^-24, and n = 1000 ones come out as 256 in bfloat16.
_FLOAT32 = Tolerance("(64 + log2 n) 2^-24 sum|x|, then one rounding", _bound(np.float32))
TOLERANCES = {
    "float16": _FLOAT32,
    "bfloat16": _FLOAT32,
    "float32": _FLOAT32,
    "float64": Tolerance("(64 + log2 n) 2^-53 sum|x|, against longdouble", _bound(np.float64)),
    "int64": Tolerance("integer addition modulo 2^64 is exact"),
}


def baseline(torch: Any, out: Any, x: Any, dim: Dims = None, keepdim: bool = False) -> Any:
    return torch.sum(x, dim=axes(dim, x.ndim) if x.ndim else 0, keepdim=keepdim, out=out)


def result_dtype(dtype: str) -> str:
    return dtype if dtype in FLOATS else "int64"


def _case(name: str, x: Tensor, dim: Dims = None, keepdim: bool = False, out: Tensor | str = "", **fields: Any) -> Case:
    if isinstance(out, str):
        dtype = out or result_dtype(x.dtype)
        if dtype != result_dtype(x.dtype):
            fields = {"allocate": {"dtype": dtype}, **fields}
        out = Tensor(dtype, kept_shape(x.shape, dim, keepdim))
    fields = {"attributes": {"dim": dim, "keepdim": keepdim}, "flops": x.num_elements, **fields}
    tolerance = TOLERANCES[out.dtype]
    return Case("reduce_sum", name, {"x": x}, out, reference=reference, tolerance=tolerance, baseline=baseline, **fields)


def _x(shape: Shape, dtype: str = "float32", fill: Fill = normal, **fields: Any) -> Tensor:
    return Tensor(dtype, shape, fill=fill, **fields)


def _sizes() -> Iterator[Case]:
    dtypes = tuple(dtype for dtype in ALL if not dtype.startswith("complex"))
    for dtype, size in product(dtypes, SIZES):
        yield _case(f"size/{dtype}/{size}", _x((size,), dtype))
        yield _case(f"size/{dtype}/3x{size}-dim1", _x((3, size), dtype), -1)
        yield _case(f"size/{dtype}/{size}x3-dim0", _x((size, 3), dtype), 0)
    for dtype, size in product(("float16", "float32", "int32"), (1, 17, 33, 129, 1025)):
        yield _case(f"size/{dtype}/2x{size}x5-dim1", _x((2, size, 5), dtype), 1)
        yield _case(f"size/{dtype}/{size}x257-dim0", _x((size, 257), dtype), 0)
    # NVIDIA/cccl #9771, #592: exact multiples of a chunk, and one beside them. Ones make every lost element visible.
    for chunk, times in product((64, 128, 256, 512, 2048, 4096, 8192, 65536), (1, 2, 3)):
        for size in (chunk * times - 1, chunk * times, chunk * times + 1):
            yield _case(f"chunk/{chunk}x{times}/{size}", _x((size,), "int8", constant(1)))
    for rows in (65535, 65536, 65537):  # ml-explore/mlx #2267
        yield _case(f"many-rows/{rows}x7", _x((rows, 7)), 1, cost=Cost.NORMAL)
        yield _case(f"many-rows/7x{rows}-dim0", _x((7, rows)), 0, cost=Cost.NORMAL)
    # Columns of one value, where the rounding errors of a long chain of additions all have one sign.
    yield _case("long/70000x200-dim0-constant", _x((70000, 200), "float32", constant(0.1)), 0, cost=Cost.NORMAL)
    yield _case("long/3x1000003", _x((3, 1000003)), 1, cost=Cost.NORMAL)
    yield _case("long/1000003x3-dim0", _x((1000003, 3)), 0, cost=Cost.NORMAL)
    for dtype in ("float32", "float64"):  # parts of unequal length, added for several outputs
        yield _case(f"long/{dtype}/2x1000003", _x((2, 1000003), dtype, constant(1.0)), 1, cost=Cost.NORMAL)
    # Rows enough for several pieces of work, each of many rows: none is left out at the end of a piece.
    yield _case("many-rows/5000x100", _x((5000, 100)), 1)
    # Long lines of one value, contiguous and with a step.
    yield _case("long/33x50000-constant", _x((33, 50000), "float64", constant(0.1)), 1, cost=Cost.NORMAL)
    stepped = _x((9, 200000), "float32", constant(0.1), strides=(400000, 2))
    yield _case("long/9x200000-stepped-constant", stepped, 1, cost=Cost.NORMAL)


def _dims() -> Iterator[Case]:
    shape = (2, 3, 4, 5)
    # cupy/cupy #4062, #2720: every subset of dimensions, with and without keepdim, in C order, F order and between.
    for count in range(1, 5):
        for dims in combinations(range(4), count):
            for layout, keepdim in product(("contiguous", "transposed", "rotated", "padded"), (False, True)):
                name = f"dims/{layout}/{''.join(map(str, dims))}{'-keepdim' if keepdim else ''}"
                yield _case(name, _x(shape, layout=layout), dims, keepdim)
    for dim in range(-4, 4):  # pytorch/pytorch #3238: a dim and its negative twin
        yield _case(f"dims/one/{dim}", _x(shape), dim)
    yield _case("dims/mixed-signs", _x(shape), (0, -1), True)
    yield _case("dims/any-order", _x(shape), (3, 0, 2))
    yield _case("dims/list", _x(shape), [1, 2])
    yield _case("dims/default", _x(shape), attributes={})
    for keepdim in (False, True):  # cupy/cupy #4023, pytorch/pytorch #29137: no dimensions named is all of them
        yield _case(f"dims/empty-tuple/{keepdim}", _x(shape), (), keepdim)
        yield _case(f"dims/none/{keepdim}", _x(shape), None, keepdim)
    for rank_shape in SHAPES_OF_EVERY_RANK:
        yield _case(f"rank/{len(rank_shape)}-all", _x(rank_shape))
        yield _case(f"rank/{len(rank_shape)}-last", _x(rank_shape), -1)
        yield _case(f"rank/{len(rank_shape)}-first", _x(rank_shape, layout="rotated"), 0, True)
    for dim in (0, -1, None, ()):  # pytorch/pytorch #46999
        yield _case(f"rank/0-dim{dim if dim != () else 'empty'}", _x((), "float64", constant(0.15)), dim, out=Tensor("float64", ()))
    # pytorch/pytorch #117222: what is empty along the sum is written as zero; apache/mxnet #17792.
    for empty in (*EMPTY_SHAPES, (2, 2, 0, 3), (3, 0, 4)):
        for dim in range(len(empty)):
            yield _case(f"empty/{shape_text(empty)}-dim{dim}", _x(empty), dim, True)
        yield _case(f"empty/{shape_text(empty)}-all", _x(empty, "int32"))
    yield _case("empty/out-padded", _x((6, 0, 4), "float16"), 1, out=Tensor("float16", (6, 4), "padded"))


def _layouts() -> Iterator[Case]:
    shape = (5, 7, 34)
    for dtype, source, target in product(
        ("bfloat16", "float32", "uint8"), LAYOUTS, ("contiguous", "padded", "transposed", "reversed")
    ):
        numpy_only = LAYOUTS[source].negative or LAYOUTS[target].negative
        if dtype == "bfloat16" and numpy_only:
            continue
        for dim in (0, 1, 2, (0, 2)):
            out = Tensor(result_dtype(dtype), kept_shape(shape, dim, False), target)
            text = "".join(map(str, axes(dim, 3)))
            yield _case(f"layout/{source}-{target}/{dtype}-dim{text}", _x(shape, dtype, layout=source), dim, False, out)
    # flagos-ai/FlagGems #1786: a permuted view, and a slice with a step.
    for dim in range(3):
        yield _case(f"layout/permuted-24/dim{dim}", _x((4, 2, 3), fill=cycle(range(24)), strides=(1, 12, 4)), dim)
        yield _case(f"layout/sliced-24/dim{dim}", _x((2, 2, 3), fill=cycle(range(12)), strides=(12, 8, 1), offset=1), dim)
    # sonos/cumo #215: a last dimension of 1, and a stride of 0.
    yield _case("layout/column/3x1", _x((3, 1), fill=cycle([2, 3, 9])), 0)
    yield _case("layout/column/100000x1", _x((100000, 1)), 0)
    yield _case("layout/expanded/1000x7", _x((1000, 7), strides=(0, 0)), 0)
    # NVIDIA/TransformerEngine #2734: the last stride is 1 and the one before it is not the size.
    yield _case("layout/swapped-outer", _x((3, 2, 5), strides=(5, 15, 1)), -1)
    for stride in (0, 3, -5, 2**40):  # pytorch/pytorch #99803
        yield _case(f"layout/size-one-stride/{stride}", _x((1, 70, 1), strides=(stride, 1, stride)), 1)
    # tile-ai/tilelang #2526, triton-lang/triton #1330.
    for dtype, size, offset in product(("uint8", "float16", "float32", "float64"), (1, 7, 33, 70, 4096), (1, 3, 7)):
        yield _case(f"misaligned/{dtype}/{size}-{offset}", _x((size,), dtype, offset=offset))
    for dtype in ("float16", "float32"):
        yield _case(f"misaligned/{dtype}/pitch", _x((64, 1184), dtype, strides=(1185, 1)), 1)
        yield _case(f"misaligned/{dtype}/pitch-dim0", _x((64, 1184), dtype, strides=(1185, 1)), 0)


def _values() -> Iterator[Case]:
    for dtype in ("float16", "bfloat16"):  # pytorch/pytorch #32750: a wider result on request
        yield _case(f"value/to-float32/{dtype}/8", _x((8,), dtype, cycle(range(1, 9))), out="float32")
        yield _case(f"value/to-float32/{dtype}/70000", _x((70000,), dtype, constant(1.0)), out="float32")
        for size in SIZES:
            yield _case(f"value/to-float32/{dtype}/3x{size}", _x((3, size), dtype), 1, True, "float32")
    for dim, shape in ((None, (8,)), (0, (8,)), (0, (8, 3)), (1, (3, 8))):  # pytorch/pytorch #2391
        large = cycle([32000] * 4 + [-32000] * 4) if shape != (8, 3) else cycle([32000] * 12 + [-32000] * 12)
        yield _case(f"value/cancel/float16/{shape_text(shape)}-{dim}", _x(shape, "float16", large), dim)
    for shape, dim in (((3000, 115), 0), ((115, 3000), 1), ((7, 3000, 5), 1)):  # numpy/numpy #15785
        yield _case(f"value/ones/float16/{shape_text(shape)}", _x(shape, "float16", constant(1.0)), dim)
    for size, out in product((65519, 65520), ("", "float32")):  # numpy/numpy #7930
        yield _case(f"value/ones/float16/{size}{out}", _x((size,), "float16", constant(1.0)), out=out)
    for size in (257, 1000, 100000):  # jax-ml/ml_dtypes #63
        yield _case(f"value/ones/bfloat16/{size}", _x((size,), "bfloat16", constant(1.0)))
    yield _case("value/uniform/bfloat16/20000", _x((20000,), "bfloat16", scaled(0.1, 0.5)))
    # pytorch/pytorch #19164, #59863, #38716, numpy/numpy #22956: where a serial float32 chain loses bits or stops.
    tenths = _x((5, 68, 64, 64), fill=constant(0.1))
    yield _case("value/tenths", tenths, cost=Cost.NORMAL)
    yield _case("value/tenths-dim2", tenths, (0, 2), cost=Cost.NORMAL)
    symmetric = _x((4096000,), fill=lambda g, dtype, shape: np.arange(-2047999.5, 2048000.0, dtype=np.float32))
    yield _case("value/symmetric", symmetric, cost=Cost.NORMAL)
    for shape, dim in (((1 << 21, 3), 0), ((3, 1 << 21), 1)):
        yield _case(f"value/column/{shape_text(shape)}", _x(shape, fill=constant(0.4790)), dim, cost=Cost.NORMAL)
    for shape, dim in (((20000000, 2), 0), ((2, 20000000), 1)):
        yield _case(f"value/ones/float32/{shape_text(shape)}", _x(shape, fill=constant(1.0)), dim, cost=Cost.LARGE)
    for dtype in FLOATS:
        yield _case(f"value/alternating/{dtype}", _x((4097,), dtype, cycle([1e4, 1.0, -1e4])))
        yield _case(f"value/alternating-rows/{dtype}", _x((1025, 33), dtype, cycle([6e4, 1.0, -6e4, 0.5])), 0)
        yield _case(f"value/1e4/{dtype}", _x((65, 129), dtype, scaled(1e4)), 1)
        yield _case(f"value/any-bits/{dtype}", _x((33, 17), dtype, bits), 1)
        for size in (1, 33, 5000):
            for place in {0, size // 2, size - 1}:
                for name, value in (("nan", NAN), ("inf", INF), ("minus-inf", -INF)):
                    yield _case(f"value/{name}/{dtype}/{size}-{place}", _x((2, size), dtype, with_at(normal, {place: value})), 1)
            # JuliaLang/julia #11618: -0 throughout gives +0 at every length.
            yield _case(f"value/minus-zero/{dtype}/{size}", _x((size,), dtype, constant(-0.0)))
            yield _case(f"value/minus-zero/{dtype}/{size}x3", _x((size, 3), dtype, constant(-0.0)), 0)
        for name, value in (("nan", NAN), ("inf", INF), ("minus-inf", -INF)):
            column = with_points(normal, [(3, 4, value), (99, 29, value)])
            yield _case(f"value/{name}/{dtype}/100x30-dim0", _x((100, 30), dtype, column), 0)
        yield _case(f"value/both-infinities/{dtype}", _x((2, 70), dtype, with_at(normal, {3: INF, 66: -INF})), 1)
    # pytorch/pytorch #188546
    yield _case("value/subnormals", _x((1000,), fill=constant(1e-42)))
    yield _case("value/subnormals-rows", _x((3, 1000), fill=scaled(1e-40)), 1)


def _integers() -> Iterator[Case]:
    # pytorch/pytorch #5863, #3738: narrow integers sum in 64 bits.
    yield _case("integer/552/uint8", _x((3,), "uint8", cycle([250, 202, 100])), 0)
    yield _case("integer/256/uint8", _x((4, 4), "uint8", cycle([64, 0, 0, 0, 0])))
    yield _case("integer/int32-top", _x((2,), "int32", cycle([2**31 - 1])))
    for dtype in INTEGERS:
        yield _case(f"integer/any-bits/{dtype}", _x((7, 1025), dtype, bits), 1)
        yield _case(f"integer/any-bits/{dtype}-dim0", _x((1025, 7), dtype, bits), 0)
    for dtype in ("int64", "uint64"):  # modulo 2^64
        yield _case(f"integer/wrap/{dtype}", _x((5,), dtype, lambda g, name, shape: np.full(shape, 2**63 - 1, name)))
    # IntelPython/dpnp #3054: a bool counts its non-zero bytes, whatever they are.
    raw = _x((6,), "bool", stored([0, 1, 2, 255, 3, 0]))
    yield _case("integer/bool-bytes", raw)
    yield _case("integer/bool-any-bytes", _x((65, 257), "bool", bits), 1)
    for width in (13, 65):
        yield _case(f"integer/bool-any-bytes-stepped/{width}", _x((9, width), "bool", bits, strides=(2 * width, 2)), 1)
    yield _case("integer/bool-any-bytes-dim0", _x((1000, 33), "bool", bits), 0)


def _refused(
    name: str, x: Tensor, exception: str, text: str, out: Tensor | None = None, stage: str = "create", **fields: Any
) -> Case:
    out = out if out is not None else Tensor(result_dtype(x.dtype), ())
    return Case("reduce_sum", f"refused/{name}", {"x": x}, out, refusal=Refusal(exception, text, stage), **fields)


def _refusals() -> Iterator[Case]:
    x = _x((2, 3, 4, 5))
    for dim, text in (
        (4, "dim is 4, expected -4..3 for a 4-D input"), (-5, "dim is -5, expected -4..3"), ((0, 7), "dim is 7, expected -4..3"),
        ((0, 0), "dim 0 appears twice"), ((0, -4), "dim -4 appears twice"), ((1, 2, 1), "dim 1 appears twice"),
    ):  # fmt: skip
        label = "".join(map(str, dim)) if isinstance(dim, tuple) else str(dim)
        yield _refused(f"dim/{label}", x, BAD_DIM, text, attributes={"dim": dim})
    for dim in (1, -2):
        yield _refused(f"dim/scalar-{dim}", _x(()), BAD_DIM, f"dim is {dim}, expected", attributes={"dim": dim})
    for name, bad in (("text", "0"), ("float", 1.0), ("nested", ((0,),))):
        yield _refused(f"dim-type/{name}", x, NO_TENSOR, "expected an integer", None, "tensor", attributes={"dim": bad})
    for out_shape, keepdim in (((2, 3, 4, 1), False), ((2, 3, 4), True), ((2, 4, 3), False), ((), False)):
        want = "(2, 3, 4, 1)" if keepdim else "(2, 3, 4)"
        out = _x(out_shape)
        fields: dict[str, Any] = {"attributes": {"dim": -1, "keepdim": keepdim}, "allocate": None}
        yield _refused(f"out-shape/{shape_text(out_shape)}", x, INVALID, f"expected {want}", out, **fields)
    for source, target in (
        ("float32", "float64"), ("float64", "float32"), ("float32", "float16"), ("float16", "bfloat16"), ("float16", "float64"),
        ("int32", "int32"), ("uint8", "uint8"), ("uint64", "uint64"), ("bool", "bool"), ("int64", "float32"), ("float32", "int64"),
        ("bool", "float32"), ("complex64", "complex64"), ("complex64", "float32"), ("complex32", "complex32"),
    ):  # fmt: skip
        text = f"{source} to {target} is not supported"
        yield _refused(f"dtype/{source}-{target}", _x((4,), source), UNSUPPORTED, text, Tensor(target, ()), allocate=None)
    yield _refused("out-writes-twice", _x((5, 6)), INVALID, "out has several", Tensor("float32", (5,), strides=(0,)),
                   attributes={"dim": 1}, allocate=None)  # fmt: skip
    # An out inside the input, also where it would be exactly the input: nothing is summed in place.
    inside = Tensor("float32", (8,), memory_of="x")
    yield _refused("overlap/inside", _x((8, 4)), INVALID, "out overlaps", inside, "execute", attributes={"dim": 1}, allocate=None)
    same = Tensor("float32", (8, 1), memory_of="x")
    fields = {"attributes": {"dim": 1, "keepdim": True}, "allocate": None}
    yield _refused("overlap/exactly", _x((8, 1)), INVALID, "expected memory of its own", same, "execute", **fields)
    yield _refused("unaligned", _x((8,), offset_bytes=2), INVALID, "aligned to 4 bytes", None, "execute")
    not_a_tensor = _x((8,), wrap=lambda tensor: tensor.tolist())
    yield _refused("not-a-tensor", not_a_tensor, NO_TENSOR, "x is a list, expected a tensor", None, "tensor")
    # pytorch/pytorch #184379: a lazy negation is not in the bytes.
    negated = _x((4,), "complex64", wrap=lambda tensor: tensor.conj().imag)
    yield _refused("lazy-negative", negated, INVALID, "negative bit is set", Tensor("float32", ()), "tensor")
    grad = _x((8,), wrap=lambda tensor: tensor.requires_grad_())
    yield _refused("requires-grad", grad, "RuntimeError", "x requires grad", None, "tensor")


def _benchmarks() -> Iterator[Case]:
    for name, x, dim in (
        ("4x256", _x((4, 256)), -1), ("1024x1024", _x((1024, 1024)), -1), ("full-4MB", _x((1 << 20,)), None),
        ("full-64MB", _x((1 << 24,)), None), ("1024x4096-dim0", _x((1024, 4096)), 0),
        ("16-bit-1024x1024", _x((1024, 1024), "bfloat16"), -1), ("64x256x64-dim1", _x((64, 256, 64)), 1),
    ):  # fmt: skip
        cost = Cost.LARGE if x.num_elements > 1 << 22 else Cost.NORMAL
        yield _case(f"bench/{name}", x, dim, benchmark=True, cost=cost)


def cases() -> list[Case]:
    return [*_sizes(), *_dims(), *_layouts(), *_values(), *_integers(), *_refusals(), *_benchmarks()]
