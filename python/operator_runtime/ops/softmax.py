"""softmax: exp(x - max) / sum(exp(x - max)) along one dim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from operator_runtime._internal.loader import native

if TYPE_CHECKING:
    from operator_runtime._internal.prepared import Prepared
    from operator_runtime._internal.typing import BackendLike, Tensor

    def softmax(x: Tensor, dim: int = -1, *, backend: BackendLike = None) -> Tensor: ...
    def softmax_(out: Tensor, x: Tensor, dim: int = -1, *, backend: BackendLike = None) -> Tensor: ...
    def prepare_softmax(
        out: Tensor, x: Tensor, dim: int = -1, *, backend: BackendLike = None, workspace: Any = None
    ) -> Prepared: ...

else:
    softmax, softmax_, prepare_softmax = native.softmax, native.softmax_, native.prepare_softmax

__all__ = ["prepare_softmax", "softmax", "softmax_"]
