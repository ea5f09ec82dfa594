"""What the runner shows: progress, one verdict per case group, failures as lines that replay them, rows of the benchmark."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.progress import Progress as RichProgress
from rich.table import Table

from operator_runtime_testing.case import Case
from operator_runtime_testing.performance import PerformanceResult

Verdict = Literal["passed", "failed", "refused", "skipped"]
_STYLES = {"passed": "green", "failed": "bold red", "refused": "yellow", "skipped": "dim"}
_SECONDS_BETWEEN_LINES = 10.0


@dataclass(frozen=True)
class CaseResult:
    case: Case
    verdict: Verdict
    text: str
    seconds: float


def console() -> Console:
    """Standard output; wide enough for every table where it is no terminal."""
    out = Console(highlight=False, soft_wrap=True)
    return out if out.is_terminal else Console(highlight=False, soft_wrap=True, width=140)


class Progress:
    """A bar on a terminal; elsewhere a line every ten seconds. On stderr, so that tables can be piped."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0
        self.last_line = time.monotonic()
        self.bar = RichProgress(console=Console(stderr=True), transient=True) if sys.stderr.isatty() else None

    def __enter__(self) -> Progress:
        if self.bar is not None:
            self.bar.start()
            self.task = self.bar.add_task("", total=self.total)
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def step(self, what: str) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.update(self.task, advance=1, description=what)
        elif time.monotonic() - self.last_line > _SECONDS_BETWEEN_LINES:
            self.last_line = time.monotonic()
            print(f"{what}: {self.done} of {self.total}", file=sys.stderr, flush=True)


def verdict_of(results: Sequence[CaseResult]) -> Verdict:
    verdicts = {result.verdict for result in results}
    order: tuple[Verdict, ...] = ("failed", "passed", "refused", "skipped")
    return next(verdict for verdict in order if verdict in verdicts)


def print_tests(out: Console, backend: str, results: Sequence[CaseResult]) -> None:
    table = Table(title=f"Cases on {backend}", title_justify="left")
    for name in ("operator", "group"):
        table.add_column(name, no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for name in ("cases", "passed", "failed", "refused", "skipped", "seconds"):
        table.add_column(name, justify="right", no_wrap=True)
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for result in results:
        groups.setdefault((result.case.op, result.case.group), []).append(result)
    for (op, group), members in sorted(groups.items()):
        verdict = verdict_of(members)
        counts = [sum(member.verdict == kind for member in members) for kind in ("passed", "failed", "refused", "skipped")]
        seconds = f"{sum(member.seconds for member in members):.2f}"
        style = _STYLES[verdict]
        numbers = [str(count) if count else "" for count in counts]
        table.add_row(op, group, f"[{style}]{verdict}[/]", str(len(members)), *numbers, seconds)
    out.print(table)


def _bytes(count: int) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.2f} kB"


def print_performance(out: Console, device: str, rows: Sequence[PerformanceResult]) -> None:
    """One line a row. Only what was right before and after its timing has a row."""
    table = Table(title=f"Steady-state time on {device}, microseconds", title_justify="left")
    for name in ("operator", "case", "verdict"):
        table.add_column(name, no_wrap=True)
    for name in ("dtype", "moved", "median", "p10..p90", "GB/s", "PyTorch", "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        ours = row.latency_us
        theirs = ["", ""] if row.baseline is None else [f"{row.baseline.latency_us.median:.1f}", f"{row.speedup:.2f}x"]
        times = [f"{ours.median:.1f}", f"{ours.p10:.1f}..{ours.p90:.1f}", f"{row.bandwidth_gb_s:.2f}"]
        case = row.case.removeprefix("bench/")
        table.add_row(row.op, case, f"[green]{row.verdict}[/]", row.dtype, _bytes(row.bytes), *times, *theirs)
    out.print(table)
