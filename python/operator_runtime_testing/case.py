"""One case: tensors, attributes, and either a reference with a tolerance or the refusal to expect.

`tests/cases/<op>.py` is the single list of an operator's cases: a function `cases()` that returns them. Tests, the runner and the
benchmark read that list and nothing else; no file names the operators.
"""

from __future__ import annotations

import enum
import importlib.util
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from operator_runtime_testing.dtypes import DTYPES, Array, ulp
from operator_runtime_testing.layouts import LAYOUTS, Shape, contiguous_strides
from operator_runtime_testing.values import Fill, normal

_NAME = re.compile(r"[\w.+,=-]+(/[\w.+,=-]+)+")


class Cost(enum.IntEnum):
    """What a case costs: under 10 ms, under a second, more (or over 100 MB)."""

    QUICK = 0
    NORMAL = 1
    LARGE = 2


@dataclass(frozen=True)
class Tensor:
    """A tensor to be made: where its elements lie and what they are. Strides and offsets count elements."""

    dtype: str
    shape: Shape
    layout: str = "contiguous"  # a name of LAYOUTS; not looked at where strides are given
    fill: Fill = normal
    strides: Shape | None = None
    offset: int = 0  # of element 0: past a 64-byte boundary, or past element 0 of `memory_of`
    offset_bytes: int = 0  # on top, to break the alignment to the element size
    memory_of: str = ""  # the tensor in whose memory this one lies
    kind: str = ""  # "torch" or "numpy"; "" is torch unless only NumPy can express it
    readonly: bool = False
    wrap: Callable[[Any], Any] | None = None  # what the operator gets instead of the tensor

    @property
    def element_strides(self) -> Shape:
        return self.strides if self.strides is not None else LAYOUTS[self.layout].strides(self.shape)

    @property
    def is_numpy(self) -> bool:
        torch_cannot = min(self.element_strides, default=0) < 0 or self.offset_bytes != 0 or self.readonly
        return self.kind == "numpy" or (self.kind == "" and torch_cannot)

    @property
    def num_elements(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def distinct_bytes(self) -> int:
        """Bytes that have to be moved once: dimensions of stride 0 count as 1."""
        sizes = [size for size, stride in zip(self.shape, self.element_strides, strict=True) if stride != 0 or size == 0]
        return int(np.prod(sizes, dtype=np.int64)) * DTYPES[self.dtype].itemsize


@dataclass(frozen=True)
class Tolerance:
    """How far a result may be from the wide reference, and the argument for it.

    `bound(want, inputs, attributes)` is the error allowed before the result is rounded to its dtype; the rounding itself, half an
    ulp, is added. An infinite bound accepts any result. Without a bound the result has to be the reference rounded once, bit for
    bit (any NaN for a NaN).
    """

    why: str
    bound: Callable[[Array, Sequence[Array], Mapping[str, Any]], Array] | None = None

    def allowed(self, dtype: str, want: Array, inputs: Sequence[Array], attributes: Mapping[str, Any]) -> Array | None:
        if self.bound is None:
            return None
        error = self.bound(want, inputs, attributes).astype(np.float64)
        return np.where(np.isinf(error), error, error + 0.5 * ulp(dtype, np.abs(want.astype(np.float64)) + error))


EXACT = Tolerance("one rounding of the exact result, or no arithmetic at all")


@dataclass(frozen=True)
class Refusal:
    """The exception that every form must raise, with nothing written: a type of that name, or one derived from it.

    `text` has to occur in its message.
    """

    exception: str
    text: str
    # "create": a descriptor cannot be made, and is_supported says the same; "execute": known when the addresses are;
    # "tensor": the argument is none that the runtime takes.
    stage: str = "create"


INVALID, UNSUPPORTED, NO_TENSOR, BAD_DIM = "ValueError", "NotImplementedError", "TypeError", "DimError"


@dataclass(frozen=True)
class Case:
    op: str
    name: str  # "<group>/<what>", unique within the operator, printable without quotes
    inputs: Mapping[str, Tensor]
    out: Tensor | None = None  # None: contiguous, of the first input's shape and dtype
    attributes: Mapping[str, Any] = field(default_factory=dict)
    # What the allocating form takes besides attributes; None where it cannot express the case.
    allocate: Mapping[str, Any] | None = field(default_factory=dict)
    reference: Callable[..., Array] | None = None  # (*wide inputs, **attributes) -> wide result
    tolerance: Tolerance = EXACT
    refusal: Refusal | None = None
    bits: bool = False  # the reference takes and gives stored arrays, and NaN is compared by its bits
    cost: Cost = Cost.QUICK
    benchmark: bool = False
    baseline: Callable[..., Any] | None = None  # (torch, out or None, *inputs, **attributes) -> result: the same by PyTorch
    flops: int = 0

    @property
    def group(self) -> str:
        return self.name.split("/")[0]

    @property
    def output(self) -> Tensor:
        first = next(iter(self.inputs.values()))
        return self.out if self.out is not None else Tensor(first.dtype, first.shape)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """All tensors, out first. One that only NumPy can express makes NumPy tensors of all that do not name a kind."""
        tensors = {"out": self.output, **self.inputs}
        if not self.needs_numpy:
            return tensors
        return {name: tensor if tensor.kind else replace(tensor, kind="numpy") for name, tensor in tensors.items()}

    @property
    def moved_bytes(self) -> int:
        return sum(tensor.distinct_bytes for tensor in (self.output, *self.inputs.values()))

    @property
    def needs_numpy(self) -> bool:
        return any(tensor.is_numpy for tensor in (self.output, *self.inputs.values()))

    def seed(self, base: int) -> int:
        return zlib.crc32(f"{base}:{self.op}:{self.name}".encode())


def in_place(case: Case, name: str) -> Case:
    """The same case with `out` being exactly the input `name`."""
    source = case.inputs[name]
    out = replace(source, memory_of=name, offset=0, strides=source.element_strides)
    return replace(case, out=out, allocate=None)


def shape_text(shape: Shape) -> str:
    return "x".join(map(str, shape)) or "scalar"


def contiguous(tensor: Tensor) -> bool:
    strides, dense = tensor.element_strides, contiguous_strides(tensor.shape)
    return all(size <= 1 or stride == want for size, stride, want in zip(tensor.shape, strides, dense, strict=True))


def load_cases(folder: Path) -> dict[str, list[Case]]:
    """Cases by operator, from every <folder>/<op>.py. Raises ValueError for a name that is not unique or belongs elsewhere."""
    found: dict[str, list[Case]] = {}
    for path in sorted(folder.glob("*.py")):
        if path.name.startswith("_"):
            continue
        spec = importlib.util.spec_from_file_location(f"operator_runtime_cases.{path.stem}", path)
        if spec is None or spec.loader is None:
            raise ValueError(f"{path} cannot be loaded")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cases: list[Case] = module.cases()
        names: set[str] = set()
        for case in cases:
            if case.op != path.stem or case.name in names or not _NAME.fullmatch(case.name):
                raise ValueError(f"{path}: case {case.name!r} of {case.op!r}: a name is unique, of letters, digits and ._-+,/=")
            names.add(case.name)
        found[path.stem] = sorted(cases, key=lambda case: case.cost)
    return found
