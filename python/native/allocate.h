// Tensors and workspaces that a call makes itself.
#pragma once

#include <cstdlib>
#include <memory>

#include "native/operands.h"

namespace oprt_python {

// A row-major contiguous tensor of the first input's kind, still to be written.
struct Allocated {
  nb::object tensor;
  void* data;
  Lease lease;
};

// `like` is the tensor whose kind is followed, `want` a contiguous view: shape, dtype and device are taken from it. Raises
// MemoryError, NotImplementedError where the kind offers no way to allocate.
Allocated allocate_tensor(const char* op, const Kind& kind, nb::handle like, const oprt_tensor_view_t& want);

// What the caller gets for it once it is written: the tensor itself, or one of an immutable kind that shares its memory.
nb::object finish_tensor(const Kind& kind, nb::handle like, Allocated allocated);

// Memory for one execute, aligned to OPRT_WORKSPACE_ALIGNMENT. Nothing is allocated for 0 bytes.
class Workspace {
 public:
  Workspace(const char* op, const Kind& kind, nb::handle like, oprt_device_t device, size_t bytes);

  void* data() const { return data_; }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> host_;
  nb::object tensor_;
  void* data_ = nullptr;
};

// A uint8 tensor of the caller's kind, and its view, that holds `bytes` from aligned(view.data) on.
Allocated allocate_workspace_tensor(const char* op, const Kind& kind, nb::handle like, oprt_device_t device, size_t bytes,
                                    oprt_tensor_view_t& view);
void* aligned(void* memory);

size_t size_in_bytes(const oprt_tensor_view_t& view);

// Of two views of one shape; what dims of size 1 have does not matter.
bool same_strides(const oprt_tensor_view_t& a, const oprt_tensor_view_t& b);

// A row-major contiguous view without data. Sizes are taken as they are.
oprt_tensor_view_t contiguous_view(oprt_dtype_t dtype, oprt_device_t device, int32_t ndim, const int64_t* shape);

}  // namespace oprt_python
