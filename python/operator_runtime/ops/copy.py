"""copy: out[i] = x[i], bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from operator_runtime._internal.loader import native

if TYPE_CHECKING:
    from operator_runtime._internal.prepared import Prepared
    from operator_runtime._internal.typing import BackendLike, Tensor

    def copy(x: Tensor, *, backend: BackendLike = None) -> Tensor: ...
    def copy_(out: Tensor, x: Tensor, *, backend: BackendLike = None) -> Tensor: ...
    def prepare_copy(out: Tensor, x: Tensor, *, backend: BackendLike = None, workspace: Any = None) -> Prepared: ...

else:
    copy, copy_, prepare_copy = native.copy, native.copy_, native.prepare_copy

__all__ = ["copy", "copy_", "prepare_copy"]
