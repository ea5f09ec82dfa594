#include "ops/reduce_sum/reduce_sum.h"

#include <algorithm>
#include <array>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/tensor.h"
#include "operator_runtime/ops/reduce_sum.h"

namespace oprt::reduce_sum {
namespace {

constexpr const char* kOp = "reduce_sum";

struct Dims {
  const int32_t* values;
  int32_t count;
  int32_t keepdim;
};

// Which dimensions are reduced.
std::array<bool, OPRT_MAX_DIMS> reduced_dims(const Dims& dims, int ndim) {
  OPRT_CHECK(dims.count >= 0 && dims.count <= OPRT_MAX_DIMS, "dims", OPRT_ERR_INVALID_ARGUMENT, "%d dims are given, expected 0..%d",
             dims.count, OPRT_MAX_DIMS);
  OPRT_CHECK(dims.count == 0 || dims.values != nullptr, "dims", OPRT_ERR_INVALID_ARGUMENT, "dims is NULL, expected %d values",
             dims.count);
  std::array<bool, OPRT_MAX_DIMS> reduced{};
  if (dims.count == 0) reduced.fill(true);
  std::array<bool, OPRT_MAX_DIMS> seen{};
  for (int i = 0; i < dims.count; ++i) {
    const auto dim = static_cast<size_t>(normalize_dim("dims", dims.values[i], ndim));
    OPRT_CHECK(!seen[dim], "dims", OPRT_ERR_INVALID_ARGUMENT, "dim %d appears twice, expected each dimension once", dims.values[i]);
    seen[dim] = true;
    reduced[dim] = true;
  }
  return reduced;
}

bool is_supported(oprt_dtype_t in, oprt_dtype_t out) {
  switch (dtype_kind(in)) {
    case DTypeKind::kFloat:
      return out == in || (out == OPRT_DTYPE_FLOAT32 && in != OPRT_DTYPE_FLOAT64);
    case DTypeKind::kBool:
    case DTypeKind::kInteger:
      return out == OPRT_DTYPE_INT64;
    case DTypeKind::kComplex:
      return false;
  }
  return false;
}

// A shape with one stride per operand, grown a dimension at a time.
template <int N>
struct Dimensions {
  int ndim = 0;
  std::array<int64_t, OPRT_MAX_DIMS> shape{};
  std::array<std::array<int64_t, OPRT_MAX_DIMS>, N> strides{};

  void add(int64_t size, const std::array<int64_t, N>& step) {
    const auto d = static_cast<size_t>(ndim++);
    shape[d] = size;
    for (size_t k = 0; k < N; ++k) strides[k][d] = step[k];
  }
};

Problem make_problem(const oprt_tensor_view_t& out, const oprt_tensor_view_t& in, const Dims& dims) {
  const auto reduced = reduced_dims(dims, in.ndim);
  Dimensions<1> expected;
  Dimensions<2> kept_dims;
  Dimensions<1> summed;
  for (int d = 0; d < in.ndim; ++d) {
    if (reduced[static_cast<size_t>(d)]) {
      summed.add(in.shape[d], {in.strides[d]});
      if (dims.keepdim != 0) expected.add(1, {0});
    } else {
      const int out_dim = expected.ndim;
      kept_dims.add(in.shape[d], {out_dim < out.ndim ? out.strides[out_dim] : 0, in.strides[d]});
      expected.add(in.shape[d], {0});
    }
  }
  OPRT_CHECK(out.ndim == expected.ndim && std::equal(out.shape, out.shape + out.ndim, expected.shape.begin()), "out",
             OPRT_ERR_INVALID_ARGUMENT, "out has shape %s, expected %s", shape_text(out).c_str(),
             shape_text(expected.shape.data(), expected.ndim).c_str());
  OPRT_CHECK(is_supported(in.dtype, out.dtype), "out", OPRT_ERR_UNSUPPORTED,
             "%s to %s is not supported, expected a float to itself, float16 or bfloat16 to float32, an integer or bool to int64",
             oprt_dtype_name(in.dtype), oprt_dtype_name(out.dtype));
  // Without elements nothing is summed, whatever the sizes of the reduced dims multiply to.
  if (num_elements(in) == 0) {
    summed = {};
    summed.add(0, {1});
  }
  return {in.dtype, out.dtype,
          canonicalize<2>(kept_dims.ndim, kept_dims.shape.data(), {kept_dims.strides[0].data(), kept_dims.strides[1].data()}),
          canonicalize<1>(summed.ndim, summed.shape.data(), {summed.strides[0].data()})};
}

}  // namespace
}  // namespace oprt::reduce_sum

using namespace oprt;

oprt_status_t oprt_create_reduce_sum_descriptor(oprt_descriptor_t** desc, oprt_backend_t backend, const oprt_tensor_view_t* out,
                                                const oprt_tensor_view_t* in, const int32_t* dims, int32_t num_dims,
                                                int32_t keepdim) noexcept {
  const Operand operands[] = {{"out", out}, {"in", in}};
  return create(reduce_sum::kOp, desc, backend, InPlace::kNo, operands,
                [&] { return reduce_sum::make_problem(*out, *in, {dims, num_dims, keepdim}); });
}

oprt_status_t oprt_check_reduce_sum_support(oprt_backend_t backend, const oprt_tensor_view_t* out, const oprt_tensor_view_t* in,
                                            const int32_t* dims, int32_t num_dims, int32_t keepdim) noexcept {
  const Operand operands[] = {{"out", out}, {"in", in}};
  return check_support(reduce_sum::kOp, backend, InPlace::kNo, operands,
                       [&] { return reduce_sum::make_problem(*out, *in, {dims, num_dims, keepdim}); });
}

oprt_status_t oprt_get_reduce_sum_workspace_size(const oprt_descriptor_t* desc, size_t* workspace_size) noexcept {
  return get_workspace_size(reduce_sum::kOp, desc, workspace_size);
}

oprt_status_t oprt_execute_reduce_sum(const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out,
                                      const void* in, void* stream) noexcept {
  const void* const inputs[] = {in};
  return execute(reduce_sum::kOp, desc, workspace, workspace_size, out, inputs, stream);
}

oprt_status_t oprt_destroy_reduce_sum_descriptor(oprt_descriptor_t* desc) noexcept { return destroy(reduce_sum::kOp, desc); }
