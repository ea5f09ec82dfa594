"""scripts/best_backend.py picks nvidia only where torch computes there, and names what is missing."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

import best_backend


def fake_torch(cuda: str | None, failure: Exception | None = None) -> Any:
    def zeros(count: int, device: str) -> Any:
        assert (count, device) == (1, "cuda")
        if failure is not None:
            raise failure
        tensor = SimpleNamespace(cpu=lambda: None)
        tensor.add_ = lambda _: tensor
        return tensor

    return SimpleNamespace(__version__="2.13.0", version=SimpleNamespace(cuda=cuda), zeros=zeros)


def test_nvidia_is_best_where_it_is_available_and_torch_computes_there() -> None:
    assert best_backend.choose({"cpu": "", "nvidia": ""}, fake_torch("13.0"), True) == ("nvidia", "")


@pytest.mark.parametrize(
    ("available", "torch", "has_gpu", "text"),
    [
        ({"cpu": ""}, fake_torch("13.0"), False, "not in this build"),
        ({"cpu": "", "nvidia": "no driver: libcuda.so.1 is missing"}, fake_torch("13.0"), False, "libcuda.so.1 is missing"),
        ({"cpu": "", "nvidia": "not in this build"}, fake_torch("13.0"), True, "needs nvcc of CUDA 12.4 or newer"),
        ({"cpu": "", "nvidia": ""}, fake_torch(None), True, "torch 2.13.0 is a build without CUDA"),
        (
            {"cpu": "", "nvidia": ""},
            fake_torch("13.0", RuntimeError("too old\nmore")),
            True,
            "(too old); check the driver",
        ),
        ({"cpu": "", "nvidia": ""}, fake_torch("13.0", AssertionError()), True, "(AssertionError); check the driver"),
    ],
)
def test_cpu_is_used_otherwise_and_the_missing_thing_named(available: dict[str, str], torch: Any, has_gpu: bool, text: str) -> None:
    backend, reason = best_backend.choose(available, torch, has_gpu)
    assert backend == "cpu"
    assert text in reason
