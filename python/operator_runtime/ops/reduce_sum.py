"""reduce_sum: the sum over one, several or all dims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from operator_runtime._internal.loader import native

if TYPE_CHECKING:
    from operator_runtime._internal.prepared import Prepared
    from operator_runtime._internal.typing import BackendLike, Dims, Tensor

    def reduce_sum(
        x: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Any = None, backend: BackendLike = None
    ) -> Tensor: ...
    def reduce_sum_(out: Tensor, x: Tensor, dim: Dims = None, keepdim: bool = False, *, backend: BackendLike = None) -> Tensor: ...
    def prepare_reduce_sum(
        out: Tensor, x: Tensor, dim: Dims = None, keepdim: bool = False, *, backend: BackendLike = None, workspace: Any = None
    ) -> Prepared: ...

else:
    reduce_sum, reduce_sum_, prepare_reduce_sum = native.reduce_sum, native.reduce_sum_, native.prepare_reduce_sum

__all__ = ["prepare_reduce_sum", "reduce_sum", "reduce_sum_"]
