"""The three call forms of an operator. Runs from a clone after a build: python examples/python/quickstart.py"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))  # an installed package needs no such line

# [run]
import numpy as np

from operator_runtime import ops

x = np.arange(6, dtype=np.float32).reshape(2, 3)
y = ops.softmax(x, dim=-1)  # allocates; a torch tensor in gives a torch tensor out

out = np.empty_like(x)
ops.softmax_(out, x, dim=-1)  # writes into out and returns it

with ops.prepare_softmax(out, x, dim=-1) as prepared:  # checked once; run() as often as you like
    prepared.run()
    print(prepared.implementation)
# [/run]

print(y)
assert np.allclose(y.sum(axis=-1), 1.0, atol=1e-6)
assert np.array_equal(y, out)
