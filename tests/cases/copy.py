"""Cases of copy: bits must arrive as they left, through any pair of layouts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from operator_runtime_testing.case import INVALID, NO_TENSOR, UNSUPPORTED, Case, Cost, Refusal, Tensor, in_place, shape_text
from operator_runtime_testing.dtypes import ALL
from operator_runtime_testing.layouts import DENSE_OR_GAPPED, EMPTY_SHAPES, LAYOUTS, SHAPES_OF_EVERY_RANK, SIZES, permuted_strides
from operator_runtime_testing.values import bits, cycle, stored


def baseline(torch: Any, out: Any, x: Any) -> Any:
    return x.clone() if out is None else out.copy_(x)


def _case(name: str, x: Tensor, out: Tensor | None = None, **fields: Any) -> Case:
    return Case("copy", name, {"x": x}, out, reference=lambda x: x, bits=True, baseline=baseline, **fields)


def _refused(name: str, x: Tensor, out: Tensor, exception: str, text: str, stage: str = "create", **fields: Any) -> Case:
    allocate = None if "allocate" not in fields else fields.pop("allocate")
    return Case("copy", f"refused/{name}", {"x": x}, out, allocate=allocate, refusal=Refusal(exception, text, stage), **fields)


def _x(shape: tuple[int, ...], dtype: str = "float32", **fields: Any) -> Tensor:
    return Tensor(dtype, shape, fill=bits, **fields)


def _sizes() -> Iterator[Case]:
    for dtype in ALL:
        for size in SIZES:
            yield _case(f"size/{dtype}/{size}", _x((size,), dtype))
    for shape in SHAPES_OF_EVERY_RANK:
        yield _case(f"rank/{len(shape)}", _x(shape))
        yield _case(f"rank/{len(shape)}-rotated-stepped", _x(shape, layout="rotated"), _x(shape, layout="stepped"))
    for shape in EMPTY_SHAPES:  # apache/mxnet #17792, numba/numba #8477: empty, and with strides that differ
        yield _case(f"empty/{shape_text(shape)}", _x(shape))
        yield _case(f"empty/{shape_text(shape)}-padded", _x(shape, layout="padded"), _x(shape, layout="transposed"))


def _layouts() -> Iterator[Case]:
    for dtype in ("uint8", "float16", "float32", "complex128"):
        for source in LAYOUTS.values():
            for target in DENSE_OR_GAPPED:
                for shape in ((33, 65), (5, 7, 34)):
                    name = f"layout/{source.name}-{target}/{dtype}/{shape_text(shape)}"
                    yield _case(name, _x(shape, dtype, layout=source.name), _x(shape, dtype, layout=target))
    for rows, cols in ((1, 70), (70, 1), (31, 33), (64, 64), (65, 127), (129, 200), (257, 1025)):
        for dtype in ("uint8", "bfloat16", "float32", "float64", "complex128"):
            name = f"transpose/{dtype}/{rows}x{cols}"
            yield _case(name, _x((rows, cols), dtype, layout="transposed"))
            yield _case(f"{name}-out", _x((rows, cols), dtype), _x((rows, cols), dtype, layout="transposed"))
    for order in ((0, 2, 1, 3), (3, 2, 1, 0), (1, 3, 0, 2), (0, 1, 3, 2), (2, 0, 1, 3)):
        strides = permuted_strides((5, 6, 7, 9), order)
        yield _case(f"permute/{''.join(map(str, order))}", _x((5, 6, 7, 9), "float16", strides=strides))
    # cupy/cupy #5721: many dimensions of size 2 in a scrambled order.
    yield _case("permute/8d", _x((2,) * 8, "float64", strides=permuted_strides((2,) * 8, (3, 0, 7, 5, 1, 6, 2, 4))))
    # A wrong last element behind a vector loop shows only at these lengths and at a stride of -1.
    for size in (15, 23, 47, 70003, 70015):
        for dtype in ("uint8", "float32"):
            yield _case(f"size/{dtype}/{size}-reversed", _x((size,), dtype, layout="reversed"), _x((size,), dtype))
            yield _case(f"size/{dtype}/{size}-reversed-out", _x((size,), dtype), _x((size,), dtype, layout="reversed"))
            yield _case(f"size/{dtype}/{size}-tail", _x((size,), dtype))
    # torch/cutorch #39: the last column of every pair.
    yield _case("layout/inner-step", _x((2, 2), strides=(4, 2), offset=1))
    # IntelPython/dpctl #1241: the first columns of every row.
    yield _case("layout/first-columns", _x((2, 2), strides=(3, 1)))
    for stride in (0, 1, 3, -5, 2**40):  # pytorch/pytorch #99803: strides of dimensions of size 1 do not matter
        yield _case(f"size-one-stride/{stride}", _x((1, 77, 1), strides=(stride, 1, stride)), _x((1, 77, 1)))
        yield _case(f"size-one-stride/{stride}-out", _x((1, 77, 1)), _x((1, 77, 1), strides=(stride, 1, stride)))
    # sonos/tract #2838 and ml-explore/mlx #2267: more than 65535 rows, and a permutation of them.
    for count in (65535, 65536, 65537):
        yield _case(f"many-rows/{count}x3", _x((count, 3), "uint8", layout="padded"), cost=Cost.NORMAL)
    yield _case("many-rows/70000x3x5", _x((70000, 3, 5), "uint8", layout="transposed"), cost=Cost.NORMAL)
    yield _case("many-rows/256x256x65x17", _x((256, 256, 65, 17), "uint8", layout="rotated"), cost=Cost.LARGE)


def _alignment() -> Iterator[Case]:
    # tile-ai/tilelang #2526, apache/tvm #8540: a base that is aligned to the element and to no vector.
    for dtype in ("uint8", "float16", "float32", "float64"):
        for size in (1, 7, 16, 33, 70, 4096):
            for source, target in ((1, 0), (0, 1), (1, 1), (3, 2), (7, 15)):
                name = f"misaligned/{dtype}/{size}-{source}-{target}"
                yield _case(name, _x((size,), dtype, offset=source), _x((size,), dtype, offset=target))
    # triton-lang/triton #1330: an aligned base with a pitch that is not.
    for dtype in ("float16", "float32"):
        yield _case(f"misaligned/{dtype}/pitch", _x((64, 1184), dtype, strides=(1185, 1)), _x((64, 1184), dtype, strides=(1187, 1)))


def _values() -> Iterator[Case]:
    # IntelPython/dpnp #3054: a bool byte that is neither 0 nor 1 stays what it is.
    yield _case("value/bool-bytes", Tensor("bool", (300,), fill=stored([0, 1, 2, 255, 3])))
    # pytorch/pytorch #188546: subnormals are not flushed.
    yield _case("value/subnormals", Tensor("float32", (70,), fill=cycle([1e-45, -1e-45, 1e-39, 2e-39])))


def _aliasing() -> Iterator[Case]:
    for dtype in ("uint8", "float32", "complex64"):
        for layout in ("contiguous", "transposed", "stepped"):
            yield in_place(_case(f"in-place/{dtype}/{layout}", _x((9, 33), dtype, layout=layout)), "x")
    even = Tensor("float32", (100,), strides=(2,), memory_of="x")
    yield _case("interleaved/even-odd", _x((100,), strides=(2,)), replace(even, offset=1))
    yield _case(
        "interleaved/columns", _x((40, 3), strides=(8, 1)), Tensor("float32", (40, 3), strides=(8, 1), memory_of="x", offset=4)
    )
    yield _case(
        "interleaved/rows", _x((20, 8), strides=(16, 1)), Tensor("float32", (20, 8), strides=(16, 1), memory_of="x", offset=8)
    )
    # pytorch/pytorch #197829: rows shifted by one, either way.
    for name, offset in (("down", 64), ("up", -64), ("by-one", 1)):
        out = Tensor("float32", (32, 64), memory_of="x", offset=offset)
        yield _refused(f"overlap-{name}", _x((32, 64)), out, INVALID, "overlaps", "execute")
    # pytorch/pytorch #48401: onto its own transpose.
    transposed = Tensor("float32", (16, 16), layout="transposed", memory_of="x")
    yield _refused("overlap-transposed", _x((16, 16)), transposed, INVALID, "overlaps", "execute")
    backwards = Tensor("float32", (16,), strides=(-1,), memory_of="x", offset=15)
    yield _refused("overlap-reversed", _x((16,)), backwards, INVALID, "overlaps", "execute")
    crossing = Tensor("float32", (100,), strides=(2,), memory_of="x", offset=2)
    yield _refused("overlap-same-parity", _x((100,), strides=(2,)), crossing, INVALID, "overlaps", "execute")


def _refusals() -> Iterator[Case]:
    # pytorch/pytorch #23063: an out of which several elements are one.
    for name, out in (
        ("row", _x((10,), strides=(0,))),
        ("column", _x((5, 5), strides=(1, 0))),
        ("windows", _x((4, 4), strides=(1, 1))),
    ):
        yield _refused(f"out-writes-twice/{name}", _x(out.shape), out, INVALID, "out has several elements at one address")
    yield _refused("shape", _x((2, 3)), _x((3, 2)), INVALID, "out has shape (3, 2), expected (2, 3), the shape of")
    yield _refused("shape-rank", _x((6,)), _x((2, 3)), INVALID, "out has shape (2, 3), expected (6,)")
    yield _refused("shape-broadcast", _x((1, 3)), _x((4, 3)), INVALID, "out has shape (4, 3), expected (1, 3)")
    # stillwater-sc/universal #1133, pytorch/pytorch #89565, IntelPython/dpnp #3054: nothing is converted.
    for source, target in (
        ("float32", "bfloat16"), ("float32", "float16"), ("bfloat16", "float32"), ("int32", "bfloat16"), ("bool", "int64"),
        ("uint8", "bool"), ("int64", "uint64"), ("float64", "float32"), ("complex64", "float64"),
    ):  # fmt: skip
        text = f"{source} to {target} is not supported"
        yield _refused(f"dtype/{source}-{target}", _x((4,), source), _x((4,), target), UNSUPPORTED, text)
    for ndim in (9, 27, 64):  # pytorch/pytorch #64865, cupy/cupy #5721
        ones = (1,) * ndim
        yield _refused(f"rank/{ndim}", _x(ones), _x(ones), INVALID, f"has {ndim} dimensions, expected 0..8", "tensor", allocate={})
    # dmlc/dlpack #99: a float at an odd byte.
    for name, odd in (("in", {"x": 1}), ("out", {"out": 2})):
        x, out = _x((8,), offset_bytes=odd.get("x", 0)), _x((8,), offset_bytes=odd.get("out", 0))
        yield _refused(f"unaligned-{name}", x, out, INVALID, "aligned to 4 bytes", "execute")
    yield from _not_tensors()


def _not_tensors() -> Iterator[Case]:
    # numpy/numpy #20742: read-only memory is an input and never an output.
    yield _case("readonly/in", _x((6, 5), readonly=True))
    yield _refused("readonly-out", _x((6,)), _x((6,), readonly=True), INVALID, "out is read-only", "tensor")
    x = _x((4, 6))
    for name, wrap in (("list", lambda t: t.tolist()), ("float", lambda t: 3.5), ("NoneType", lambda t: None)):
        text = f"x is a {name}, expected a tensor"
        yield _refused(f"not-a-tensor/{name}", replace(x, wrap=wrap), x, NO_TENSOR, text, "tensor", allocate={})
    # dmlc/dlpack #97: bytes in the other order. wjakob/nanobind #487: a stride that is no multiple of the element.
    swapped = replace(x, kind="numpy", wrap=lambda array: array.astype(">f4"))
    odd = Tensor("complex64", (2, 3), kind="numpy", wrap=lambda array: np.zeros((2, 7), np.float32)[:, :6].view(np.complex64))
    for name, unreadable in (("big-endian", swapped), ("stride-bytes", odd)):
        out = Tensor(unreadable.dtype, unreadable.shape)
        yield _refused(name, unreadable, out, INVALID, "x cannot be read", "tensor", allocate={})
    # pytorch/pytorch #184379: lazy conjugation and negation are not in the bytes.
    conjugated = Tensor("complex64", (4,), wrap=lambda t: t.conj())
    negated = Tensor("complex64", (4,), wrap=lambda t: t.conj().imag)
    yield _refused("lazy-conj", conjugated, Tensor("complex64", (4,)), INVALID, "conj bit is set", "tensor", allocate={})
    yield _refused("lazy-negative", negated, Tensor("float32", (4,)), INVALID, "negative bit is set", "tensor", allocate={})
    of_numpy, of_torch = replace(x, kind="numpy"), replace(x, kind="torch")
    text = "x is a numpy.ndarray, expected a torch.Tensor"
    yield _refused("mixed-kinds", of_numpy, of_torch, INVALID, text, "tensor")
    grad = replace(x, wrap=lambda tensor: tensor.requires_grad_())
    yield _refused("requires-grad", grad, x, "RuntimeError", "torch.ops.operator_runtime", "tensor", allocate={})


def _benchmarks() -> Iterator[Case]:
    for name, x in (
        ("4KB", _x((1024,))),
        ("4MB", _x((1 << 20,))),
        ("64MB", _x((1 << 24,))),
        ("16-bit-2MB", _x((1 << 20,), "bfloat16")),
        ("transpose-2048x1024", _x((2048, 1024), layout="transposed")),
        ("padded-1024x4096", _x((1024, 4096), layout="padded")),
    ):
        cost = Cost.LARGE if x.num_elements > 1 << 22 else Cost.NORMAL
        yield _case(f"bench/{name}", replace(x, fill=bits), benchmark=True, cost=cost)


def cases() -> list[Case]:
    return [*_sizes(), *_layouts(), *_alignment(), *_values(), *_aliasing(), *_refusals(), *_benchmarks()]
