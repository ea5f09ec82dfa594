#!/usr/bin/env bash
# From a fresh clone to a table: sets up .venv, builds, validates and benchmarks every operator on the best backend of this machine.
# Arguments are handed to tests/run_ops.py in place of "--op all --mode all". Variables: scripts/common.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

set_up requirements.txt
configure
build_quietly _native

export CAMP_BUILD_DIR=$build_dir
backend=$("$python" scripts/best_backend.py)
if (($# == 0)); then set -- --op all --mode all; fi
exec "$python" tests/run_ops.py --backend "$backend" "$@"
