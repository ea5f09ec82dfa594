"""Operator Runtime: GPU and CPU operators on torch, NumPy and other DLPack tensors.

Each operator has three forms: softmax(x) allocates, softmax_(out, x) writes and returns out, prepare_softmax(out, x) gives a
Prepared with run(). torch is not needed to import this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from operator_runtime import ops
from operator_runtime._internal.errors import DimError
from operator_runtime._internal.loader import native
from operator_runtime._internal.prepared import Prepared
from operator_runtime._internal.support import is_supported

__version__: str = native.version

if TYPE_CHECKING:
    # The operators; a type checker sees them in operator_runtime.ops.<op>.
    def __getattr__(name: str) -> Any: ...


globals().update({name: getattr(ops, name) for name in ops.__all__})

__all__ = ["DimError", "Prepared", "__version__", "is_supported", "ops"]
__all__ += ops.__all__
