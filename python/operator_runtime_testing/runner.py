"""Selects cases, runs them, and says what came of it; the command line of tests/run_ops.py.

Exit codes: 0 something ran and all passed, 1 a failure, 2 usage or a missing build, 77 the backend is not available here, 130
interrupted.
"""

from __future__ import annotations

import argparse
import faulthandler
import fnmatch
import importlib.util
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from operator_runtime_testing.benchmark import BaselineProcess, benchmark_case
from operator_runtime_testing.case import Case, Cost, load_cases
from operator_runtime_testing.check import DEVICES, Runtime, check_case
from operator_runtime_testing.compare import CaseError
from operator_runtime_testing.emulation import EmulationError, add_options, emulate
from operator_runtime_testing.performance import PerformanceResult, commit_of, device_name
from operator_runtime_testing.report import CaseResult, Progress, console, print_performance, print_tests, replay_line

OK, FAILED, USAGE, UNAVAILABLE = 0, 1, 2, 77
Refusals = Mapping[str, str]  # pattern of "<op>/<case>" -> why the backend refuses those cases


class UsageError(Exception):
    """What the user asked for does not exist, or is not built."""


def load_refusals(tests: Path, backend: str) -> Refusals:
    spec = importlib.util.spec_from_file_location("operator_runtime_refusals", tests / "refusals.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    refusals: Refusals = module.REFUSALS.get(backend, {})
    return refusals


def listed_reason(case: Case, refusals: Refusals) -> str:
    """The reason for which the backend's list says that it refuses the case, or ""."""
    return next((why for pattern, why in refusals.items() if fnmatch.fnmatchcase(f"{case.op}/{case.name}", pattern)), "")


def run_case(case: Case, runtime: Runtime, refusals: Refusals, seed: int) -> CaseResult:
    """Never raises for what a kernel does: every exception is a verdict."""
    start = time.perf_counter()

    def result(verdict: Any, text: str) -> CaseResult:
        return CaseResult(case, verdict, text, time.perf_counter() - start, runtime.take_reports() if verdict == "failed" else [])

    why_not = runtime.skips(case)
    if why_not:
        return result("skipped", why_not)
    reason = listed_reason(case, refusals) if case.refusal is None else ""
    try:
        check_case(case, runtime, seed)
    except NotImplementedError as error:
        if reason:
            return result("refused", reason)
        return result("failed", f"refused, and not in tests/refusals.py: {error}")
    except CaseError as error:
        return result("failed", str(error))
    except Exception as error:
        return result("failed", f"{type(error).__name__}: {error}")
    if reason:
        return result("failed", f"runs, but tests/refusals.py says that it is refused: {reason}")
    return result("passed", "")


def check_backend(name: str) -> None:
    if name != "auto" and name not in DEVICES:
        raise UsageError(f"backend {name!r} is none of auto, {', '.join(DEVICES)}")


def check_writable(path: Path) -> None:
    """Raises UsageError where no file can be written, before minutes of work are lost to it."""
    existed = path.exists()
    try:
        path.open("a").close()
        if not existed:
            path.unlink()
    except OSError as error:
        raise UsageError(f"--json {path} cannot be written: {error.strerror}") from error


def resolve_backend(name: str, available: Mapping[str, str]) -> str:
    """A backend to run on: `auto` is nvidia where it and torch's CUDA work, else cpu. Raises UsageError for an unknown name."""
    check_backend(name)
    if name != "auto":
        return name
    if available.get("nvidia", "not known") == "":
        import torch

        if torch.cuda.is_available():
            return "nvidia"
    return "cpu"


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="run_ops.py", description="Validates and benchmarks operators against their cases.")
    parser.add_argument("--op", required=True, help="an operator, or all")
    parser.add_argument("--backend", default="auto", help="cpu, nvidia, metax, tilelang, or auto")
    parser.add_argument("--mode", default="test", choices=("test", "bench", "all"))
    parser.add_argument("--case", help="a case, or a pattern such as 'size/*'")
    parser.add_argument("--cost", default="normal", choices=("quick", "normal", "large"), help="test no dearer cases than these")
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs")
    parser.add_argument("--fail-fast", action="store_true", help="stop at the first failure")
    parser.add_argument("--list", action="store_true", help="print the cases and run none")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    add_options(parser)
    return parser.parse_args(argv)


def select(cases: Mapping[str, Sequence[Case]], options: argparse.Namespace, mode: str) -> list[Case]:
    """Cases of one mode. A case asked for by name runs whatever it costs."""
    if options.op != "all" and options.op not in cases:
        raise UsageError(f"operator {options.op!r} has no tests/cases/{options.op}.py; there are: all, {', '.join(cases)}")
    chosen = [case for op, of_op in cases.items() if options.op in ("all", op) for case in of_op]
    if options.case is not None:
        chosen = [case for case in chosen if fnmatch.fnmatchcase(case.name, options.case)]
        if not chosen:
            raise UsageError(f"no case of {options.op} matches {options.case!r}; --list prints them")
    elif mode == "test":
        chosen = [case for case in chosen if case.cost <= Cost[options.cost.upper()]]
    chosen = [case for case in chosen if mode == "test" or case.benchmark]
    if not chosen and options.mode == "bench":
        raise UsageError(f"no benchmark case of {options.op} matches {options.case!r}; --mode bench --list prints them")
    return chosen


def import_runtime() -> Any:
    try:
        return importlib.import_module("operator_runtime")
    except ImportError as error:
        raise UsageError(f"operator_runtime cannot be imported: {error}") from error


def runtime_of(module: Any, backend: str) -> Runtime:
    lanes = importlib.import_module("operator_runtime.backend").emulated_backends()
    return Runtime(module, backend, lanes.get(backend, 0))


class Run:
    """One invocation: what was asked for, and what has come of it."""

    def __init__(self, root: Path, options: argparse.Namespace, runtime: Runtime) -> None:
        importlib.import_module("torch")  # seconds that no case should be charged with
        self.root = root
        self.options = options
        self.runtime = runtime
        self.out = console()
        self.refusals = load_refusals(root / "tests", runtime.backend)
        self.device = f"emulated at {runtime.lanes} lanes" if runtime.lanes else device_name(runtime.device)
        self.commit = commit_of(root)
        self.tests: list[CaseResult] = []
        self.rows: list[PerformanceResult] = []
        self.failures = 0

    def failed(self, case: Case, mode: str, text: str) -> bool:
        """Prints a failure. Whether to stop."""
        self.failures += 1
        line = replay_line(self.root, case, self.runtime.backend, mode, self.options.seed)
        self.out.print(f"{line}  # {' '.join(text.split())}", markup=False)
        return bool(self.options.fail_fast)

    def test(self, cases: Sequence[Case]) -> None:
        with Progress(len(cases)) as progress:
            for case in cases:
                result = run_case(case, self.runtime, self.refusals, self.options.seed)
                self.tests.append(result)
                progress.step(f"{case.op}, {self.failures} failed")
                if result.verdict == "failed":
                    stop = self.failed(case, "test", result.text)
                    if result.reports:
                        self.out.print(result.readable_reports(), markup=False)
                    if stop:
                        break
        print_tests(self.out, self.runtime.backend, self.tests, emulated=bool(self.runtime.lanes))
        counts = Counter(result.verdict for result in self.tests)
        said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in ("passed", "failed", "refused", "skipped"))
        self.out.print(f"{len(self.tests)} cases: {said}", markup=False)

    def bench(self, cases: Sequence[Case]) -> None:
        load_before = os.getloadavg()[0]
        folder = self.root / "tests" / "cases"
        seed = self.options.seed
        with BaselineProcess(folder, self.runtime.device, seed) as peer, Progress(len(cases)) as progress:
            for case in cases:
                if not self.runtime.skips(case) and not listed_reason(case, self.refusals):
                    try:
                        self.rows.append(benchmark_case(case, self.runtime, peer, self.device, self.commit, seed))
                    except (CaseError, NotImplementedError, RuntimeError, ValueError) as error:
                        if self.failed(case, "bench", f"{type(error).__name__}: {error}"):
                            break
                progress.step(f"{case.op}, {case.name}")
        load, cores = max(load_before, os.getloadavg()[0]), len(os.sched_getaffinity(0))
        self.rows = [replace(row, overloaded=load > cores) for row in self.rows]
        print_performance(self.out, self.device, self.rows)
        if load > cores:
            note = f"{load:.1f} processes compete for {cores} threads of the processor; these times say little"
            self.out.print(note, markup=False)

    def write_json(self, path: Path) -> None:
        def row(result: CaseResult) -> dict[str, Any]:
            head = {"op": result.case.op, "case": result.case.name, "verdict": result.verdict, "text": result.text}
            emulated = {"emulated": self.runtime.lanes, "reports": list(result.reports)}
            last = emulated if self.runtime.lanes else {"seconds": round(result.seconds, 6)}
            return {**head, **last}

        tests = [row(result) for result in self.tests]
        head = {"schema_version": 1, "backend": self.runtime.backend, "device": self.device, "commit": self.commit}
        rows = [row.as_dict() for row in self.rows]
        path.write_text(json.dumps({**head, "seed": self.options.seed, "tests": tests, "performance": rows}, indent=1) + "\n")

    def exit_code(self) -> int:
        passed = len(self.rows) + sum(result.verdict == "passed" for result in self.tests)
        if self.failures:
            return FAILED
        if passed == 0:
            self.out.print("nothing ran: every case was skipped or refused", markup=False)
            return UNAVAILABLE
        return OK


def main(root: Path, argv: Sequence[str] | None = None) -> int:
    faulthandler.enable()
    options = parse(argv)
    try:
        check_backend(options.backend)
        cases = load_cases(root / "tests" / "cases")
        modes = ("test", "bench") if options.mode == "all" else (options.mode,)
        selected = {mode: select(cases, options, mode) for mode in modes}
        if options.list:
            names = (f"{case.op} {case.name}" for chosen in selected.values() for case in chosen)
            print("\n".join(dict.fromkeys(names)))
            return OK
        if options.json is not None:
            check_writable(options.json)
        emulate(root, options)
        module = import_runtime()
        missing = [op for op in cases if not hasattr(module, op)]
        if options.op in missing:
            raise UsageError(f"operator {options.op} is not in this build")
        selected = {mode: [case for case in chosen if case.op not in missing] for mode, chosen in selected.items()}
        available = importlib.import_module("operator_runtime.backend").available_backends()
        backend = resolve_backend(options.backend, available)
        runtime = runtime_of(module, backend)
        if runtime.lanes and options.mode != "test":
            raise UsageError(f"backend {backend} is emulated in this build, which says nothing about speed; use --mode test")
    except (EmulationError, UsageError) as error:
        print(f"run_ops.py: {error}", file=sys.stderr)
        return USAGE
    reason = available.get(backend, "this build does not know it")
    if reason:
        print(f"run_ops.py: backend {backend} is not available here: {reason}", file=sys.stderr)
        return UNAVAILABLE
    run = Run(root, options, runtime)
    try:
        run.out.print(f"backend {backend}, {run.device}, seed {options.seed}", markup=False)
        if missing and options.op == "all":
            run.out.print(f"not in this build: {', '.join(missing)}", markup=False)
        for mode in modes:
            (run.test if mode == "test" else run.bench)(selected[mode])
            if run.failures and options.fail_fast:
                break
    finally:  # what had run, also where an interrupt ends it
        if options.json is not None:
            run.write_json(options.json)
    return run.exit_code()
