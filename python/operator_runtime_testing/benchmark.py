"""Steady-state timing: prepared, warm, the same buffers, one result right before and one right after.

PyTorch is timed in a process of its own (`baseline.py`), because its idle OpenMP workers spin for a while after every call and
would take our workers' cores. The two sides take turns, a few samples each, so that both see the same minutes of the machine;
whoever waits, waits in a read of a pipe, and each turn starts with a pause in which the other side's workers go to sleep.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from operator_runtime_testing.case import Case
from operator_runtime_testing.check import Runtime, check_untouched
from operator_runtime_testing.compare import assert_agrees, expected
from operator_runtime_testing.memory import POISONS, DeviceMemory, Memory
from operator_runtime_testing.performance import Baseline, Latency, PerformanceResult

TURNS = 6
SAMPLES_PER_TURN = 6
MIN_SAMPLE_US = 200.0
TURN_LIMIT_US = 150_000.0
PAUSE_S = 0.02


class Sampler:
    """Times calls of `run`, several a sample where one is too short for the clock; `finish` waits for work that is still queued."""

    def __init__(self, run: Callable[[], Any], finish: Callable[[], Any]) -> None:
        self.run = run
        self.finish = finish
        self.calls = 1
        for _ in range(3):
            self._sample()
        elapsed = self._sample()
        self.calls = max(1, round(MIN_SAMPLE_US / max(elapsed, 0.05)))

    def _sample(self) -> float:
        run = self.run
        start = time.perf_counter_ns()
        for _ in range(self.calls):
            run()
        self.finish()
        return (time.perf_counter_ns() - start) / 1e3 / self.calls

    def turn(self) -> list[float]:
        """Microseconds per call of a few samples, after a pause and one call that is not counted."""
        time.sleep(PAUSE_S)
        self._sample()
        samples: list[float] = []
        start = time.perf_counter_ns()
        while len(samples) < SAMPLES_PER_TURN and (len(samples) < 5 or (time.perf_counter_ns() - start) / 1e3 < TURN_LIMIT_US):
            samples.append(self._sample())
        return samples


def finisher(device: str) -> Callable[[], Any]:
    if device == "cpu":
        return lambda: None
    import torch

    return torch.cuda.synchronize


class BaselineProcess:
    """The child that runs PyTorch on the same cases. Questions and answers are lines of JSON over its pipes."""

    def __init__(self, cases_folder: Path, device: str, seed: int) -> None:
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parent.parent)}
        command = [sys.executable, "-m", "operator_runtime_testing.baseline", str(cases_folder), device, str(seed)]
        # In a session of its own, Ctrl-C reaches the parent alone, which then closes the pipes.
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
        )

    def ask(self, **question: Any) -> dict[str, Any]:
        sent, received = self.process.stdin, self.process.stdout
        assert sent is not None
        assert received is not None
        try:
            sent.write(json.dumps(question) + "\n")
            sent.flush()
            line = received.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(f"the process that times PyTorch ended with status {self.process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(timeout=60)

    def __enter__(self) -> BaselineProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def benchmark_case(
    case: Case, runtime: Runtime, peer: BaselineProcess | None, device: str, commit: str, seed: int
) -> PerformanceResult:
    """A row. Raises CaseError where the result is wrong before or after the timing."""
    memory = Memory(case, seed)
    want = expected(case, memory.inputs)
    memory.poison(POISONS[0])
    on_device = DeviceMemory(memory, runtime.device)
    inputs = [on_device.arguments[name] for name in case.inputs]
    prepare = getattr(runtime.module, f"prepare_{case.op}")
    with prepare(on_device.arguments["out"], *inputs, **case.attributes, backend=runtime.backend) as prepared:
        finish = finisher(runtime.device)
        prepared.run()
        finish()
        assert_agrees(case, memory.inputs, want, on_device.stored("out"), "before timing")
        compared = peer if case.baseline is not None else None
        if compared is not None:
            version = compared.ask(op=case.op, case=case.name).get("version", "")
            compared = compared if version else None
        ours = Sampler(prepared.run, finish)
        samples: list[float] = []
        theirs: list[float] = []
        for _ in range(TURNS):
            samples += ours.turn()
            if compared is not None:
                theirs += compared.ask(turn=True)["samples_us"]
    assert_agrees(case, memory.inputs, want, on_device.stored("out"), "after timing")
    check_untouched(case, memory, on_device, "timed")
    baseline = Baseline("PyTorch", version, Latency.of(theirs)) if theirs else None
    return PerformanceResult(
        op=case.op, case=case.name, backend=runtime.backend, dtype=next(iter(case.inputs.values())).dtype, verdict="passed",
        mode="steady", latency_us=Latency.of(samples), bytes=case.moved_bytes, flops=case.flops, baseline=baseline, device=device,
        commit=commit,
    )  # fmt: skip
