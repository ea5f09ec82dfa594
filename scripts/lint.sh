#!/usr/bin/env bash
# Format, static analysis, types and the rules of the tree. Sets up .venv where that is needed. Variables: scripts/common.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# has TOOL: or says that its stage is skipped.
has() {
  command -v "$1" >/dev/null && return
  skip "$1" "it is not installed (requirements-dev.txt lists it)" && exit 0
  exit 1
}

# sources: C, C++, CUDA and MACA files of ours, NUL-separated.
sources() {
  find include src ops python tests examples benchmarks -type f \
    \( -name '*.h' -o -name '*.hpp' -o -name '*.c' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' -o -name '*.maca' \) -print0
}

clang_format() {
  has clang-format
  sources | xargs -0 clang-format --dry-run -Werror
}

clang_tidy() {
  has clang-tidy
  cmake "$build_dir" >"$build_dir/configure.log"  # files may have come and gone since
  "$python" scripts/tidy_files.py "$build_dir/compile_commands.json" |
    xargs -P "$jobs" -n 1 clang-tidy --quiet -p "$build_dir" 2>"$TMPDIR/clang_tidy.log" || {
    grep -v -E 'warnings? (generated|treated)|Suppressed|^Use -' "$TMPDIR/clang_tidy.log" >&2
    return 1
  }
}

ruff_check() {
  has ruff
  ruff check .
  ruff format --check .
}

mypy_check() {
  has mypy
  "$python" -m mypy
}

# What nvcc makes of the kernels, for this build's architectures and, one file of each operator, for others.
device_code() {
  if ! grep -q '^CAMP_ENABLE_NVIDIA:BOOL=ON' "$build_dir/CMakeCache.txt"; then
    skip 'device code' "NVIDIA is off in $build_dir, there is no nvcc that works"
    return
  fi
  build oprt_kernels_nvidia other_architectures
  "$python" scripts/check_device_code.py "$build_dir" || {
    (($? > 1)) || return 1
    skip 'device code' "it could not be read: nvdisasm is missing ($python -m pip install -r requirements-dev.txt), or the code is"
  }
}

shell_syntax() {
  local file
  for file in scripts/*.sh .ci/run; do bash -n "$file"; done
}

set_up requirements.txt requirements-dev.txt
configure
stage clang-format clang_format
stage clang-tidy clang_tidy
stage ruff ruff_check
stage mypy mypy_check
stage layers "$python" scripts/check_layers.py
stage dialect "$python" scripts/check_dialect.py
stage 'device code' device_code
stage 'last GPU check' "$python" scripts/kernel_hash.py --check
stage 'shell syntax' shell_syntax
finish
