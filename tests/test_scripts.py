"""What the scripts say and do on machines that lack something. Such a machine is a folder of programs, the only one on PATH."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import missing_packages  # noqa: E402

BASICS = ("bash", "dirname", "nproc", "mkdir", "cat", "sha256sum", "cut", "df", "awk", "cp", "chmod", "grep", "sort")
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
    *lines, how = machine.missing(OPRT_PYTHON="bare")
    names = ["torch", "numpy", "cmake", "ninja", "nanobind", "pytest", "hypothesis", "rich"]
    assert [line.split()[0] for line in lines] == names
    assert lines[0].startswith("torch 2.10 or newer is missing (torch is not installed).")
    assert "apt-get install ninja-build" in lines[3]
    assert how.endswith(f"-m pip install {' '.join(names)}; then OPRT_PYTHON=~/oprt_venv/bin/python")


@pytest.mark.parametrize("is_managed", [True, False])
def test_an_interpreter_that_its_distribution_manages_is_not_told_to_use_pip(
    is_managed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if is_managed:
        (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.setattr(missing_packages.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(missing_packages, "installed_version", lambda name: None if name == "rich" else "99.9")
    missing_packages.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("rich is missing (rich is not installed).")
    assert (f"{sys.executable} -m pip install" in " ".join(lines)) != is_managed
    assert ("-m venv --system-site-packages ~/oprt_venv && ~/oprt_venv/bin/python -m pip install rich;" in lines[-1]) == is_managed


@needs_headers
@pytest.mark.parametrize(("named", "what"), [("nowhere", "not there"), ("cat", "no Python"), ("python3 -E", "not there")])
def test_an_interpreter_that_is_none_is_named_with_what_it_is(machine: Machine, named: str, what: str) -> None:
    machine.add_compilers()
    machine.add_python()
    (line,) = machine.missing(OPRT_PYTHON=named)
    assert line.startswith(f"Python 3.10 to 3.14 is missing (OPRT_PYTHON={named} is {what}). ")


@needs_headers
@pytest.mark.parametrize("variable", ["CC", "CXX", "CUDACXX"])
def test_a_variable_that_names_no_compiler_is_said_before_anything_is_downloaded(machine: Machine, variable: str) -> None:
    machine.add_compilers()
    machine.add_python()
    (line,) = machine.missing(**{variable: "/nowhere/compiler -m64"})
    assert line.startswith(f"{variable}=/nowhere/compiler -m64 is missing. ")


@needs_headers
def test_a_c_compiler_that_does_not_compile_is_named(machine: Machine) -> None:
    machine.add_compilers()
    machine.add_python()
    machine.add("broken", "exit 1")
    (line,) = machine.missing(CC="broken")
    assert line.startswith("broken does not compile C ")


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
        f"Downloading about 0.3 GB into .venv, where it takes 1.2 GB (requirements.txt; torch for the CPU from {url})",
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


OPTIONS = "CAMP_ENABLE_NVIDIA:BOOL=OFF\nCMAKE_BUILD_TYPE:STRING=Release\n"


@pytest.fixture
def configured(machine: Machine) -> Machine:
    """Configured as far as the scripts can see, a while ago."""
    machine.add_python()
    (machine.tree / "build").mkdir()
    (machine.tree / "build/build.ninja").touch()
    (machine.tree / "build/CMakeCache.txt").write_text(OPTIONS)
    machine.run("bash", "-c", "source scripts/common.sh; { configuration_key python3; cached_options; } >build/.configured")
    return machine


def is_configured(machine: Machine, **variables: str) -> bool:
    return machine.run("bash", "-c", "source scripts/common.sh; is_configured python3", **variables).returncode == 0


def test_what_may_be_skipped_does_not_rebuild_and_warnings_as_errors_do(configured: Machine) -> None:
    assert is_configured(configured)
    assert is_configured(configured, OPRT_REQUIRE_ALL="1")
    assert not is_configured(configured, OPRT_WARNINGS_AS_ERRORS="1")
    assert not is_configured(configured, CXX="g++")


def test_a_folder_that_was_given_other_options_by_hand_is_configured_again(configured: Machine) -> None:
    cache = configured.tree / "build/CMakeCache.txt"
    cache.write_text(f"# made anew\n{OPTIONS}CMAKE_AR:FILEPATH=/usr/bin/ar\n")
    assert is_configured(configured)
    cache.write_text(OPTIONS.replace("OFF", "ON"))
    assert not is_configured(configured)


def test_cuda_can_be_left_out(configured: Machine) -> None:
    assert not is_configured(configured, CAMP_ENABLE_NVIDIA="OFF")


@pytest.mark.parametrize(("status", "rows"), [(0, ["built"]), (3, [])])
def test_a_build_that_no_terminal_shows_says_so_first_and_shows_its_log_after_a_failure(
    machine: Machine, status: int, rows: list[str]
) -> None:
    machine.link("tail")
    machine.add("cmake", f"echo compiling $*; echo went wrong >&2; exit {status}")
    done = machine.run("bash", "-c", "set -e; source scripts/common.sh; build_quietly one; echo built")
    assert done.stdout.splitlines()[0].startswith("Building into build ")
    assert done.stdout.splitlines()[1:] == rows
    assert ("went wrong" in done.stderr) == (status != 0)
    assert "compiling --build build -j" in (machine.tree / "build/build.log").read_text()


def test_a_terminal_sees_the_build_itself(machine: Machine) -> None:
    machine.add("cmake", "[[ -t 1 ]] && echo on a terminal")
    parent, child = pty.openpty()
    env = {"PATH": str(machine.programs)}
    subprocess.run(
        ["bash", "-c", "source scripts/common.sh; build_quietly one"], cwd=machine.tree, env=env, stdout=child, check=True
    )
    os.close(child)
    assert os.read(parent, 1000).split() == b"on a terminal".split()
    os.close(parent)
