"""OPRT_VERBOSE=dispatch says on stderr what was chosen, and why others were not."""

from __future__ import annotations

from python_process import run_python

CODE = """
    import numpy as np, operator_runtime
    x = np.zeros((64, 48), np.float32)
    operator_runtime.copy_(np.empty_like(x), x)
    operator_runtime.copy_(np.empty((48, 64), np.float32), x.T)
"""


def test_the_choice_and_the_reasons_against_others_are_printed() -> None:
    done = run_python(CODE, OPRT_VERBOSE="dispatch")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "oprt dispatch: copy on cpu: contiguous",
        "oprt dispatch: copy on cpu: not contiguous: needs out and in that are contiguous in the same order",
        "oprt dispatch: copy on cpu: tiles",
    ]


def test_nothing_is_printed_otherwise() -> None:
    assert run_python(CODE, OPRT_VERBOSE="").stderr == ""
