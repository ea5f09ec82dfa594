# For run.sh, test.sh and lint.sh to source: says what is missing, fills .venv, configures and builds. Nothing is written outside the
# tree: temporary files, pip's downloads and compiled bytecode of an interpreter that is not ours go under the build folder.
#
#   OPRT_PYTHON=python3        use this interpreter and install nothing
#   OPRT_TORCH_INDEX_URL=URL   hand this package index to pip, for another build of torch
#   OPRT_REQUIRE_ALL=1         what would be skipped for want of a tool is a failure, warnings of the compiler too
#   CAMP_BUILD_DIR=build       the build folder

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
build_dir=${CAMP_BUILD_DIR:-build}
require_all=${OPRT_REQUIRE_ALL:-0}
# Users have compilers newer than ours: a warning that ours does not know must not end their first try.
warnings_are_errors=OFF
[[ $require_all != 1 ]] || warnings_are_errors=ON
jobs=$(nproc)

mkdir -p "$build_dir/tmp"
TMPDIR=$(cd "$build_dir/tmp" && pwd)
export TMPDIR
export CUDA_CACHE_PATH=${TMPDIR%/tmp}/cuda_cache
export PYTHONNOUSERSITE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

missing=()

# stop_if_missing: one line per missing thing, then exit code 2.
stop_if_missing() {
  ((${#missing[@]} == 0)) && return
  printf '%s\n' "${missing[@]}" >&2
  exit 2
}

# install_line DEBIAN FEDORA
install_line() { printf 'Debian, Ubuntu: apt-get install %s; Fedora: dnf install %s' "$1" "$2"; }

# python_version INTERPRETER: "3.11", or nothing where it does not run.
python_version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true; }

# supported_python INTERPRETER
supported_python() { [[ $(python_version "$1") =~ ^3\.1[0-4]$ ]]; }

# Sets base_python, the interpreter that makes .venv or that OPRT_PYTHON names.
find_python() {
  local candidate
  base_python=
  for candidate in ${OPRT_PYTHON:-python3 python3.14 python3.13 python3.12 python3.11 python3.10}; do
    if supported_python "$candidate"; then
      base_python=$(command -v "$candidate")
      return
    fi
  done
  local tried=${OPRT_PYTHON:-python3} version
  version=$(python_version "$tried")
  missing+=("Python 3.10 to 3.14 is missing ($tried is ${version:-not there}). \
$(install_line 'python3 python3-venv python3-dev' 'python3 python3-devel')")
}

check_python_headers() {
  local version include
  [[ -n $base_python ]] || return 0
  version=$(python_version "$base_python")
  include=$("$base_python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
  [[ -f $include/Python.h ]] ||
    missing+=("Python's headers are missing ($include/Python.h). $(install_line "python$version-dev" python3-devel)")
}

check_venv_module() {
  [[ -n $base_python ]] || return 0
  "$base_python" -c 'import ensurepip, venv' 2>/dev/null ||
    missing+=("Python's venv module is missing. $(install_line "python$(python_version "$base_python")-venv" python3)")
}

# first_that_runs COMMAND...
first_that_runs() {
  local candidate
  for candidate in "$@"; do
    if [[ -n $candidate ]] && command -v "${candidate%% *}" >/dev/null; then
      printf '%s' "$candidate"
      return
    fi
  done
}

check_compilers() {
  local cxx cc probe=$TMPDIR/probe
  cc=$(first_that_runs "${CC:-}" cc gcc clang)
  cxx=$(first_that_runs "${CXX:-}" c++ g++ clang++)
  [[ -n $cc ]] || missing+=("A C compiler is missing. $(install_line gcc gcc)")
  if [[ -z $cxx ]]; then
    missing+=("A C++20 compiler is missing. $(install_line g++ gcc-c++)")
    return
  fi
  printf '%s\n' '#include <bit>' '#include <span>' 'int main() {' '  const int two[2] = {1, 2};' \
    '  return std::span<const int>(two).size() == 2 && std::bit_cast<unsigned>(0.0f) == 0 ? 0 : 1;' '}' >"$probe.cc"
  $cxx -std=c++20 "$probe.cc" -o "$probe" >"$probe.log" 2>&1 ||
    missing+=("$cxx does not compile C++20 (see ${probe#"$root"/}.log); g++ 11 or clang++ 14 is the oldest that does. \
$(install_line g++ gcc-c++)")
}

# check_disk GIGABYTES WHAT
check_disk() {
  local free_kib
  free_kib=$(df -Pk "$root" | awk 'NR == 2 {print $4}')
  ((free_kib >= $1 * 1000 * 1000)) ||
    missing+=("Disk space is missing: $2 needs $1 GB here, $((free_kib / 1000 / 1000)) GB are free. Free some, or see \
OPRT_TORCH_INDEX_URL in README.md for a smaller build of torch.")
}

# What OPRT_PYTHON lacks, one line each.
check_packages() {
  local name
  [[ -n $base_python ]] || return 0
  while read -r name; do
    missing+=("$name")
  done < <("$base_python" scripts/missing_packages.py)
}

requirements_hash() { cat "$@" | sha256sum | cut -c1-16; }

# pip_install FILE: into .venv, unless this very file was installed there before.
pip_install() {
  local stamp=$root/.venv/.installed-$1 key
  key="$(requirements_hash "$1") ${OPRT_TORCH_INDEX_URL:-}"
  [[ -f $stamp && $(<"$stamp") == "$key" ]] && return
  say_download "$1"
  local options=(--no-cache-dir --only-binary=:all:)
  [[ -z ${OPRT_TORCH_INDEX_URL:-} ]] || options+=(--extra-index-url "$OPRT_TORCH_INDEX_URL")
  [[ -t 1 ]] || options+=(-qq)  # a terminal gets pip's progress bars
  "$python" -m pip install "${options[@]}" -r "$1" || {
    echo "pip could not install $1. Without a network: OPRT_PYTHON=python3 $0 uses what is installed." >&2
    exit 2
  }
  printf '%s' "$key" >"$stamp"
}

is_cpu_index() { [[ ${OPRT_TORCH_INDEX_URL:-} =~ /cpu/?$ ]]; }

say_download() {
  if [[ $1 != requirements.txt ]]; then
    echo "Downloading about 70 MB into .venv ($1)"
  elif is_cpu_index; then
    echo "Downloading about 0.3 GB into .venv, where it takes 1.3 GB ($1; torch for the CPU from $OPRT_TORCH_INDEX_URL)"
  else
    echo "Downloading up to 3 GB into .venv, where it takes up to 6 GB ($1; a CPU build of torch is 0.2 GB, see" \
      "OPRT_TORCH_INDEX_URL in README.md)"
  fi
}

# True where .venv belongs to this folder and its interpreter still runs.
venv_is_good() { [[ -f .venv/.root && $(<.venv/.root) == "$root" ]] && supported_python .venv/bin/python; }

# set_up REQUIREMENTS...: sets `python` and puts its programs first in PATH. Exits with 2 and a line for each thing that is missing.
set_up() {
  if [[ -n ${OPRT_PYTHON:-} ]]; then
    find_python
    export PYTHONPYCACHEPREFIX=${TMPDIR%/tmp}/pycache
    [[ -z $base_python ]] || PATH=$("$base_python" -c 'import sysconfig; print(sysconfig.get_path("scripts"))'):$PATH
    check_packages
    is_configured "$base_python" || check_tools
    stop_if_missing
    python=$base_python
    return
  fi
  if venv_is_good; then
    python=$root/.venv/bin/python
    base_python=$python
  else
    find_python
    check_venv_module
    if is_cpu_index; then check_disk 2 'a CPU build of torch'; else check_disk 9 'torch, with its download,'; fi
  fi
  is_configured "$root/.venv/bin/python" || check_tools
  stop_if_missing
  if ! venv_is_good; then
    "$base_python" -m venv --clear .venv
    printf '%s' "$root" >.venv/.root
    python=$root/.venv/bin/python
  fi
  PATH=$root/.venv/bin:$PATH
  local file
  for file in "$@"; do pip_install "$file"; done
}

check_tools() {
  check_python_headers
  check_compilers
}

# In full, so that it reads the same after CUDACXX has been set to it.
nvcc_path() { command -v "$(first_that_runs "${CUDACXX:-}" nvcc /usr/local/cuda/bin/nvcc)" || true; }

# Whether nvcc compiles, with the host compiler that is here.
nvcc_works() {
  local nvcc=$1 probe=$TMPDIR/nvcc_probe
  printf '__global__ void probe(int* out) { *out = 1; }\n' >"$probe.cu"
  "$nvcc" -std=c++20 -c "$probe.cu" -o "$probe.o" >"$probe.log" 2>&1
}

# What the build folder's configuration depends on besides CMake's own files.
configuration_key() {
  printf '%s\n' "$root" "$1" "$(python_version "$1")" "${CC:-} ${CXX:-}" "$(nvcc_path)" "$require_all" \
    "$(requirements_hash requirements.txt)"
}

# is_configured INTERPRETER
is_configured() {
  [[ -f $build_dir/build.ninja && -f $build_dir/.configured && $(<"$build_dir/.configured") == "$(configuration_key "$1")" ]]
}

configure() {
  is_configured "$python" && return
  local nvcc nvidia=OFF
  nvcc=$(nvcc_path)
  if [[ -z $nvcc ]]; then
    echo "NVIDIA is off: there is no nvcc"
  elif nvcc_works "$nvcc"; then
    nvidia=ON
    CUDACXX=$(command -v "$nvcc")
    export CUDACXX
  else
    echo "NVIDIA is off: $nvcc does not compile a trivial file ($build_dir/tmp/nvcc_probe.log)"
  fi
  rm -f "$build_dir/.configured" build/asan/CMakeCache.txt
  cmake --fresh --preset release -B "$build_dir" "-DCAMP_ENABLE_NVIDIA=$nvidia" "-DPython_EXECUTABLE=$python" \
    "-DCMAKE_COMPILE_WARNING_AS_ERROR=$warnings_are_errors" >"$build_dir/configure.log" 2>&1 || {
    cat "$build_dir/configure.log" >&2
    exit 2
  }
  grep 'Operator Runtime:' "$build_dir/configure.log" || true
  configuration_key "$python" >"$build_dir/.configured"
}

# build TARGET...
build() {
  local target targets=()
  for target in "$@"; do targets+=(--target "$target"); done
  cmake --build "$build_dir" -j "$jobs" "${targets[@]}"
}

# skip NAME REASON: says so, and fails where nothing may be skipped.
skip() {
  echo "skipped: $1: $2"
  [[ $require_all != 1 ]]
}

stage_rows=()
failed_stages=0

# stage NAME COMMAND...: runs it in a shell of its own, notes its minutes and whether it passed.
stage() {
  local name=$1 start=$SECONDS code verdict=passed
  shift
  echo "== $name"
  set +e
  (
    set -e
    "$@"
  )
  code=$?
  set -e
  ((code == 0)) || {
    verdict="FAILED ($code)"
    failed_stages=$((failed_stages + 1))
  }
  stage_rows+=("$(printf '%5.1f min  %-28s %s' "$(minutes_since "$start")" "$name" "$verdict")")
}

minutes_since() { awk -v s=$((SECONDS - $1)) 'BEGIN {print s / 60}'; }

# finish: prints the stages; exit code 1 where one failed.
finish() {
  printf '%s\n' '' "${stage_rows[@]}"
  printf '%5.1f min  in all\n' "$(minutes_since 0)"
  ((failed_stages == 0))
}
