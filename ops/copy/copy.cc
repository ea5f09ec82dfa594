#include "ops/copy/copy.h"

#include "core/descriptor.h"
#include "core/error.h"
#include "operator_runtime/ops/copy.h"

namespace oprt::copy {
namespace {

constexpr const char* kOp = "copy";

Problem make_problem(const Operand& out, const Operand& in) {
  check_same_shape(out, in);
  OPRT_CHECK(in.view->dtype == out.view->dtype, "out", OPRT_ERR_UNSUPPORTED,
             "%s to %s is not supported, expected one dtype for both", oprt_dtype_name(in.view->dtype),
             oprt_dtype_name(out.view->dtype));
  return {oprt_dtype_size(out.view->dtype),
          canonicalize<2>(out.view->ndim, out.view->shape, {out.view->strides, in.view->strides})};
}

}  // namespace
}  // namespace oprt::copy

using namespace oprt;

oprt_status_t oprt_create_copy_descriptor(oprt_descriptor_t** desc, oprt_backend_t backend, const oprt_tensor_view_t* out,
                                          const oprt_tensor_view_t* in) noexcept {
  const Operand operands[] = {{"out", out}, {"in", in}};
  return create(copy::kOp, desc, backend, InPlace::kYes, operands, [&] { return copy::make_problem(operands[0], operands[1]); });
}

oprt_status_t oprt_check_copy_support(oprt_backend_t backend, const oprt_tensor_view_t* out,
                                      const oprt_tensor_view_t* in) noexcept {
  const Operand operands[] = {{"out", out}, {"in", in}};
  return check_support(copy::kOp, backend, InPlace::kYes, operands, [&] { return copy::make_problem(operands[0], operands[1]); });
}

oprt_status_t oprt_get_copy_workspace_size(const oprt_descriptor_t* desc, size_t* workspace_size) noexcept {
  return get_workspace_size(copy::kOp, desc, workspace_size);
}

oprt_status_t oprt_execute_copy(const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out, const void* in,
                                void* stream) noexcept {
  const void* const inputs[] = {in};
  return execute(copy::kOp, desc, workspace, workspace_size, out, inputs, stream);
}

oprt_status_t oprt_destroy_copy_descriptor(oprt_descriptor_t* desc) noexcept { return destroy(copy::kOp, desc); }
