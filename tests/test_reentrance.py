"""Python code that runs inside a call, or beside it while the process ends: no memory is used that is no longer there."""

from __future__ import annotations

import pytest

from python_process import run_python


@pytest.mark.parametrize("form", ["rt.softmax_(out, x)", "prepared.run()"])
def test_a_process_ends_cleanly_while_a_daemon_thread_computes(form: str) -> None:
    code = f"""
        import sys, threading, time
        import numpy as np, operator_runtime as rt
        x, out = np.ones((4, 1 << 20)), np.ones((4, 1 << 20))
        prepared = rt.prepare_softmax(out, x)
        def work():
            while True:
                {form}
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.2)
        print("over")
    """
    for _ in range(3):
        done = run_python(code, 60)
        assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")
