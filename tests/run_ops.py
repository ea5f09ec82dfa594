"""Validates and benchmarks operators: `python tests/run_ops.py --op softmax --backend cpu --mode all`.

Finds the package and its build by itself; CAMP_BUILD_DIR names another build folder.
"""

import os
import sys
from pathlib import Path

from packages import needed

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
FAILED, INTERRUPTED = 1, 130


def run() -> int:
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115
    try:
        with needed("run_ops.py"):
            from operator_runtime_testing.runner import main

            code = main(ROOT)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("run_ops.py: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output is gone; the interpreter flushes once more when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    return code


if __name__ == "__main__":
    sys.exit(run())
