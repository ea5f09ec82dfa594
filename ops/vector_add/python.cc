#include <algorithm>

#include "native/operator.h"
#include "operator_runtime/ops/vector_add.h"

namespace oprt_python {
namespace {

struct VectorAdd : OperatorTraits<2> {
  OPRT_PYTHON_FUNCTIONS(vector_add)
  static constexpr std::array kInputNames = {"a", "b"};

  static oprt_tensor_view_t infer(const Operands& operands, const Attributes&) {
    const oprt_tensor_view_t& a = operands.view(1);
    const oprt_tensor_view_t& b = operands.view(2);
    const int32_t ndim = std::max(a.ndim, b.ndim);
    int64_t shape[OPRT_MAX_DIMS];
    for (int32_t d = 0; d < ndim; ++d) {
      const int64_t a_size = d < ndim - a.ndim ? 1 : a.shape[d - (ndim - a.ndim)];
      const int64_t b_size = d < ndim - b.ndim ? 1 : b.shape[d - (ndim - b.ndim)];
      shape[d] = a_size == 1 ? b_size : a_size;
    }
    return contiguous_view(a.dtype, a.device, ndim, shape);
  }
};

constexpr Docs kDocs = {
    R"(a + b with NumPy broadcasting, as a new row-major contiguous tensor.

a and b have 0 to 8 dimensions, any strides, and one dtype, which the result has too: integers (they wrap), floats, complex.

Raises TypeError for what is no tensor; ValueError for shapes that do not broadcast, tensors of two kinds or devices, or a tensor
that cannot be read (conjugated, sparse, ...); NotImplementedError for bool and for two dtypes; RuntimeError if one requires grad
while grad mode is on or is dual, or the backend is not available.

>>> import numpy as np
>>> from operator_runtime import vector_add
>>> vector_add(np.array([[1], [2]]), np.array([10, 20]))
array([[11, 21],
       [12, 22]])
)",
    R"(Writes a + b to out and returns out.

out has the broadcast shape of a and b and their dtype; any strides, but it writes no address twice. out may be exactly a or b.

Raises what vector_add(a, b) raises, ValueError also for an out of another shape and for memory that overlaps otherwise,
NotImplementedError for an out of another dtype. Nothing is written then.

>>> import numpy as np
>>> from operator_runtime import vector_add_
>>> a = np.array([1.0, 2.0])
>>> vector_add_(a, a, np.array(0.5))
array([1.5, 2.5])
)",
    R"(Checks vector_add_(out, a, b) once and returns a Prepared, whose run() computes it.

workspace is a contiguous tensor on out's device, aligned to 256 bytes, or None to have it allocated. Raises what vector_add_ raises.

>>> import numpy as np
>>> from operator_runtime import prepare_vector_add
>>> total = np.zeros(2)
>>> with prepare_vector_add(total, total, np.ones(2)) as prepared:
...     prepared.run()
...     prepared.run()
>>> total
array([2., 2.])
)"};

}  // namespace

void bind_vector_add(nb::module_& module) { bind<VectorAdd>(module, kDocs); }

}  // namespace oprt_python
