#include "ops/vector_add/vector_add.h"

#include <algorithm>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/tensor.h"
#include "operator_runtime/ops/vector_add.h"

namespace oprt::vector_add {
namespace {

constexpr const char* kOp = "vector_add";

void check_shapes(const oprt_tensor_view_t& out, const oprt_tensor_view_t& a, const oprt_tensor_view_t& b) {
  int64_t expected[OPRT_MAX_DIMS] = {};
  const int ndim = std::max(a.ndim, b.ndim);
  for (int d = 0; d < ndim; ++d) {
    const int a_dim = d - (ndim - a.ndim);
    const int b_dim = d - (ndim - b.ndim);
    const int64_t a_size = a_dim >= 0 ? a.shape[a_dim] : 1;
    const int64_t b_size = b_dim >= 0 ? b.shape[b_dim] : 1;
    OPRT_CHECK(a_size == b_size || a_size == 1 || b_size == 1, "b", OPRT_ERR_INVALID_ARGUMENT,
               "a has shape %s and b has shape %s, which do not broadcast", shape_text(a).c_str(), shape_text(b).c_str());
    expected[d] = a_size == 1 ? b_size : a_size;
  }
  OPRT_CHECK(out.ndim == ndim && std::equal(expected, expected + ndim, out.shape), "out", OPRT_ERR_INVALID_ARGUMENT,
             "out has shape %s, expected %s, the broadcast of a and b", shape_text(out).c_str(),
             shape_text(expected, ndim).c_str());
}

Problem make_problem(const oprt_tensor_view_t& out, const oprt_tensor_view_t& a, const oprt_tensor_view_t& b) {
  check_shapes(out, a, b);
  OPRT_CHECK(a.dtype == b.dtype && a.dtype == out.dtype && a.dtype != OPRT_DTYPE_BOOL, "out", OPRT_ERR_UNSUPPORTED,
             "%s + %s to %s is not supported, expected one dtype for all that is not bool", oprt_dtype_name(a.dtype),
             oprt_dtype_name(b.dtype), oprt_dtype_name(out.dtype));
  const auto a_strides = broadcast_strides("a", a, out.ndim, out.shape);
  const auto b_strides = broadcast_strides("b", b, out.ndim, out.shape);
  return {out.dtype, canonicalize<3>(out.ndim, out.shape, {out.strides, a_strides.data(), b_strides.data()})};
}

}  // namespace
}  // namespace oprt::vector_add

using namespace oprt;

oprt_status_t oprt_create_vector_add_descriptor(oprt_descriptor_t** desc, oprt_backend_t backend, const oprt_tensor_view_t* out,
                                                const oprt_tensor_view_t* a, const oprt_tensor_view_t* b) noexcept {
  const Operand operands[] = {{"out", out}, {"a", a}, {"b", b}};
  return create(vector_add::kOp, desc, backend, InPlace::kYes, operands, [&] { return vector_add::make_problem(*out, *a, *b); });
}

oprt_status_t oprt_check_vector_add_support(oprt_backend_t backend, const oprt_tensor_view_t* out, const oprt_tensor_view_t* a,
                                            const oprt_tensor_view_t* b) noexcept {
  const Operand operands[] = {{"out", out}, {"a", a}, {"b", b}};
  return check_support(vector_add::kOp, backend, InPlace::kYes, operands, [&] { return vector_add::make_problem(*out, *a, *b); });
}

oprt_status_t oprt_get_vector_add_workspace_size(const oprt_descriptor_t* desc, size_t* workspace_size) noexcept {
  return get_workspace_size(vector_add::kOp, desc, workspace_size);
}

oprt_status_t oprt_execute_vector_add(const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out,
                                      const void* a, const void* b, void* stream) noexcept {
  const void* const inputs[] = {a, b};
  return execute(vector_add::kOp, desc, workspace, workspace_size, out, inputs, stream);
}

oprt_status_t oprt_destroy_vector_add_descriptor(oprt_descriptor_t* desc) noexcept { return destroy(vector_add::kOp, desc); }
