"""is_supported: what create would answer, without creating anything."""

from __future__ import annotations

from typing import Any

from operator_runtime._internal.loader import native


def is_supported(op: str, *args: Any, **kwargs: Any) -> tuple[bool, str]:
    """(True, "") if `op` accepts the arguments, else (False, reason).

    The arguments are those of <op>_: out, the inputs, attributes, backend. Shapes, dtypes and attributes decide; whether memory
    overlaps or is aligned shows only when the operator runs. Raises TypeError for what is no tensor and a dim that is no integer,
    ValueError for an operator that this build does not have.

    >>> import numpy as np
    >>> from operator_runtime import is_supported
    >>> is_supported("softmax", np.empty(3), np.empty(3))
    (True, '')
    >>> is_supported("softmax", np.empty((2, 3)), np.empty((2, 3)), dim=3)
    (False, 'softmax: dim is 3, expected -2..1 for a 2-D input')
    """
    check = getattr(native, f"check_{op}", None) if f"prepare_{op}" in dir(native) else None
    if check is None:
        known = sorted(name.removeprefix("prepare_") for name in dir(native) if name.startswith("prepare_"))
        raise ValueError(f"op is {op!r}, expected one of {', '.join(known)}")
    answer: tuple[bool, str] = check(*args, **kwargs)
    return answer
