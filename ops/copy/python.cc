#include "native/operator.h"
#include "operator_runtime/ops/copy.h"

namespace oprt_python {
namespace {

struct Copy : OperatorTraits<1> {
  OPRT_PYTHON_FUNCTIONS(copy)

  static oprt_tensor_view_t infer(const Operands& operands, const Attributes&) {
    const oprt_tensor_view_t& in = operands.view(1);
    return contiguous_view(in.dtype, in.device, in.ndim, in.shape);
  }
};

constexpr Docs kDocs = {
    R"(A row-major contiguous copy of x, bit for bit.

x has 0 to 8 dimensions, any strides and any dtype; the result has its shape, dtype, device and kind.

Raises TypeError if x is no tensor, ValueError if it cannot be read (conjugated, sparse, ...), RuntimeError if it requires grad
while grad mode is on or is dual, or the backend is not available.

>>> import numpy as np
>>> from operator_runtime import copy
>>> copy(np.arange(6, dtype=np.int32).reshape(2, 3).T)
array([[0, 3],
       [1, 4],
       [2, 5]], dtype=int32)
)",
    R"(Copies x to out, bit for bit, and returns out.

Both have one shape and dtype, of 0 to 8 dimensions; any strides, but out writes no address twice. out may be exactly x.

Raises what copy(x) raises, ValueError also for another shape or device and for memory that overlaps, NotImplementedError for
another dtype. Nothing is written then.

>>> import numpy as np
>>> from operator_runtime import copy_
>>> copy_(np.zeros(3), np.array([1.0, 2.0, 3.0])[::-1])
array([3., 2., 1.])
)",
    R"(Checks copy_(out, x) once and returns a Prepared, whose run() computes it.

workspace is a contiguous tensor on out's device, aligned to 256 bytes, or None to have it allocated. Raises what copy_ raises.

>>> import numpy as np
>>> from operator_runtime import prepare_copy
>>> out = np.zeros(2)
>>> with prepare_copy(out, np.ones(2)) as prepared:
...     prepared.run()
>>> out
array([1., 1.])
)"};

}  // namespace

void bind_copy(nb::module_& module) { bind<Copy>(module, kDocs); }

}  // namespace oprt_python
