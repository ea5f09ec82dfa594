"""What fills an input: functions (generator, dtype, shape) -> stored array."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from operator_runtime_testing.dtypes import DTYPES, Array, narrow

Fill = Callable[[np.random.Generator, str, tuple[int, ...]], Array]


def bits(generator: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Random bytes: NaN payloads, infinities, subnormals and bools of any byte among them."""
    element = DTYPES[dtype].stored
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(generator.bytes(count * element.itemsize), dtype=element).reshape(shape)


def normal(generator: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
    """Standard normal floats; integers over their whole range; bools of 0 and 1."""
    kind = DTYPES[dtype].kind
    if kind == "integer":
        return bits(generator, dtype, shape)
    if kind == "bool":
        return generator.integers(0, 2, size=shape, dtype=np.uint8)
    values = generator.standard_normal(shape, dtype=np.float32 if dtype != "float64" else np.float64)
    if kind == "complex":
        return narrow(dtype, values + 1j * generator.standard_normal(shape))
    return narrow(dtype, values)


def scaled(scale: float, offset: float = 0.0) -> Fill:
    """Standard normal times `scale` plus `offset`."""
    return lambda generator, dtype, shape: narrow(dtype, generator.standard_normal(shape) * scale + offset)


def constant(value: complex) -> Fill:
    return lambda _generator, dtype, shape: narrow(dtype, np.full(shape, value))


def cycle(values: Sequence[complex]) -> Fill:
    """The values in order, repeated until the shape is full."""
    return lambda _generator, dtype, shape: narrow(dtype, np.resize(np.asarray(values), shape))


def stored(elements: Sequence[int]) -> Fill:
    """Elements as they are stored, in order, repeated: bool bytes other than 0 and 1, for example."""
    return lambda _generator, dtype, shape: np.resize(np.asarray(elements, dtype=DTYPES[dtype].stored), shape)


def with_at(fill: Fill, places: dict[int, float]) -> Fill:
    """`fill`, then the values at the given positions along the last dimension of every row."""

    def fill_and_place(generator: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
        filled = fill(generator, dtype, shape).copy()
        for place, value in places.items():
            filled[..., place] = narrow(dtype, np.asarray(value))
        return filled

    return fill_and_place


def with_points(fill: Fill, points: Sequence[tuple[int | slice, int | slice, float]]) -> Fill:
    """`fill`, then value by value at (row, column) of the last two dimensions, later ones over earlier ones."""

    def fill_and_place(generator: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Array:
        filled = fill(generator, dtype, shape).copy()
        for row, column, value in points:
            filled[..., row, column] = narrow(dtype, np.asarray(value))
        return filled

    return fill_and_place


def specials(dtype: str) -> list[float]:
    """The floats that kernels trip over: NaN, infinities, both zeros, subnormals, the ends of the range, ties."""
    format_ = DTYPES[dtype]
    epsilon = 2.0 ** (1 - format_.precision)
    tiny, normal_min = format_.smallest_subnormal, 2.0**format_.min_exponent
    finite = [0.0, tiny, 3 * tiny, normal_min - tiny, normal_min, 1.0, 1.0 + epsilon, epsilon / 2, 3 * epsilon / 2, format_.largest]
    return [float("nan"), *(sign * value for value in [*finite, float("inf")] for sign in (1.0, -1.0))]
