"""What the runner shows: progress, one verdict per case group, failures as lines that replay them, rows of the benchmark."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rich import box
from rich.console import Console
from rich.progress import Progress as RichProgress
from rich.table import Table

from operator_runtime_testing.case import Case
from operator_runtime_testing.performance import PerformanceResult

Verdict = Literal["passed", "failed", "refused", "skipped"]
VARIABLES = ("CAMP_BUILD_DIR", "OPRT_EMULATOR_ORDER", "OPRT_PLANTED")  # that change what a case does
_STYLES = {"passed": "green", "failed": "bold red", "refused": "yellow", "skipped": "dim"}
_SECONDS_BETWEEN_LINES = 10.0
_WIDE = 1000
_MOST_REPORTS = 3
# What a terminal that is too narrow for all columns goes without, first to last; the other columns are always there.
_LEAST_OF_TESTS = ("seconds", "passed", "skipped", "refused")
_LEAST_OF_PERFORMANCE = ("moved", "p10..p90", "dtype")


@dataclass(frozen=True)
class CaseResult:
    case: Case
    verdict: Verdict
    text: str
    seconds: float
    reports: Sequence[Mapping[str, Any]] = ()  # the emulator's, of a case that failed

    def readable_reports(self) -> str:
        """The first few reports, each place with its line of source."""
        return "\n".join(report["readable"] for report in self.reports[:_MOST_REPORTS])


def console() -> Console:
    """Standard output; wide enough for every table where it is no terminal."""
    return Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else _WIDE)


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


def interpreter(root: Path) -> str:
    """The interpreter that runs, as a shell in this folder starts it."""
    running = Path(sys.executable)
    if running.is_relative_to(root):
        return os.path.relpath(running)
    found = shutil.which("python")
    # Links of two virtual environments lead to one file, so the folders have to be the same too.
    is_same = found is not None and Path(found).samefile(running) and Path(found).parent.samefile(running.parent)
    return "python" if is_same else str(running)


def replay_line(root: Path, case: Case, backend: str, mode: str, seed: int) -> str:
    """A shell command that runs the case again, from the folder that this process was started in."""
    words = [
        interpreter(root),
        os.path.relpath(root / "tests" / "run_ops.py"),
        "--op",
        case.op,
        "--backend",
        backend,
        "--mode",
        mode,
    ]
    words += ["--case", case.name] + (["--seed", str(seed)] if seed else [])
    variables = [f"{name}={shlex.quote(os.environ[name])} " for name in VARIABLES if name in os.environ]
    return "".join(variables) + shlex.join(words)


def verdict_of(results: Sequence[CaseResult]) -> Verdict:
    verdicts = {result.verdict for result in results}
    order: tuple[Verdict, ...] = ("failed", "passed", "refused", "skipped")
    return next(verdict for verdict in order if verdict in verdicts)


def print_table(out: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], least: Sequence[str]) -> None:
    """Three columns of text, then numbers. No cell is ever cut: columns of `least` go first, then lines wrap."""

    def table_without(dropped: Sequence[str]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        kept = [index for index, name in enumerate(columns) if name not in dropped]
        for index in kept:
            table.add_column(columns[index], no_wrap=True, justify="left" if index < 3 else "right")
        for row in rows:
            table.add_row(*(row[index] for index in kept))
        table.width = out.measure(table, options=out.options.update_width(_WIDE)).maximum
        return table

    tables = (table_without(least[:count]) for count in range(len(least) + 1))
    out.print(title, markup=False)
    for table in tables:
        if table.width is not None and table.width <= out.width:
            break
    out.print(table)


def print_tests(out: Console, backend: str, results: Sequence[CaseResult], emulated: bool = False) -> None:
    """A row for each group. Emulated ones say so in place of their seconds, which would be no measure of the kernels."""
    kinds: tuple[Verdict, ...] = ("passed", "failed", "refused", "skipped")
    groups: dict[tuple[str, str], list[CaseResult]] = {}
    for result in results:
        groups.setdefault((result.case.op, result.case.group), []).append(result)
    rows = []
    for (op, group), members in sorted(groups.items()):
        verdict = verdict_of(members)
        counts = [sum(member.verdict == kind for member in members) for kind in kinds]
        last = "emulated" if emulated else f"{sum(member.seconds for member in members):.2f}"
        numbers = [str(count) if count else "" for count in counts]
        rows.append([op, group, f"[{_STYLES[verdict]}]{verdict}[/]", str(len(members)), *numbers, last])
    columns = ["operator", "group", "verdict", "cases", *kinds, "run" if emulated else "seconds"]
    print_table(out, f"Cases on {backend}", columns, rows, _LEAST_OF_TESTS)


def _bytes(count: int) -> str:
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.2f} kB"


def print_performance(out: Console, device: str, rows: Sequence[PerformanceResult]) -> None:
    """One line a row. Only what was right before and after its timing has a row."""
    lines = []
    for row in rows:
        ours = row.latency_us
        mark = "?" if row.unsteady else ""
        theirs = ["", mark] if row.baseline is None else [f"{row.baseline.latency_us.median:.1f}", f"{row.speedup:.2f}x{mark}"]
        times = [f"{ours.median:.1f}", f"{ours.p10:.1f}..{ours.p90:.1f}", f"{row.bandwidth_gb_s:.2f}"]
        case = row.case.removeprefix("bench/")
        lines.append([row.op, case, f"[green]{row.verdict}[/]", row.dtype, _bytes(row.bytes), *times, *theirs])
    columns = ["operator", "case", "verdict", "dtype", "moved", "median", "p10..p90", "GB/s", "PyTorch", "ratio"]
    print_table(out, f"Steady-state time on {device}, microseconds", columns, lines, _LEAST_OF_PERFORMANCE)
    if any(row.unsteady for row in rows):
        out.print(
            "?: timings vary by more than 2x, or the processor is overloaded: the machine is busy, and these rows say little",
            markup=False,
        )
