"""Our time, the measured ceiling and PyTorch's time on an NVIDIA GPU, for shapes that memory-bound operators meet.

Cold: 256 MB are overwritten before each call, so neither inputs nor outputs lie in the L2 cache, and the launch latency hides
behind that. One pair of events around each call, ours and PyTorch's by turns, the median of `--samples`. The ceiling is what
benchmarks/ceiling reaches in the same run with the same method. A row passes where it holds its floor: a share of the ceiling, or
PyTorch's time.

    python benchmarks/gpu_floors.py --build build --json rows.json
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

import torch  # noqa: E402

import operator_runtime as oprt  # noqa: E402

FLUSH_BYTES = 256 << 20
NOISE = 1.02  # two medians of one kernel differ by a per cent or two between turns


@dataclass(frozen=True)
class Row:
    """One shape. `floor` is a share of the ceiling named `ceiling`; None compares with PyTorch alone."""

    name: str
    prepare: Callable[[], Any]  # -> an operator_runtime.Prepared
    baseline: Callable[[], Any]  # PyTorch's call on the same tensors
    traffic: int  # bytes read and written at least
    ceiling: str
    floor: float | None


@dataclass(frozen=True)
class Result:
    name: str
    implementation: str
    us: float
    us_p10: float
    us_p90: float
    torch_us: float
    gb_per_s: float
    share_of_ceiling: float
    floor: str
    verdict: str


def random(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape, device="cuda", dtype=torch.float32).to(dtype)


def copy_row(name: str, x: torch.Tensor, out: torch.Tensor, floor: float | None) -> Row:
    traffic = 2 * x.numel() * x.element_size()
    return Row(f"copy {name}", lambda: oprt.prepare_copy(out, x), lambda: out.copy_(x), traffic, "copy", floor)


def add_row(name: str, a: torch.Tensor, b: torch.Tensor, floor: float | None) -> Row:
    out = torch.empty(torch.broadcast_shapes(a.shape, b.shape), device="cuda", dtype=a.dtype)
    traffic = (out.numel() + a.numel() + b.numel()) * out.element_size()
    baseline = lambda: torch.add(a, b, out=out)  # noqa: E731
    return Row(f"vector_add {name}", lambda: oprt.prepare_vector_add(out, a, b), baseline, traffic, "add", floor)


def sum_row(name: str, x: torch.Tensor, dim: int | tuple[int, ...] | None, floor: float | None) -> Row:
    out = torch.sum(x, dim=dim)
    traffic = x.numel() * x.element_size() + out.numel() * out.element_size()
    baseline = lambda: torch.sum(x, dim=dim, out=out)  # noqa: E731
    return Row(f"reduce_sum {name}", lambda: oprt.prepare_reduce_sum(out, x, dim), baseline, traffic, "read", floor)


def softmax_row(name: str, x: torch.Tensor, dim: int, floor: float | None) -> Row:
    out = torch.empty_like(x)
    traffic = 2 * x.numel() * x.element_size()
    return Row(
        f"softmax {name}", lambda: oprt.prepare_softmax(out, x, dim), lambda: torch.softmax(x, dim, out=out), traffic, "copy", floor
    )


def rows() -> Iterator[Row]:
    """Made one by one, so that only one row's tensors are alive."""
    for dtype, label, scale in ((torch.float32, "f32", 1), (torch.bfloat16, "bf16", 2)):
        n = (1 << 26) * scale
        x = random((n,), dtype)
        yield copy_row(f"{label} contiguous 256 MB", x, torch.empty_like(x), 0.95)
        yield add_row(f"{label} contiguous 256 MB", x, random((n,), dtype), 0.95)
        square = random((8192, 8192), dtype)
        yield copy_row(f"{label} transpose 8192x8192", square.t(), torch.empty_like(square), None)
        tall = random((32768, 4096), dtype)
        yield copy_row(f"{label} transpose 32768x4096", tall.t(), torch.empty((4096, 32768), device="cuda", dtype=dtype), None)
        heads = random((16, 2048, 32, 128), dtype)
        yield copy_row(
            f"{label} permute 0213", heads.transpose(1, 2), torch.empty((16, 32, 2048, 128), device="cuda", dtype=dtype), None
        )
        wide = random((16384, 8192), dtype)
        yield copy_row(f"{label} sliced [:,1:-1]", wide[:, 1:-1], torch.empty((16384, 8190), device="cuda", dtype=dtype), None)
        yield add_row(f"{label} + row", wide, random((8192,), dtype), None)
        yield add_row(f"{label} + column", wide, random((16384, 1), dtype), None)
        yield add_row(f"{label} A + A.t", square, square.t(), None)
        for m, k in ((65536, 1024), (16384, 8192), (4096, 32768)):
            yield sum_row(f"{label} rows {m * scale}x{k}", random((m * scale, k), dtype), 1, 0.85)
        yield sum_row(f"{label} rows 16Mx8", random((1 << 24, 8), dtype), 1, None)
        yield sum_row(f"{label} rows 4Mx32", random((1 << 22, 32), dtype), 1, None)
        yield sum_row(f"{label} rows 8x16M", random((8, 1 << 24), dtype), 1, None)
        yield sum_row(f"{label} dim 0 32768x1024", random((32768, 1024), dtype), 0, None)
        yield sum_row(f"{label} dim 0 2048x65536", random((2048, 65536), dtype), 0, None)
        yield sum_row(f"{label} middle (64,4096,1024)", random((64, 4096, 1024), dtype), 1, None)
        yield sum_row(f"{label} full 2^28", random((1 << 28,), dtype), None, None)
        for k in (1024, 2048, 4096, 8192, 16384, 32768):
            yield softmax_row(f"{label} {n // k}x{k}", random((n // k, k), dtype), 1, 0.85)
        yield softmax_row(f"{label} 32768x256", random((32768, 256), dtype), 1, None)
        yield softmax_row(f"{label} 4096x4097", random((4096, 4097), dtype), 1, None)
        yield softmax_row(f"{label} 8x16M", random((8, 1 << 24), dtype), 1, None)
        yield softmax_row(f"{label} dim 0 16384x4096", random((16384, 4096), dtype), 0, None)
        yield softmax_row(f"{label} dim 1 (64,80,224,224)", random((64, 80, 224, 224), dtype), 1, None)


class Timer:
    """Calls by turns, each with cold caches."""

    def __init__(self, samples: int) -> None:
        self.samples = samples
        self.flush = torch.empty(FLUSH_BYTES, dtype=torch.int8, device="cuda")

    def once(self, call: Callable[[], Any]) -> float:
        """Microseconds."""
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.flush.zero_()
        start.record()
        call()
        stop.record()
        stop.synchronize()
        return float(start.elapsed_time(stop)) * 1e3

    def by_turns(self, *calls: Callable[[], Any]) -> list[list[float]]:
        for call in calls:
            for _ in range(3):
                self.once(call)
        times: list[list[float]] = [[] for _ in calls]
        for _ in range(self.samples):
            for call, taken in zip(calls, times, strict=True):
                taken.append(self.once(call))
        return [sorted(taken) for taken in times]


def is_right(row: Row, actual: torch.Tensor, expected: torch.Tensor) -> bool:
    if row.ceiling == "copy" and row.name.startswith("copy"):
        return torch.equal(actual, expected)
    tolerance = 2e-2 if actual.dtype in (torch.float16, torch.bfloat16) else 1e-3
    scale = float(expected.abs().max()) if expected.numel() else 1.0
    return bool(torch.allclose(actual.float(), expected.float(), rtol=tolerance, atol=tolerance * scale, equal_nan=True))


def measure(row: Row, timer: Timer, ceilings: dict[str, float]) -> Result:
    prepared = row.prepare()
    expected = row.baseline().clone()
    out = row.baseline()
    out.fill_(math.nan)
    prepared.run()
    correct = is_right(row, out, expected)
    ours, theirs = timer.by_turns(prepared.run, row.baseline)
    out.fill_(math.nan)
    prepared.run()
    correct = correct and is_right(row, out, expected)
    us, torch_us = statistics.median(ours), statistics.median(theirs)
    bandwidth = row.traffic / us * 1e6
    share = bandwidth / ceilings[row.ceiling]
    holds = share >= row.floor if row.floor is not None else us <= NOISE * torch_us
    return Result(
        row.name,
        prepared.implementation,
        us,
        ours[len(ours) // 10],
        ours[-1 - len(ours) // 10],
        torch_us,
        bandwidth / 1e9,
        share,
        f"{row.floor:.2f} of the {row.ceiling} ceiling" if row.floor is not None else f"{NOISE} of PyTorch's time",
        "wrong" if not correct else "passed" if holds else "slow",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--samples", type=int, default=15)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    arguments = parser.parse_args()

    printed = subprocess.run([arguments.build / "benchmarks" / "ceiling"], check=True, capture_output=True, text=True).stdout
    ceilings = json.loads(printed)
    print("ceilings, GB/s:", {name: round(ceilings[name] / 1e9) for name in ("copy", "add", "read")}, flush=True)
    timer = Timer(arguments.samples)
    results = []
    for row in rows():
        if arguments.only not in row.name:
            continue
        result = measure(row, timer, ceilings)
        results.append(result)
        print(
            f"{result.verdict:6} {result.name:40} {result.us:9.1f} us  torch {result.torch_us:9.1f} us  "
            f"{result.gb_per_s:6.0f} GB/s  {result.share_of_ceiling:.3f}  {result.implementation}",
            flush=True,
        )
    if arguments.json is not None:
        record = {
            "device": torch.cuda.get_device_name(),
            "torch": torch.__version__,
            "mode": "cold, 256 MB overwritten before each call",
            "samples": arguments.samples,
            "ceilings": ceilings,
            "rows": [asdict(result) for result in results],
        }
        arguments.json.write_text(json.dumps(record, indent=1) + "\n")
    return 0 if results and all(result.verdict == "passed" for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
