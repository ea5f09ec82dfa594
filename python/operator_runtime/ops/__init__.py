"""The operators of this build, in their three forms. Every file beside this one is an operator; none is listed here."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Any

from operator_runtime._internal.loader import native

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


__all__: list[str] = []

for _module in pkgutil.iter_modules(__path__):
    if hasattr(native, _module.name):  # a build may hold a part of the operators
        _operator = import_module(f"{__name__}.{_module.name}")
        # The function takes the place of its module: ops.softmax is what is called.
        globals().update({name: getattr(_operator, name) for name in _operator.__all__})
        __all__ += _operator.__all__
