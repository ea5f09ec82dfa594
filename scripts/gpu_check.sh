#!/usr/bin/env bash
# Everything that only a GPU can show, in one command: cases, sanitizers, stress; with --bench also times against the measured ceiling and
# PyTorch. Needs nvcc and an NVIDIA GPU; no network with OPRT_PYTHON=python3. Writes gpu-check-<device>-<date>.{json,md} into --out (default
# benchmarks/results). Exit code 1 if a stage fails, 2 where nvcc is missing, 77 where no GPU is available.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

set_up requirements.txt
if [[ -z $(nvcc_path) ]]; then
  echo "gpu_check.sh needs nvcc, and there is none here: install the CUDA toolkit, or set CUDACXX" >&2
  exit 2
fi
configure
build >"$build_dir/build.log" 2>&1 || {
  tail -n 60 "$build_dir/build.log" >&2
  exit 1
}
export CAMP_BUILD_DIR=$build_dir
exec "$python" scripts/gpu_check.py --build "$build_dir" "$@"
