// An operator as the binding sees it, and a descriptor that owns itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "native/operands.h"
#include "operator_runtime/operator_runtime.h"

namespace oprt_python {

// An operator's attributes as bytes, so that calls with equal attributes have equal bytes.
class Attributes {
 public:
  static constexpr size_t kMaxBytes = 64;

  Attributes() = default;
  template <class T>
  explicit Attributes(const T& value) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kMaxBytes);
    static_assert(std::is_empty_v<T> || std::has_unique_object_representations_v<T>, "attributes are compared by their bytes");
    if constexpr (!std::is_empty_v<T>) std::memcpy(bytes_.data(), &value, sizeof value);
  }

  template <class T>
  T as() const {
    T value{};
    if constexpr (!std::is_empty_v<T>) std::memcpy(&value, bytes_.data(), sizeof value);
    return value;
  }

  bool operator==(const Attributes&) const = default;

 private:
  alignas(8) std::array<std::byte, kMaxBytes> bytes_{};
};

// The five C functions of an operator with its operands as arrays: out first in `views`, inputs alone in `in`.
struct Operator {
  const char* name;
  int num_inputs;
  const char* const* input_names;
  oprt_status_t (*create)(oprt_descriptor_t** desc, oprt_backend_t backend, const oprt_tensor_view_t* views,
                          const Attributes& attributes);
  oprt_status_t (*check)(oprt_backend_t backend, const oprt_tensor_view_t* views, const Attributes& attributes);
  oprt_status_t (*get_workspace_size)(const oprt_descriptor_t* desc, size_t* workspace_size);
  oprt_status_t (*execute)(const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out, const void* const* in,
                           void* stream);
  oprt_status_t (*destroy)(oprt_descriptor_t* desc);
};

// What decides a descriptor.
struct Request {
  const Operator* op;
  oprt_backend_t backend;
  const oprt_tensor_view_t* views;  // 1 + num_inputs; data is not looked at
  Attributes attributes;
};

class Descriptor {
 public:
  // Raises the Python error of a failed create. Needs the GIL.
  explicit Descriptor(const Request& request) : op_(request.op) {
    check_status(op_->create(&handle_, request.backend, request.views, request.attributes), op_->input_names[0]);
    if (const oprt_status_t status = op_->get_workspace_size(handle_, &workspace_size_); status != OPRT_OK) {
      op_->destroy(handle_);
      raise_status(status, op_->input_names[0]);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { op_->destroy(handle_); }

  const Operator& op() const { return *op_; }
  size_t workspace_size() const { return workspace_size_; }
  const char* implementation() const { return oprt_descriptor_implementation(handle_); }
  const char* backend() const { return oprt_backend_name(oprt_descriptor_backend(handle_)); }

  // `views` as for Request, with data. Releases the GIL while the cpu computes. Raises the Python error of a failed execute.
  void execute(const oprt_tensor_view_t* views, void* workspace, size_t workspace_size, void* stream) const;

 private:
  const Operator* op_;
  oprt_descriptor_t* handle_ = nullptr;
  size_t workspace_size_ = 0;
};

}  // namespace oprt_python
