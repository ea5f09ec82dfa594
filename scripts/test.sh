#!/usr/bin/env bash
# Sets up as run.sh does where that is needed, then runs every test: C and C++, Python, both again under sanitizers where they are C
# or C++, the kernels of GPUs in the emulator, and the documents' snippets. Variables: scripts/common.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_all() {
  build
  build planted
}

# GoogleTest may have come after the last configuration.
has_unit_tests() { [[ -x $1/tests/unit_tests ]]; }

c_and_cxx_tests() {
  if ! has_unit_tests "$build_dir"; then
    cmake "$build_dir" >"$build_dir/configure.log"
    build
  fi
  ctest --test-dir "$build_dir" --output-on-failure --no-tests=error -j "$jobs"
  has_unit_tests "$build_dir" ||
    skip 'C++ unit tests' "GoogleTest is not installed ($(install_line libgtest-dev gtest-devel))"
}

python_tests() { CAMP_BUILD_DIR=$build_dir "$python" -m pytest tests -q -ra --backend cpu; }

sanitizer_tests() {
  printf 'int main() {}\n' >"$TMPDIR/sanitizer_probe.cc"
  if ! $(cxx_compiler) -fsanitize=address,undefined "$TMPDIR/sanitizer_probe.cc" -o "$TMPDIR/sanitizer_probe" 2>/dev/null; then
    skip 'tests under sanitizers' "the compiler has no sanitizer libraries ($(install_line libasan8 'libasan libubsan'))"
    return
  fi
  cmake --preset asan "-DCMAKE_COMPILE_WARNING_AS_ERROR=$warnings_are_errors" >"$TMPDIR/asan.log" 2>&1 || {
    cat "$TMPDIR/asan.log" >&2
    return 1
  }
  cmake --build --preset asan -j "$jobs"
  ctest --preset asan --no-tests=error -j "$jobs"
}

# emulation_tests PRESET: the kernels of nvidia and metax on the CPU. A kernel that is right in one order of threads may be wrong in
# another.
emulation_tests() {
  local backend order
  cmake --preset "$1" "-DPython_EXECUTABLE=$python" "-DCMAKE_COMPILE_WARNING_AS_ERROR=$warnings_are_errors" \
    >"$TMPDIR/$1.log" 2>&1 || {
    cat "$TMPDIR/$1.log" >&2
    return 1
  }
  cmake --build --preset "$1" -j "$jobs"
  ctest --test-dir "build-$1" --output-on-failure --no-tests=error -j "$jobs"
  for backend in nvidia metax; do
    CAMP_BUILD_DIR=build-$1 "$python" -m pytest tests/test_emulation.py -q -ra --backend $backend
    for order in forward reverse shuffle:1; do
      echo "$backend, threads in order $order"
      CAMP_BUILD_DIR=build-$1 OPRT_EMULATOR_ORDER=$order "$python" tests/run_ops.py --op all --backend $backend --mode test
    done
  done
}

set_up requirements.txt
stage_rows+=("$(printf '%5.1f min  %-28s %s' "$(minutes_since 0)" set-up passed)")
configure
stage build build_all
((failed_stages == 0)) || finish
stage 'C and C++ tests' c_and_cxx_tests
stage 'Python tests' python_tests
stage 'C and C++ under ASan, UBSan' sanitizer_tests
stage 'emulated kernels' emulation_tests emulation
stage 'emulated kernels, checked' emulation_tests emulation-check
finish
