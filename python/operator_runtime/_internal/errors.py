"""Exceptions of the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from operator_runtime._internal.loader import native

if TYPE_CHECKING:

    class DimError(ValueError, IndexError):
        """A dim that the tensor does not have, or one given twice."""

else:
    DimError = native.DimError

__all__ = ["DimError"]
