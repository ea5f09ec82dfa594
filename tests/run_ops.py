"""Validates and benchmarks operators: `python tests/run_ops.py --op softmax --backend cpu --mode all`.

Finds the package and its build by itself; CAMP_BUILD_DIR names another build folder.
"""

import sys
from pathlib import Path

from packages import needed

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

if __name__ == "__main__":
    with needed("run_ops.py"):
        from operator_runtime_testing.runner import main

        sys.exit(main(ROOT))
