"""The process that times PyTorch: `python -m operator_runtime_testing.baseline CASES_FOLDER DEVICE SEED`, asked by benchmark.py.

One JSON object a line. {"op", "case"} prepares a case and answers {"version"} or {"why_not"}; {"turn": true} answers
{"samples_us"}. PyTorch's result is held to the same tolerance as ours; where it is not right there is no time to compare with.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

from operator_runtime_testing.benchmark import Sampler, finisher
from operator_runtime_testing.case import Case, load_cases
from operator_runtime_testing.compare import CaseError, assert_agrees, expected
from operator_runtime_testing.memory import POISONS, DeviceMemory, Memory


def prepare(case: Case, device: str, seed: int) -> tuple[Sampler | None, dict[str, Any]]:
    memory = Memory(case, seed)
    memory.poison(POISONS[0])
    on_device = DeviceMemory(memory, device)
    out, inputs = on_device.arguments["out"], [on_device.arguments[name] for name in case.inputs]
    call = case.baseline
    assert call is not None, f"{case.name} has no baseline"
    finish = finisher(device)
    try:
        call(torch, out, *inputs, **case.attributes)
        finish()
        assert_agrees(case, memory.inputs, expected(case, memory.inputs), on_device.stored("out"), "PyTorch")
    except (CaseError, RuntimeError, TypeError) as error:
        return None, {"why_not": str(error)}
    return Sampler(lambda: call(torch, out, *inputs, **case.attributes), finish), {"version": torch.__version__}


def main(folder: str, device: str, seed: str) -> None:
    cases = load_cases(Path(folder))
    answers, sys.stdout = sys.stdout, sys.stderr
    sampler: Sampler | None = None
    for line in sys.stdin:
        question = json.loads(line)
        if "turn" in question:
            assert sampler is not None, "a turn before a case"
            answer: dict[str, Any] = {"samples_us": sampler.turn()}
        else:
            case = next(case for case in cases[question["op"]] if case.name == question["case"])
            sampler, answer = prepare(case, device, int(seed))
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
