"""The stages of scripts/gpu_check.sh, and the summary that they leave."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kernel_hash import kernel_hash

ROOT = Path(__file__).resolve().parent.parent
NOT_AVAILABLE = 77
DEADLINE_S = 8 * 60  # of all stages; the build comes before
CANNOT_START = ("Unable to find injection library", "not supported", "Failed to start", "could not be attached", "ERR_NVGPUCTRPERM")
PROGRESS = re.compile(r"\w+, \d+ failed: \d+ of \d+$")
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")


@dataclass(frozen=True)
class Stage:
    name: str
    command: tuple[str, ...]
    limit_s: int


@dataclass(frozen=True)
class Outcome:
    name: str
    verdict: str  # passed, failed, not run
    seconds: float
    detail: str  # the last lines of output


def stages(build: Path, bench: bool) -> Iterator[Stage]:
    tests = build / "tests"
    run_ops = (sys.executable, "tests/run_ops.py", "--backend", "nvidia")
    yield Stage("smoke", (str(tests / "cuda_smoke"),), 60)
    yield Stage("stress, capture, 2^31", (str(tests / "cuda_stress"),), 120)
    yield Stage("cases", (*run_ops, "--op", "all", "--mode", "test", "--cost", "large"), 240)
    yield Stage("Python API", (sys.executable, "-m", "pytest", "tests/test_nvidia.py", "-q", "--backend", "nvidia"), 120)
    for tool in SANITIZERS:
        options = ("--leak-check", "no") if tool == "memcheck" else ()
        yield Stage(
            f"compute-sanitizer {tool}",
            ("compute-sanitizer", "--tool", tool, *options, "--error-exitcode", "1", str(tests / "cuda_smoke")),
            120,
        )
    if bench:
        yield Stage(
            "floors",
            (sys.executable, "benchmarks/gpu_floors.py", "--build", str(build), "--json", str(build / "gpu_floors.json")),
            240,
        )


def cannot_start(stage: Stage, output: str) -> bool:
    """A sanitizer that this machine does not let attach: it has neither found anything nor run the program."""
    return stage.name.startswith("compute-sanitizer") and any(text in output for text in CANNOT_START) and "smoke:" not in output


def run(stage: Stage, log: Path, seconds_left: float) -> Outcome:
    """Only a sanitizer may be "not run": it is missing, or cannot start here. All else that gives no result has failed."""
    is_sanitizer = stage.name.startswith("compute-sanitizer")
    if is_sanitizer and shutil.which(stage.command[0]) is None:
        return Outcome(stage.name, "not run", 0.0, f"{stage.command[0]} is not installed")
    limit = min(stage.limit_s, seconds_left)
    start = time.monotonic()
    try:
        done = subprocess.run(stage.command, cwd=ROOT, capture_output=True, text=True, timeout=limit, check=False)
        output, code = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired as error:
        partial = error.stdout or ""
        text = partial.decode(errors="replace") if isinstance(partial, bytes) else partial
        output, code = f"{text}\nstopped after {limit:.0f} s", 1
    except OSError as error:
        output, code = str(error), 1
    with log.open("a") as file:
        file.write(f"== {stage.name} (exit code {code})\n{output}\n")
    verdict = "passed" if code == 0 else "not run" if cannot_start(stage, output) else "failed"
    return Outcome(stage.name, verdict, time.monotonic() - start, "\n".join(last_lines(output)))


def last_lines(output: str) -> list[str]:
    """Without lines that a progress display wrote over."""
    return [line.rsplit("\r", 1)[-1] for line in output.strip().splitlines() if not PROGRESS.match(line)][-3:]


def device() -> tuple[str, str]:
    """Name and driver of the GPU; empty where there is none."""
    query = ("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    try:
        line = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "", ""
    name, driver = line.split(", ")
    return name.removeprefix("NVIDIA "), driver


def commit() -> str:
    try:
        return subprocess.run(("git", "rev-parse", "HEAD"), cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def markdown(summary: dict[str, Any], floors: dict[str, Any] | None) -> str:
    lines = [
        f"# GPU check: {summary['device']}, {summary['date']}",
        "",
        f"{summary['verdict']}; driver {summary['driver']}, kernels {summary['kernel_hash']}, commit {summary['commit'][:12]}",
        "",
        "| stage | verdict | seconds | last line |",
        "|---|---|---|---|",
    ]
    for stage in summary["stages"]:
        last = stage["detail"].splitlines()[-1] if stage["detail"] else ""
        lines.append(f"| {stage['name']} | {stage['verdict']} | {stage['seconds']:.1f} | {last.replace('|', '/')} |")
    if floors is not None:
        ceilings = ", ".join(f"{name} {floors['ceilings'][name] / 1e9:.0f}" for name in ("copy", "add", "read"))
        lines += [
            "",
            f"Times: {floors['mode']}, median of {floors['samples']}, torch {floors['torch']}. Ceilings in GB/s: {ceilings}.",
            "",
            "| case | us | p10 to p90 | PyTorch us | GB/s | of the ceiling | floor | verdict | implementation |",
            "|---|---|---|---|---|---|---|---|---|",
        ]
        for row in floors["rows"]:
            spread = f"{row['us_p10']:.1f} to {row['us_p90']:.1f}"
            share = f"{row['share_of_ceiling']:.3f} | {row['floor']} | {row['verdict']} | {row['implementation']}"
            lines.append(
                f"| {row['name']} | {row['us']:.1f} | {spread} | {row['torch_us']:.1f} | {row['gb_per_s']:.0f} | {share} |"
            )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    parser.add_argument("--bench", action="store_true")
    arguments = parser.parse_args()

    name, driver = device()
    if not name:
        print("gpu_check: no NVIDIA GPU is available here")
        return NOT_AVAILABLE
    log = arguments.build / "gpu_check.log"
    log.write_text("")
    floors_file = arguments.build / "gpu_floors.json"
    floors_file.unlink(missing_ok=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    planned = list(stages(arguments.build, arguments.bench))
    summary: dict[str, Any] = {
        "date": datetime.datetime.now(tz=datetime.timezone.utc).isoformat(timespec="minutes"),
        "device": name,
        "driver": driver,
        "commit": commit(),
        "kernel_hash": kernel_hash(),
        "verdict": "failed",
        "stages": [],
    }
    stem = f"gpu-check-{name.lower().replace(' ', '-')}-{summary['date'][:10]}"
    for stage in planned:
        outcome = run(stage, log, max(1.0, DEADLINE_S - (time.monotonic() - start)))
        print(f"{outcome.verdict:8} {outcome.seconds:6.1f} s  {outcome.name}", flush=True)
        if outcome.verdict != "passed":
            print(outcome.detail, flush=True)
        summary["stages"].append(asdict(outcome))
        is_whole = len(summary["stages"]) == len(planned)
        verdicts = {done["verdict"] for done in summary["stages"]}
        summary["verdict"] = "passed" if is_whole and "failed" not in verdicts else "failed"
        if floors_file.exists():
            summary["floors"] = json.loads(floors_file.read_text())
        # After each stage: a run that is cut short leaves what it found.
        (arguments.out / f"{stem}.json").write_text(json.dumps(summary, indent=1) + os.linesep)
        (arguments.out / f"{stem}.md").write_text(markdown(summary, summary.get("floors")))
    for row in summary.get("floors", {}).get("rows", ()):
        times = f"{row['us']:9.1f} us  PyTorch {row['torch_us']:9.1f} us  {row['share_of_ceiling']:.3f} of the ceiling"
        print(f"{row['verdict']:6} {row['name']:40} {times}")
    print(f"{summary['verdict']}: {arguments.out / stem}.md")
    return 1 if summary["verdict"] == "failed" else 0


if __name__ == "__main__":
    sys.exit(main())
