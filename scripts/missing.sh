# For common.sh to source: what this machine lacks, a line each in `missing`, and which compilers and Python it has.

missing=()

# stop_if_missing: one line per missing thing, then exit code 2.
stop_if_missing() {
  ((${#missing[@]} == 0)) && return
  printf '%s\n' "${missing[@]}" >&2
  exit 2
}

# install_line DEBIAN FEDORA
install_line() { printf 'Debian, Ubuntu: apt-get install %s; Fedora: dnf install %s' "$1" "$2"; }

# python_version INTERPRETER: "3.11", or nothing where it is no Python that runs.
python_version() {
  local version
  version=$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || true
  [[ ! $version =~ ^[0-9]+\.[0-9]+$ ]] || printf '%s' "$version"
}

# supported_python INTERPRETER
supported_python() { [[ $(python_version "$1") =~ ^3\.1[0-4]$ ]]; }

# Sets base_python, the interpreter that makes .venv or that OPRT_PYTHON names.
find_python() {
  local candidate candidates=(python3 python3.14 python3.13 python3.12 python3.11 python3.10) is
  [[ -z ${OPRT_PYTHON:-} ]] || candidates=("$OPRT_PYTHON")
  base_python=
  for candidate in "${candidates[@]}"; do
    if supported_python "$candidate"; then
      base_python=$(command -v "$candidate")
      return
    fi
  done
  is=$(python_version "${candidates[0]}")
  [[ -n $is ]] || if command -v "${candidates[0]}" >/dev/null; then is='no Python'; else is='not there'; fi
  missing+=("Python 3.10 to 3.14 is missing (${OPRT_PYTHON:+OPRT_PYTHON=}${candidates[0]} is $is). \
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

# What CC and CXX name, or the compilers that are here.
c_compiler() { first_that_runs "${CC:-}" cc gcc clang; }
cxx_compiler() { first_that_runs "${CXX:-}" c++ g++ clang++; }

# A variable that names what is not there would fail in CMake, or be passed over.
check_named_compilers() {
  local name named
  for name in CC CXX CUDACXX; do
    named=${!name:-}
    [[ -z $named ]] || command -v "${named%% *}" >/dev/null ||
      missing+=("$name=$named is missing. Correct it, or unset it to use the compiler that is found")
  done
}

check_compilers() {
  local cxx cc probe=$TMPDIR/probe
  cc=$(c_compiler)
  cxx=$(cxx_compiler)
  printf 'int main(void) { return 0; }\n' >"$probe.c"
  if [[ -z $cc ]]; then
    missing+=("A C compiler is missing. $(install_line gcc gcc)")
  elif ! $cc "$probe.c" -o "$probe" >"$probe.log" 2>&1; then
    missing+=("$cc does not compile C (see ${probe#"$root"/}.log). $(install_line 'gcc libc6-dev' gcc)")
  fi
  if [[ -z $cxx ]]; then
    missing+=("A C++20 compiler is missing. $(install_line g++ gcc-c++)")
    return
  fi
  printf '%s\n' '#include <bit>' '#include <span>' 'int main() {' '  const int two[2] = {1, 2};' \
    '  return std::span<const int>(two).size() == 2 && std::bit_cast<unsigned>(0.0f) == 0 ? 0 : 1;' '}' >"$probe.cc"
  $cxx -std=c++20 "$probe.cc" -o "$probe" >"$probe++.log" 2>&1 ||
    missing+=("$cxx does not compile C++20 (see ${probe#"$root"/}++.log); g++ 11 or clang++ 14 is the oldest that does. \
$(install_line g++ gcc-c++)")
}

check_tools() {
  check_python_headers
  check_named_compilers
  check_compilers
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
