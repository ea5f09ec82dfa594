// The tensors of one call: read, checked, and kept readable until the call is over.
#pragma once

#include <array>

#include "native/errors.h"
#include "native/kind.h"
#include "operator_runtime/operator_runtime.h"

namespace oprt_python {

constexpr int kMaxOperands = 4;

enum class Access { kRead, kWrite };

// A tensor that a producer handed over; gives it back when destroyed. Move-only, needs the GIL.
class Lease {
 public:
  Lease() = default;
  Lease(void* managed, void (*release)(void*)) : managed_(managed), release_(release) {}
  Lease(Lease&& other) noexcept : managed_(other.managed_), release_(other.release_) { other.release_ = nullptr; }
  Lease& operator=(Lease&& other) noexcept {
    std::swap(managed_, other.managed_);
    std::swap(release_, other.release_);
    return *this;
  }
  ~Lease() {
    if (release_ != nullptr) release_(managed_);
  }

 private:
  void* managed_ = nullptr;
  void (*release_)(void*) = nullptr;
};

// Reads `tensor` into `view`; data points to element 0. Raises TypeError for what is no tensor, ValueError, NotImplementedError or
// RuntimeError (a gradient would be lost) for tensors that cannot be used. `op` and `argument` are for the text.
Lease read_tensor(const char* op, const char* argument, nb::handle tensor, const Kind& kind, Access access,
                  oprt_tensor_view_t& view);

// Raises RuntimeError for a torch tensor that requires grad while grad mode is on.
void check_gradient(const char* op, const char* argument, nb::handle tensor);

// Whether torch differentiates forward now. If so, check_not_dual raises RuntimeError for a torch tensor that has a tangent.
bool in_dual_level();
void check_not_dual(const char* op, const char* argument, nb::handle tensor);

// Raises RuntimeError where `tensor` no longer has the memory, shape, strides and dtype that were read into `view`; `when` ends the
// text. A tensor without an exchange table is held by its lease, and not looked at.
void check_unchanged(const char* op, const char* argument, nb::handle tensor, const Kind& kind, const oprt_tensor_view_t& view,
                     const char* when);

// out first, then the inputs.
class Operands {
 public:
  explicit Operands(const char* op) : op_(op) {}

  // Tensors have to be read in the order of `k`. Raises as read_tensor does, and ValueError for a tensor of another family.
  void read(int k, const char* argument, nb::handle tensor, Access access);

  // The checks of these names above, for all that were read.
  void check_not_dual() const;
  void check_unchanged() const;
  // Whether reading one may have run Python code: a subclass has a say in what its methods do.
  bool has_subclass() const { return has_subclass_; }

  const char* op() const { return op_; }
  const Kind& kind(int k) const { return kinds_[static_cast<size_t>(k)]; }
  const oprt_tensor_view_t* views() const { return views_.data(); }
  oprt_tensor_view_t& view(int k) { return views_[static_cast<size_t>(k)]; }
  const oprt_tensor_view_t& view(int k) const { return views_[static_cast<size_t>(k)]; }
  Lease take_lease(int k) { return std::move(leases_[static_cast<size_t>(k)]); }

 private:
  const char* op_;
  PyTypeObject* family_ = nullptr;
  bool has_subclass_ = false;
  size_t first_ = kMaxOperands;  // of those that were read
  size_t end_ = 0;
  std::array<nb::handle, kMaxOperands> tensors_;
  std::array<const char*, kMaxOperands> arguments_;
  std::array<Kind, kMaxOperands> kinds_;
  std::array<Lease, kMaxOperands> leases_;
  std::array<oprt_tensor_view_t, kMaxOperands> views_;
};

// The stream that work on `device` goes to: for types with an exchange table the framework's current one, else the default stream.
void* current_stream(const Kind& kind, oprt_device_t device);

}  // namespace oprt_python
