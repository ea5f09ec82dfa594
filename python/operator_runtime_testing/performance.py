"""One measured row."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Latency:
    """Microseconds per call over `n` samples."""

    median: float
    p10: float
    p90: float
    n: int

    @property
    def unsteady(self) -> bool:
        """The slow tenth of the samples takes more than twice as long as the fast tenth."""
        return self.p90 > 2 * self.p10

    @staticmethod
    def of(samples_us: Sequence[float]) -> Latency:
        p10, median, p90 = np.percentile(np.asarray(samples_us, dtype=np.float64), [10, 50, 90])
        return Latency(float(median), float(p10), float(p90), len(samples_us))


@dataclass(frozen=True)
class Baseline:
    name: str
    version: str
    latency_us: Latency


@dataclass(frozen=True)
class PerformanceResult:
    """A case that was right before and after it was timed, and what the timing says.

    `bytes` is the least that has to move: every input once, every output once. `mode` is "steady": prepared, warm, the same
    buffers.
    """

    op: str
    case: str
    backend: str
    dtype: str
    verdict: str
    mode: str
    latency_us: Latency
    bytes: int
    flops: int
    baseline: Baseline | None
    device: str
    commit: str
    overloaded: bool = False  # more processes than threads of the processor ran meanwhile

    @property
    def bandwidth_gb_s(self) -> float:
        return self.bytes / self.latency_us.median / 1e3

    @property
    def arithmetic_intensity(self) -> float:
        """Operations per byte."""
        return self.flops / self.bytes if self.bytes else 0.0

    @property
    def speedup(self) -> float | None:
        """The baseline's median over ours."""
        return None if self.baseline is None else self.baseline.latency_us.median / self.latency_us.median

    @property
    def unsteady(self) -> bool:
        """Either side's times vary by more than 2x, or the processor was overloaded."""
        return self.overloaded or self.latency_us.unsteady or (self.baseline is not None and self.baseline.latency_us.unsteady)

    def as_dict(self) -> dict[str, Any]:
        derived = {name: getattr(self, name) for name in ("bandwidth_gb_s", "arithmetic_intensity", "speedup", "unsteady")}
        return {**asdict(self), **derived}


def device_name(device: str) -> str:
    """The GPU's name, or the processor's and how many of its threads this process may use."""
    if device != "cpu":
        import torch

        return str(torch.cuda.get_device_name(device))
    model = platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return f"{model}, {len(os.sched_getaffinity(0))} threads"


def commit_of(root: Path) -> str:
    """The commit of a checkout, with "+" where files differ from it; "" outside of one."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain", "-uno") else "")
    except (OSError, subprocess.CalledProcessError):
        return ""
