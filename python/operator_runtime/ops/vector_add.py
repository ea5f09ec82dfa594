"""vector_add: out = a + b, with NumPy broadcasting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from operator_runtime._internal.loader import native

if TYPE_CHECKING:
    from operator_runtime._internal.prepared import Prepared
    from operator_runtime._internal.typing import BackendLike, Tensor

    def vector_add(a: Tensor, b: Tensor, *, backend: BackendLike = None) -> Tensor: ...
    def vector_add_(out: Tensor, a: Tensor, b: Tensor, *, backend: BackendLike = None) -> Tensor: ...
    def prepare_vector_add(
        out: Tensor, a: Tensor, b: Tensor, *, backend: BackendLike = None, workspace: Any = None
    ) -> Prepared: ...

else:
    vector_add, vector_add_, prepare_vector_add = native.vector_add, native.vector_add_, native.prepare_vector_add

__all__ = ["prepare_vector_add", "vector_add", "vector_add_"]
