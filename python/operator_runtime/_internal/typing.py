"""Names for the signatures of operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from operator_runtime.backend import Backend

Tensor = TypeVar("Tensor")
BackendLike = Backend | str | None
Dims = int | Sequence[int] | None

__all__ = ["BackendLike", "Dims", "Tensor"]
