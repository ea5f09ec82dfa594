"""On the cpu the bits of a result do not depend on how many threads computed it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from operator_runtime_testing.check import Runtime

TESTS = Path(__file__).resolve().parent
# Prints a digest per case: large enough to be split, sums and exponentials, rows and columns.
SCRIPT = """
import hashlib, sys
from pathlib import Path
tests = Path(sys.argv[1])
sys.path.insert(0, str(tests.parent / "python"))
import operator_runtime
from operator_runtime_testing.case import Cost, load_cases
from operator_runtime_testing.memory import DeviceMemory, Memory
for op, cases in load_cases(tests / "cases").items():
    for case in cases:
        if case.benchmark and case.cost == Cost.NORMAL:
            memory = DeviceMemory(Memory(case, 0), "cpu")
            inputs = [memory.arguments[name] for name in case.inputs]
            getattr(operator_runtime, f"{op}_")(memory.arguments["out"], *inputs, **case.attributes)
            print(op, case.name, hashlib.sha256(memory.stored("out").tobytes()).hexdigest())
"""


def digests(threads: int) -> str:
    environment = {**os.environ, "OPRT_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(TESTS)], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_results_have_the_same_bits_for_any_number_of_threads(runtime: Runtime) -> None:
    if runtime.backend != "cpu":
        pytest.skip("backend: threads are the cpu's")
    one = digests(1)
    assert len(one.splitlines()) >= 20
    for threads in (2, 7):
        assert digests(threads) == one
