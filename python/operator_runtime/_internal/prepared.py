"""The type of what prepare_<op>() returns."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

from operator_runtime._internal.loader import native

if TYPE_CHECKING:

    class Prepared:
        """A call checked once, to be run any number of times. Made by prepare_<op>(); keeps its tensors alive."""

        @property
        def workspace(self) -> Any: ...
        @property
        def implementation(self) -> str: ...
        @property
        def backend(self) -> str: ...
        def run(self) -> None: ...
        def run_inputs(self, out: Any, /, *inputs: Any) -> None: ...
        def destroy(self) -> None: ...
        def __enter__(self) -> Prepared: ...
        def __exit__(
            self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
        ) -> None: ...

else:
    Prepared = native.Prepared

__all__ = ["Prepared"]
