"""What the runner shows: tables whose cells are whole at any width, a mark on times that vary, and progress."""

from __future__ import annotations

import io
import sys

import pytest
from rich.console import Console

from operator_runtime_testing import report
from operator_runtime_testing.case import Case, Tensor
from operator_runtime_testing.performance import Baseline, Latency, PerformanceResult

STEADY = Latency(123456.7, 120000.1, 130000.2, 36)
NUMBERS = ("123456.7", "2468.91", "654321.8", "5.30x")


def row(ours: Latency = STEADY, theirs: Latency | None = None) -> PerformanceResult:
    baseline = Baseline("PyTorch", "2", theirs or Latency(654321.8, 650000.0, 660000.0, 36))
    return PerformanceResult(
        op="reduce_sum", case="bench/transpose-2048x1024", backend="cpu", dtype="complex64", verdict="passed", mode="steady",
        latency_us=ours, bytes=304803507203, flops=1, baseline=baseline, device="a processor", commit="0",
    )  # fmt: skip


def printed_performance(width: int, *rows: PerformanceResult) -> list[str]:
    out = Console(file=io.StringIO(), width=width, soft_wrap=True, highlight=False)
    report.print_performance(out, "a processor with a long name, 2 threads", rows)
    return out.file.getvalue().splitlines()  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [20, 40, 80, 100, 119, 200])
def test_no_cell_of_the_benchmark_is_cut_at_any_width(width: int) -> None:
    title, head, *_, cells = printed_performance(width, row())
    assert title == "Steady-state time on a processor with a long name, 2 threads, microseconds"
    assert "…" not in head + cells
    assert {"operator", "case", "verdict", "median", "GB/s", "PyTorch", "ratio"} <= set(head.split())
    assert {"reduce_sum", "transpose-2048x1024", "passed", *NUMBERS} <= set(cells.split())


def test_80_columns_hold_what_matters_and_200_hold_everything() -> None:
    narrow, wide = (printed_performance(width, row())[1:] for width in (80, 200))
    assert max(map(len, narrow)) <= 80
    assert narrow[0].split() == ["operator", "case", "verdict", "median", "GB/s", "PyTorch", "ratio"]
    assert len(wide[0].split()) == 10
    assert {"complex64", "304803.51", "120000.1..130000.2"} <= set(wide[-1].split())


@pytest.mark.parametrize(("width", "last_column"), [(40, "failed"), (80, "skipped"), (200, "seconds")])
def test_no_count_of_the_cases_is_cut_at_any_width(width: int, last_column: str) -> None:
    case = Case("vector_add", "size-one-stride/x", {"x": Tensor("float32", (1,))})
    results = [report.CaseResult(case, verdict, "", 1000.0) for verdict in ("failed", "passed", "refused", "skipped") for _ in "12"]
    out = Console(file=io.StringIO(), width=width, soft_wrap=True, highlight=False)
    report.print_tests(out, "cpu", results)
    _, head, *_, cells = out.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert head.split()[-1] == last_column
    assert "…" not in head + cells
    assert cells.split()[:3] == ["vector_add", "size-one-stride", "failed"]
    assert len(cells.split()) == len(head.split())


def test_a_pipe_gets_every_column(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    report.print_performance(report.console(), "a processor", [row()])
    text = capsys.readouterr().out
    assert "p10..p90" in text
    assert max(map(len, text.splitlines())) < 140


@pytest.mark.parametrize("ours_vary", [True, False])
def test_times_that_vary_by_more_than_2x_are_marked_and_explained(ours_vary: bool) -> None:
    varying = Latency(100.0, 60.0, 121.0, 36)
    *_, steady, marked, note = printed_performance(200, row(), row(varying) if ours_vary else row(theirs=varying))
    assert steady.endswith("5.30x")
    assert marked.endswith("x?")
    assert note.startswith("?: timings vary by more than 2x, or the processor is overloaded: the machine is busy")


def test_times_that_vary_by_less_have_no_note() -> None:
    assert printed_performance(200, row())[-1].endswith("5.30x")
    assert not Latency(100.0, 60.0, 120.0, 36).unsteady


def test_progress_is_a_line_every_ten_seconds(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    monkeypatch.setattr(report.time, "monotonic", lambda: now)
    with report.Progress(100) as progress:
        for _ in range(25):
            now += 1.0
            progress.step("copy, 0 failed")
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == ["copy, 0 failed: 11 of 100", "copy, 0 failed: 22 of 100"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with report.Progress(2) as progress:
        progress.step("copy, 0 failed")
        assert progress.bar is not None
        progress.bar.refresh()
    assert "copy, 0 failed" in terminal.getvalue()
    assert "50%" in terminal.getvalue()
