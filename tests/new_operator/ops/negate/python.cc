#include "native/operator.h"
#include "operator_runtime/ops/negate.h"

namespace oprt_python {
namespace {

struct Negate : OperatorTraits<1> {
  OPRT_PYTHON_FUNCTIONS(negate)

  static oprt_tensor_view_t infer(const Operands& operands, const Attributes&) {
    const oprt_tensor_view_t& in = operands.view(1);
    return contiguous_view(in.dtype, in.device, in.ndim, in.shape);
  }
};

constexpr Docs kDocs = {
    R"(-x, as a new row-major contiguous tensor.

x is float32 or float64, has 0 to 8 dimensions and any strides; the result has its shape, dtype, device and kind.

Raises TypeError if x is no tensor, ValueError if it cannot be read (conjugated, sparse, ...), NotImplementedError for another
dtype, RuntimeError if x requires grad while grad mode is on or is dual, or the backend is not available.

>>> import numpy as np
>>> from operator_runtime import negate
>>> negate(np.array([1.0, -2.0]))
array([-1.,  2.])
)",
    R"(Writes -x to out and returns out.

Both have one shape and dtype; any strides, but out writes no address twice. out may be exactly x.

Raises what negate(x) raises, ValueError also for another shape or device and for memory that overlaps. Nothing is written then.

>>> import numpy as np
>>> from operator_runtime import negate_
>>> negate_(np.zeros(2), np.array([1.0, -2.0]))
array([-1.,  2.])
)",
    R"(Checks negate_(out, x) once and returns a Prepared, whose run() computes it.

workspace is a contiguous tensor on out's device, aligned to 256 bytes, or None to have it allocated. Raises what negate_ raises.

>>> import numpy as np
>>> from operator_runtime import prepare_negate
>>> out = np.zeros(2)
>>> with prepare_negate(out, np.array([1.0, -2.0])) as prepared:
...     prepared.run()
>>> out
array([-1.,  2.])
)"};

}  // namespace

void bind_negate(nb::module_& module) { bind<Negate>(module, kDocs); }

}  // namespace oprt_python
