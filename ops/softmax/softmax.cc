#include "ops/softmax/softmax.h"

#include <array>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/tensor.h"
#include "operator_runtime/ops/softmax.h"

namespace oprt::softmax {
namespace {

constexpr const char* kOp = "softmax";

Problem make_problem(const Operand& out_operand, const Operand& in_operand, int32_t dim) {
  const oprt_tensor_view_t& out = *out_operand.view;
  const oprt_tensor_view_t& in = *in_operand.view;
  const int axis = normalize_dim("dim", dim, in.ndim);
  check_same_shape(out_operand, in_operand);
  OPRT_CHECK(in.dtype == out.dtype && dtype_kind(in.dtype) == DTypeKind::kFloat, "in", OPRT_ERR_UNSUPPORTED,
             "%s to %s is not supported, expected float16, bfloat16, float32 or float64 for both", oprt_dtype_name(in.dtype),
             oprt_dtype_name(out.dtype));
  // The row's dimension counts as 1 in the space of rows, unless the tensor is empty.
  oprt_tensor_view_t rows = in;
  Problem problem{in.dtype, 1, 0, 0, {}};
  if (in.ndim > 0 && num_elements(in) > 0) {
    problem.n = in.shape[axis];
    problem.out_stride = out.strides[axis];
    problem.in_stride = in.strides[axis];
    rows.shape[axis] = 1;
  }
  problem.rows = canonicalize<2>(rows.ndim, rows.shape, {out.strides, in.strides});
  return problem;
}

}  // namespace
}  // namespace oprt::softmax

using namespace oprt;

oprt_status_t oprt_create_softmax_descriptor(oprt_descriptor_t** desc, oprt_backend_t backend, const oprt_tensor_view_t* out,
                                             const oprt_tensor_view_t* in, int32_t dim) noexcept {
  const Operand operands[] = {{"out", out}, {"in", in}};
  return create(softmax::kOp, desc, backend, InPlace::kYes, operands,
                [&] { return softmax::make_problem(operands[0], operands[1], dim); });
}

oprt_status_t oprt_check_softmax_support(oprt_backend_t backend, const oprt_tensor_view_t* out, const oprt_tensor_view_t* in,
                                         int32_t dim) noexcept {
  const Operand operands[] = {{"out", out}, {"in", in}};
  return check_support(softmax::kOp, backend, InPlace::kYes, operands,
                       [&] { return softmax::make_problem(operands[0], operands[1], dim); });
}

oprt_status_t oprt_get_softmax_workspace_size(const oprt_descriptor_t* desc, size_t* workspace_size) noexcept {
  return get_workspace_size(softmax::kOp, desc, workspace_size);
}

oprt_status_t oprt_execute_softmax(const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out, const void* in,
                                   void* stream) noexcept {
  const void* const inputs[] = {in};
  return execute(softmax::kOp, desc, workspace, workspace_size, out, inputs, stream);
}

oprt_status_t oprt_destroy_softmax_descriptor(oprt_descriptor_t* desc) noexcept { return destroy(softmax::kOp, desc); }
