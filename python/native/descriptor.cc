#include "native/descriptor.h"

#include <optional>

namespace oprt_python {

void Descriptor::execute(const oprt_tensor_view_t* views, void* workspace, size_t workspace_size, void* stream) const {
  std::array<const void*, kMaxOperands> in;
  for (int k = 0; k < op_->num_inputs; ++k) in[static_cast<size_t>(k)] = views[k + 1].data;
  oprt_status_t status = OPRT_OK;
  {
    std::optional<nb::gil_scoped_release> released;
    if (views[0].device.type == OPRT_DEVICE_CPU) released.emplace();
    status = op_->execute(handle_, workspace, workspace_size, views[0].data, in.data(), stream);
  }
  check_status(status, op_->input_names[0]);
}

}  // namespace oprt_python
