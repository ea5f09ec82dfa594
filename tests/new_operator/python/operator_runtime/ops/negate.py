"""negate: out[i] = -x[i]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from operator_runtime._internal.loader import native

if TYPE_CHECKING:
    from operator_runtime._internal.prepared import Prepared
    from operator_runtime._internal.typing import BackendLike, Tensor

    def negate(x: Tensor, *, backend: BackendLike = None) -> Tensor: ...
    def negate_(out: Tensor, x: Tensor, *, backend: BackendLike = None) -> Tensor: ...
    def prepare_negate(out: Tensor, x: Tensor, *, backend: BackendLike = None, workspace: Any = None) -> Prepared: ...

else:
    negate, negate_, prepare_negate = native.negate, native.negate_, native.prepare_negate

__all__ = ["negate", "negate_", "prepare_negate"]
