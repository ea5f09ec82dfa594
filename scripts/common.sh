# For run.sh, test.sh and lint.sh to source: says what is missing, fills .venv, configures and builds. Nothing is written outside the
# tree: temporary files, pip's downloads and compiled bytecode of an interpreter that is not ours go under the build folder.
#
#   OPRT_PYTHON=python3        use this interpreter and install nothing
#   OPRT_TORCH_INDEX_URL=URL   hand this package index to pip, for another build of torch
#   OPRT_REQUIRE_ALL=1         what would be skipped for want of a tool is a failure
#   OPRT_WARNINGS_AS_ERRORS=1  a warning of the compiler is a failure
#   CAMP_BUILD_DIR=build       the build folder

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
build_dir=${CAMP_BUILD_DIR:-build}
require_all=${OPRT_REQUIRE_ALL:-0}
# Users have compilers newer than ours: a warning that ours does not know must not end their first try.
warnings_are_errors=OFF
[[ ${OPRT_WARNINGS_AS_ERRORS:-} != 1 ]] || warnings_are_errors=ON
jobs=$(nproc)

mkdir -p "$build_dir/tmp"
TMPDIR=$(cd "$build_dir/tmp" && pwd)
export TMPDIR
export CUDA_CACHE_PATH=${TMPDIR%/tmp}/cuda_cache
export PYTHONNOUSERSITE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

source scripts/missing.sh

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
    echo "Downloading about 0.3 GB into .venv, where it takes 1.2 GB ($1; torch for the CPU from $OPRT_TORCH_INDEX_URL)"
  else
    echo "Downloading up to several GB into .venv ($1; with a CPU build of torch it is 0.3 GB, see OPRT_TORCH_INDEX_URL in README.md)"
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
  printf '%s\n' "$root" "$1" "$(python_version "$1")" "${CC:-} ${CXX:-}" "$(nvcc_path)" "${CAMP_ENABLE_NVIDIA:-}" "$warnings_are_errors" \
    "$(requirements_hash requirements.txt)"
}

# What CMake was told; another configuration of the same folder that says the same changes nothing.
cached_options() {
  grep -E '^((CAMP|OPRT)_[A-Z_]*|CMAKE_(BUILD_TYPE|(C|CXX|CUDA)_COMPILER)|Python_EXECUTABLE):' "$build_dir/CMakeCache.txt" | sort
}

# is_configured INTERPRETER: as these scripts do it.
is_configured() {
  local made=$build_dir/.configured
  [[ -f $build_dir/build.ninja && -f $made && $(<"$made") == "$(configuration_key "$1" && cached_options)" ]]
}

configure() {
  is_configured "$python" && return
  local nvcc nvidia=OFF
  nvcc=$(nvcc_path)
  if [[ ${CAMP_ENABLE_NVIDIA:-} == OFF ]]; then
    echo "NVIDIA is off: CAMP_ENABLE_NVIDIA=OFF"
  elif [[ -z $nvcc ]]; then
    echo "NVIDIA is off: there is no nvcc"
  elif nvcc_works "$nvcc"; then
    nvidia=ON
    CUDACXX=$(command -v "$nvcc")
    export CUDACXX
  else
    echo "NVIDIA is off: $nvcc does not compile a trivial file ($build_dir/tmp/nvcc_probe.log)"
  fi
  rm -f "$build_dir/.configured" build/asan/CMakeCache.txt build-emulation*/CMakeCache.txt
  cmake --fresh --preset release -B "$build_dir" "-DCAMP_ENABLE_NVIDIA=$nvidia" "-DPython_EXECUTABLE=$python" \
    "-DCMAKE_COMPILE_WARNING_AS_ERROR=$warnings_are_errors" >"$build_dir/configure.log" 2>&1 || {
    cat "$build_dir/configure.log" >&2
    exit 2
  }
  grep 'Operator Runtime:' "$build_dir/configure.log" || true
  { configuration_key "$python" && cached_options; } >"$build_dir/.configured"
}

# build TARGET...
build() {
  local target targets=()
  for target in "$@"; do targets+=(--target "$target"); done
  cmake --build "$build_dir" -j "$jobs" "${targets[@]}"
}

# build_quietly TARGET...: a terminal gets Ninja's status line, and anything else a line now and the log after a failure.
build_quietly() {
  if [[ -t 1 ]]; then
    build "$@"
    return
  fi
  echo "Building into $build_dir what has changed, minutes the first time (log: $build_dir/build.log)"
  build "$@" >"$build_dir/build.log" 2>&1 || {
    tail -n 60 "$build_dir/build.log" >&2
    return 1
  }
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
