#include "native/descriptor.h"

#include <optional>

#include <unistd.h>

namespace oprt_python {
namespace {

// Lets other threads run Python meanwhile. Before Python 3.14 the interpreter ends a daemon thread that comes back while the
// process ends, by unwinding it, which the noexcept frames between here and the interpreter turn into an abort. Such a thread waits
// for the end here instead, as 3.14 has it do.
class GilRelease {
 public:
  GilRelease() : state_(PyEval_SaveThread()) {}
  ~GilRelease() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {
      for (;;) pause();
    }
  }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;

 private:
  PyThreadState* state_;
};

}  // namespace

void Descriptor::execute(const oprt_tensor_view_t* views, void* workspace, size_t workspace_size, void* stream) const {
  std::array<const void*, kMaxOperands> in;
  for (int k = 0; k < op_->num_inputs; ++k) in[static_cast<size_t>(k)] = views[k + 1].data;
  oprt_status_t status = OPRT_OK;
  {
    std::optional<GilRelease> released;
    if (views[0].device.type == OPRT_DEVICE_CPU) released.emplace();
    status = op_->execute(handle_, workspace, workspace_size, views[0].data, in.data(), stream);
  }
  check_status(status, op_->input_names[0]);
}

}  // namespace oprt_python
