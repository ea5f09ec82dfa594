#include "ops/negate/negate.h"

#include "core/descriptor.h"
#include "core/error.h"
#include "operator_runtime/ops/negate.h"

namespace oprt::negate {
namespace {

constexpr const char* kOp = "negate";

Problem make_problem(const Operand& out, const Operand& in) {
  check_same_shape(out, in);
  const oprt_dtype_t dtype = in.view->dtype;
  OPRT_CHECK(out.view->dtype == dtype && (dtype == OPRT_DTYPE_FLOAT32 || dtype == OPRT_DTYPE_FLOAT64), "in", OPRT_ERR_UNSUPPORTED,
             "%s to %s is not supported, expected float32 or float64 for both", oprt_dtype_name(dtype),
             oprt_dtype_name(out.view->dtype));
  return {dtype, canonicalize<2>(in.view->ndim, in.view->shape, {out.view->strides, in.view->strides})};
}

}  // namespace
}  // namespace oprt::negate

using namespace oprt;

oprt_status_t oprt_create_negate_descriptor(oprt_descriptor_t** desc, oprt_backend_t backend, const oprt_tensor_view_t* out,
                                            const oprt_tensor_view_t* in) noexcept {
  const Operand operands[] = {{"out", out}, {"in", in}};
  return create(negate::kOp, desc, backend, InPlace::kYes, operands,
                [&] { return negate::make_problem(operands[0], operands[1]); });
}

oprt_status_t oprt_check_negate_support(oprt_backend_t backend, const oprt_tensor_view_t* out,
                                        const oprt_tensor_view_t* in) noexcept {
  const Operand operands[] = {{"out", out}, {"in", in}};
  return check_support(negate::kOp, backend, InPlace::kYes, operands,
                       [&] { return negate::make_problem(operands[0], operands[1]); });
}

oprt_status_t oprt_get_negate_workspace_size(const oprt_descriptor_t* desc, size_t* workspace_size) noexcept {
  return get_workspace_size(negate::kOp, desc, workspace_size);
}

oprt_status_t oprt_execute_negate(const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out, const void* in,
                                  void* stream) noexcept {
  const void* const inputs[] = {in};
  return execute(negate::kOp, desc, workspace, workspace_size, out, inputs, stream);
}

oprt_status_t oprt_destroy_negate_descriptor(oprt_descriptor_t* desc) noexcept { return destroy(negate::kOp, desc); }
