"""The axes that cases are made from: sizes around warp, block and vector edges, and layouts as functions from shape to strides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Shape = tuple[int, ...]

SIZES = (0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 4097)
SHAPES_OF_EVERY_RANK: tuple[Shape, ...] = (
    (), (5,), (4, 7), (3, 5, 6), (2, 3, 4, 5), (2, 3, 1, 4, 3), (2, 1, 3, 2, 3, 2), (2, 2, 3, 1, 2, 2, 3), (2, 2, 1, 3, 2, 2, 2, 2),
)  # fmt: skip
EMPTY_SHAPES: tuple[Shape, ...] = ((0,), (0, 2), (10, 0), (4, 0, 5, 2), (3, 0, 0))


def contiguous_strides(shape: Shape) -> Shape:
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def permuted_strides(shape: Shape, order: Shape) -> Shape:
    """Strides of a tensor whose memory holds the dimensions in `order`, outermost first."""
    memory = contiguous_strides(tuple(shape[dim] for dim in order))
    return tuple(memory[order.index(dim)] for dim in range(len(shape)))


def padded_strides(shape: Shape, padding: int = 3, step: int = 1) -> Shape:
    """Row-major with `padding` unused elements after each row and `step` between neighbours of a row."""
    if not shape:
        return ()
    pitch = max(shape[-1], 1) * step + padding
    return (*(stride * pitch for stride in contiguous_strides(shape[:-1])), step)


@dataclass(frozen=True)
class Layout:
    name: str
    strides: Callable[[Shape], Shape]
    negative: bool = False  # NumPy tensors only
    repeats: bool = False  # several indices share an address: inputs only


def _expanded_rows(shape: Shape) -> Shape:
    return (0, *contiguous_strides(shape[1:])) if shape else ()


def _expanded_columns(shape: Shape) -> Shape:
    return (*contiguous_strides(shape[:-1]), 0) if shape else ()


def _reversed_rows(shape: Shape) -> Shape:
    strides = padded_strides(shape)
    return (-strides[0], *strides[1:]) if shape else ()


LAYOUTS: dict[str, Layout] = {
    layout.name: layout
    for layout in (
        Layout("contiguous", contiguous_strides),
        Layout("transposed", lambda shape: permuted_strides(shape, tuple(reversed(range(len(shape)))))),
        Layout("rotated", lambda shape: permuted_strides(shape, tuple((dim + 1) % len(shape) for dim in range(len(shape))))),
        Layout("padded", padded_strides),
        Layout("stepped", lambda shape: padded_strides(shape, 1, 2)),
        Layout("expanded_rows", _expanded_rows, repeats=True),
        Layout("expanded_columns", _expanded_columns, repeats=True),
        Layout("reversed", lambda shape: tuple(-stride for stride in contiguous_strides(shape)), negative=True),
        Layout("reversed_rows", _reversed_rows, negative=True),
        Layout("windows", lambda shape: (1,) * len(shape), repeats=True),
    )
}
DENSE_OR_GAPPED = tuple(name for name, layout in LAYOUTS.items() if not layout.repeats)
