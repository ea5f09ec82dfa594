"""What the scripts say and do on machines that lack something. Such a machine is a folder of programs, the only one on PATH."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BASICS = ("bash", "dirname", "nproc", "mkdir", "cat", "sha256sum", "cut", "df", "awk", "cp", "chmod")
SET_UP = "set -euo pipefail; source scripts/common.sh; set_up requirements.txt"


class Machine:
    """A folder with the scripts, and a folder with the programs that they find."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self.programs = folder / "bin"
        self.programs.mkdir()
        shutil.copytree(ROOT / "scripts", self.tree / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        for requirements in ROOT.glob("requirements*.txt"):
            shutil.copy(requirements, self.tree)
        for name in BASICS:
            self.link(name)

    def link(self, name: str, as_name: str = "") -> None:
        found = shutil.which(name)
        if found is None:
            pytest.skip(f"{name} is not installed")
        (self.programs / (as_name or name)).symlink_to(found)

    def add(self, name: str, script: str) -> None:
        """A program of a few lines of shell; $real_python is this interpreter."""
        program = self.programs / name
        program.write_text(f"#!{shutil.which('bash')}\nreal_python={shlex.quote(sys.executable)}\n{script}\n")
        program.chmod(0o755)

    def add_compilers(self) -> None:
        self.add("cc", "exit 0")
        self.add("c++", "exit 0")

    def add_python(self, quirk: str = "") -> None:
        """python3 that is this interpreter, after `quirk`, which sees the arguments."""
        self.add("python3", f'{quirk}\nexec "$real_python" "$@"')

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": str(self.programs), "HOME": str(self.tree), **variables}
        return subprocess.run(
            list(command) or ["scripts/run.sh"], cwd=self.tree, env=env, capture_output=True, text=True, check=False
        )

    def missing(self, **variables: str) -> list[str]:
        """The lines for what is missing; nothing was installed."""
        done = self.run(**variables)
        assert done.returncode == 2, done.stdout + done.stderr
        assert not (self.tree / ".venv").exists()
        return done.stderr.splitlines()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


needs_headers = pytest.mark.skipif(
    not Path(sysconfig.get_path("include"), "Python.h").is_file(), reason="this interpreter has no Python.h"
)


def test_a_bare_machine_gets_one_line_for_each_missing_thing(machine: Machine) -> None:
    lines = machine.missing()
    assert [line.split(" is missing")[0] for line in lines] == ["Python 3.10 to 3.14", "A C compiler", "A C++20 compiler"]
    for line, package in zip(lines, ("python3 python3-venv python3-dev", "gcc", "g++"), strict=True):
        assert f"Debian, Ubuntu: apt-get install {package}; Fedora: dnf install " in line


@needs_headers
def test_an_old_python_is_named_with_its_version(machine: Machine) -> None:
    machine.add_compilers()
    machine.add("python3", "echo 3.9")
    (line,) = machine.missing()
    assert line.startswith("Python 3.10 to 3.14 is missing (python3 is 3.9). ")


@needs_headers
def test_a_newer_python_beside_an_old_one_is_found(machine: Machine) -> None:
    machine.add_compilers()
    machine.add("python3", "echo 3.9")
    machine.add("python3.10", '[[ $* == *ensurepip* ]] && exit 1\nexec "$real_python" "$@"')
    (line,) = machine.missing()
    assert line.startswith("Python's venv module is missing. ")


@needs_headers
def test_a_missing_venv_module_names_the_package(machine: Machine) -> None:
    machine.add_compilers()
    machine.add_python("[[ $* == *ensurepip* ]] && exit 1")
    (line,) = machine.missing()
    version = "{}.{}".format(*sys.version_info[:2])
    installing = f"Debian, Ubuntu: apt-get install python{version}-venv; Fedora: dnf install python3"
    assert line == f"Python's venv module is missing. {installing}"


def test_missing_headers_of_python_name_the_package(machine: Machine) -> None:
    machine.add_compilers()
    machine.add_python("[[ $* == *get_path*include* ]] && echo /nonexistent && exit")
    (line,) = machine.missing()
    assert line.startswith("Python's headers are missing (/nonexistent/Python.h). Debian, Ubuntu: apt-get install python3.")
    assert line.endswith("-dev; Fedora: dnf install python3-devel")


@needs_headers
def test_a_compiler_without_cxx20_is_named(machine: Machine) -> None:
    machine.add_compilers()
    machine.add("c++", "exit 1")
    machine.add_python()
    (line,) = machine.missing()
    assert line.startswith("c++ does not compile C++20 ")
    assert "apt-get install g++" in line


@needs_headers
@pytest.mark.parametrize(("url", "needed"), [("", 9), ("https://example.invalid/whl/cpu", 2)])
def test_a_full_disk_is_said_before_anything_is_downloaded(machine: Machine, url: str, needed: int) -> None:
    machine.add_compilers()
    machine.add_python()
    (machine.programs / "df").unlink()
    machine.add("df", r"printf 'Filesystem 1024-blocks Used Available\n/dev/x 9 9 %s\n' 1999999")
    (line,) = machine.missing(OPRT_TORCH_INDEX_URL=url)
    assert line.startswith("Disk space is missing: ")
    assert f" needs {needed} GB here, 1 GB are free. " in line


@needs_headers
def test_a_given_interpreter_gets_a_line_for_each_missing_package_and_nothing_is_installed(machine: Machine) -> None:
    machine.add_compilers()
    machine.add("bare", 'exec "$real_python" -S "$@"')
    lines = machine.missing(OPRT_PYTHON="bare")
    names = ["torch", "numpy", "cmake", "ninja", "nanobind", "pytest", "hypothesis", "rich"]
    assert [line.split()[0] for line in lines] == names
    assert lines[0].startswith("torch 2.10 or newer is missing (torch is not installed). ")
    assert "apt-get install ninja-build" in lines[3]


@needs_headers
def test_requirements_are_installed_once_inside_the_tree_and_the_size_is_said_first(machine: Machine) -> None:
    machine.add_compilers()
    # "python3 -m venv" puts this same program into .venv; there, pip leaves a log of how it was called.
    machine.add_python(
        'if [[ $* == "-m venv"* ]]; then mkdir -p .venv/bin; cp "$0" .venv/bin/python; chmod +x .venv/bin/python; exit; fi\n'
        'if [[ $* == "-m pip"* ]]; then echo "said" && echo "$TMPDIR $*" >>pip.log; exit; fi'
    )
    url = "https://example.invalid/whl/cpu"
    first = machine.run("bash", "-c", SET_UP, OPRT_TORCH_INDEX_URL=url)
    assert first.returncode == 0, first.stderr
    assert first.stdout.splitlines() == [
        f"Downloading about 0.3 GB into .venv, where it takes 1.3 GB (requirements.txt; torch for the CPU from {url})",
        "said",
    ]
    second = machine.run("bash", "-c", SET_UP, OPRT_TORCH_INDEX_URL=url)
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    (call,) = (machine.tree / "pip.log").read_text().splitlines()
    assert call.startswith(f"{machine.tree}/build/tmp ")
    assert "--no-cache-dir" in call
    assert f"--extra-index-url {url}" in call

    with (machine.tree / "requirements.txt").open("a") as requirements:
        requirements.write("wheel==0.45.1\n")
    third = machine.run("bash", "-c", SET_UP, OPRT_TORCH_INDEX_URL=url)
    assert third.returncode == 0, third.stderr
    assert len((machine.tree / "pip.log").read_text().splitlines()) == 2


def test_a_skip_is_a_failure_where_everything_is_required(machine: Machine) -> None:
    line = "source scripts/common.sh; skip tests 'no GoogleTest'"
    assert machine.run("bash", "-c", line).returncode == 0
    strict = machine.run("bash", "-c", line, OPRT_REQUIRE_ALL="1")
    assert (strict.returncode, strict.stdout) == (1, "skipped: tests: no GoogleTest\n")


def test_a_failing_stage_is_named_and_fails_the_whole(machine: Machine) -> None:
    lines = "set -euo pipefail; source scripts/common.sh; stage good true; stage bad false; stage later true; finish"
    done = machine.run("bash", "-c", lines)
    assert done.returncode == 1
    rows = [line.split() for line in done.stdout.splitlines() if " min " in line]
    assert [(row[2], row[3]) for row in rows[:3]] == [("good", "passed"), ("bad", "FAILED"), ("later", "passed")]
