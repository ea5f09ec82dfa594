#include "native/operator.h"
#include "operator_runtime/ops/reduce_sum.h"

namespace oprt_python {
namespace {

struct ReduceSum : OperatorTraits<1> {
  OPRT_PYTHON_FUNCTIONS(reduce_sum)

  struct Attributes {
    Dims dims;
    int32_t keepdim;
  };
  static Attributes parse(const Operands& operands, nb::handle dim, nb::handle keepdim) {
    return {parse_dims(kName, dim, operands.view(1).ndim), is_true(keepdim)};
  }
  static std::tuple<const int32_t*, int32_t, int32_t> pass(const Attributes& attributes) {
    return {attributes.dims.values.data(), attributes.dims.count, attributes.keepdim};
  }

  static oprt_tensor_view_t infer(const Operands& operands, const Attributes& attributes, nb::handle dtype) {
    const oprt_tensor_view_t& in = operands.view(1);
    const Dims& dims = attributes.dims;
    std::array<bool, OPRT_MAX_DIMS> reduced{};
    if (dims.count == 0) reduced.fill(true);
    for (int32_t i = 0; i < dims.count && i < OPRT_MAX_DIMS; ++i) {
      const int64_t dim = dims.values[static_cast<size_t>(i)];
      if (dim >= -in.ndim && dim < in.ndim) reduced[static_cast<size_t>(dim < 0 ? dim + in.ndim : dim)] = true;
    }
    int64_t shape[OPRT_MAX_DIMS];
    int32_t ndim = 0;
    for (int32_t d = 0; d < in.ndim; ++d) {
      const bool is_reduced = reduced[static_cast<size_t>(d)];
      if (!is_reduced || attributes.keepdim != 0) shape[ndim++] = is_reduced ? 1 : in.shape[d];
    }
    const bool is_float = in.dtype >= OPRT_DTYPE_FLOAT16 && in.dtype <= OPRT_DTYPE_FLOAT64;
    const oprt_dtype_t sum_dtype = is_float ? in.dtype : OPRT_DTYPE_INT64;
    return contiguous_view(dtype.is_none() ? sum_dtype : parse_dtype(kName, dtype), in.device, ndim, shape);
  }
};

constexpr Docs kDocs = {
    R"(The sum of x over dim, as a new row-major contiguous tensor.

x has 0 to 8 dimensions and any strides. dim is an integer or a tuple of them, -n <= dim < n, none twice; None or () sums all.
The result lacks these dimensions, or has size 1 there if keepdim. Floats keep their dtype, float16 and bfloat16 sum to float32
with dtype=float32; integers and bool sum to int64, modulo 2^64.

Raises DimError (a ValueError and an IndexError) for a dim out of range or given twice; TypeError for what is no tensor and a dim
that is no integer; ValueError for a tensor that cannot be read; NotImplementedError for another pair of dtypes; RuntimeError if x
requires grad while grad mode is on or is dual, or the backend is not available.

>>> import numpy as np
>>> from operator_runtime import reduce_sum
>>> reduce_sum(np.array([[1.0, 2.0], [3.0, 4.0]]), dim=0)
array([4., 6.])
)",
    R"(Writes reduce_sum(x, dim, keepdim) to out, in out's dtype, and returns out.

Raises what reduce_sum raises, ValueError also for an out of another shape or device and for memory shared with x. Nothing is
written then.

>>> import numpy as np
>>> from operator_runtime import reduce_sum_
>>> reduce_sum_(np.empty((2, 1)), np.ones((2, 3)), dim=1, keepdim=True)
array([[3.],
       [3.]])
)",
    R"(Checks reduce_sum_(out, x, dim, keepdim) once and returns a Prepared, whose run() computes it.

workspace is a contiguous tensor on out's device, aligned to 256 bytes, or None to have it allocated. Raises what reduce_sum_ raises.

>>> import numpy as np
>>> from operator_runtime import prepare_reduce_sum
>>> out = np.empty(())
>>> with prepare_reduce_sum(out, np.ones(10)) as prepared:
...     prepared.run()
>>> float(out)
10.0
)"};

}  // namespace

void bind_reduce_sum(nb::module_& module) {
  bind<ReduceSum>(module, kDocs, std::tuple(attribute("dim", nb::none()), attribute("keepdim", false)),
                  std::tuple(attribute("dtype", nb::none())));
}

}  // namespace oprt_python
