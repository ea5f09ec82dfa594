#include "native/operator.h"
#include "operator_runtime/ops/softmax.h"

namespace oprt_python {
namespace {

struct Softmax : OperatorTraits<1> {
  OPRT_PYTHON_FUNCTIONS(softmax)

  struct Attributes {
    int32_t dim;
  };
  static Attributes parse(const Operands& operands, nb::handle dim) { return {parse_dim(kName, dim, operands.view(1).ndim)}; }
  static std::tuple<int32_t> pass(const Attributes& attributes) { return {attributes.dim}; }

  static oprt_tensor_view_t infer(const Operands& operands, const Attributes&) {
    const oprt_tensor_view_t& in = operands.view(1);
    return contiguous_view(in.dtype, in.device, in.ndim, in.shape);
  }
};

constexpr Docs kDocs = {
    R"(exp(x - max) / sum(exp(x - max)) along dim, as a new row-major contiguous tensor.

x has 0 to 8 dimensions, any strides, and dtype float16, bfloat16, float32 or float64; the result has its shape and dtype.
-n <= dim < n for an n-D x; a 0-d x accepts 0 and -1.

Raises DimError (a ValueError and an IndexError) for a dim out of range; TypeError for what is no tensor and a dim that is no
integer; ValueError for a tensor that cannot be read (conjugated, sparse, ...); NotImplementedError for another dtype;
RuntimeError if x requires grad while grad mode is on or is dual, or the backend is not available.

>>> import numpy as np
>>> from operator_runtime import softmax
>>> softmax(np.array([[0.0, 0.0], [1000.0, -1000.0]]), dim=1)
array([[0.5, 0.5],
       [1. , 0. ]])
)",
    R"(Writes softmax(x, dim) to out and returns out.

out has the shape and dtype of x; any strides, but it writes no address twice. out may be exactly x.

Raises what softmax(x, dim) raises, ValueError also for another shape or device and for memory that overlaps otherwise,
NotImplementedError for an out of another dtype. Nothing is written then.

>>> import numpy as np
>>> from operator_runtime import softmax_
>>> x = np.zeros((2, 4), dtype=np.float32)
>>> softmax_(x, x)
array([[0.25, 0.25, 0.25, 0.25],
       [0.25, 0.25, 0.25, 0.25]], dtype=float32)
)",
    R"(Checks softmax_(out, x, dim) once and returns a Prepared, whose run() computes it.

workspace is a contiguous tensor on out's device, aligned to 256 bytes, or None to have it allocated. Raises what softmax_ raises.

>>> import numpy as np
>>> from operator_runtime import prepare_softmax
>>> x, out = np.zeros(2), np.empty(2)
>>> with prepare_softmax(out, x) as prepared:
...     prepared.run()
>>> out
array([0.5, 0.5])
)"};

}  // namespace

void bind_softmax(nb::module_& module) { bind<Softmax>(module, kDocs, std::tuple(attribute("dim", -1))); }

}  // namespace oprt_python
