// Operator Runtime from C++17: the C API with ownership and exceptions. Header-only; link with liboperator_runtime.
//
//   namespace rt = operator_runtime;
//   rt::softmax(rt::contiguous(y.data(), {rows, cols}), rt::contiguous(x.data(), {rows, cols}), 1);
//
// Views own nothing. Every failure of the C API becomes an Error that carries its status, text and argument.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "operator_runtime/backend.h"
#include "operator_runtime/descriptor.h"
#include "operator_runtime/ops/copy.h"
#include "operator_runtime/ops/reduce_sum.h"
#include "operator_runtime/ops/softmax.h"
#include "operator_runtime/ops/vector_add.h"
#include "operator_runtime/status.h"
#include "operator_runtime/tensor.h"
#include "operator_runtime/version.h"

namespace operator_runtime {

class Error : public std::runtime_error {
 public:
  Error(oprt_status_t status, const std::string& text, std::string argument = "")
      : std::runtime_error(text), status_(status), argument_(std::move(argument)) {}

  oprt_status_t status() const noexcept { return status_; }
  // The argument at fault as the C header spells it, or "".
  const std::string& argument() const noexcept { return argument_; }

 private:
  oprt_status_t status_;
  std::string argument_;
};

// Throws Error with this thread's last error unless `status` is OPRT_OK.
inline void check(oprt_status_t status) {
  if (status != OPRT_OK) throw Error(status, oprt_last_error(), oprt_last_error_argument());
}

// Throws Error (INTERNAL) when the loaded library speaks another binary interface than these headers.
inline void check_abi() {
  if (oprt_abi_version() == OPRT_ABI_VERSION) return;
  throw Error(OPRT_ERR_INTERNAL, "liboperator_runtime has ABI version " + std::to_string(oprt_abi_version()) +
                                     ", these headers have " + std::to_string(OPRT_ABI_VERSION) + "; rebuild the program");
}

// The dtype of a C++ element type. For a 16-bit float type of your own, specialise it:
//   template <> struct operator_runtime::DTypeOf<Half> : std::integral_constant<oprt_dtype_t, OPRT_DTYPE_FLOAT16> {};
template <class T, class = void>
struct DTypeOf;

template <class T>
struct DTypeOf<T, std::enable_if_t<std::is_integral_v<T>>> {
  static constexpr oprt_dtype_t kLog2Size = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  static constexpr oprt_dtype_t value = (std::is_signed_v<T> ? OPRT_DTYPE_INT8 : OPRT_DTYPE_UINT8) + kLog2Size;
  static_assert(sizeof(T) == size_t{1} << kLog2Size, "integers of 1, 2, 4 or 8 bytes");
};
template <>
struct DTypeOf<bool> : std::integral_constant<oprt_dtype_t, OPRT_DTYPE_BOOL> {};
template <>
struct DTypeOf<float> : std::integral_constant<oprt_dtype_t, OPRT_DTYPE_FLOAT32> {};
template <>
struct DTypeOf<double> : std::integral_constant<oprt_dtype_t, OPRT_DTYPE_FLOAT64> {};
template <>
struct DTypeOf<std::complex<float>> : std::integral_constant<oprt_dtype_t, OPRT_DTYPE_COMPLEX64> {};
template <>
struct DTypeOf<std::complex<double>> : std::integral_constant<oprt_dtype_t, OPRT_DTYPE_COMPLEX128> {};

inline constexpr oprt_device_t kCpu{OPRT_DEVICE_CPU, 0};

// A tensor that is read. A C view of any origin (oprt_view_from_dltensor, for one) becomes one by the constructor.
class ConstView {
 public:
  explicit ConstView(const oprt_tensor_view_t& view) : view_(view) {}

  const oprt_tensor_view_t* get() const noexcept { return &view_; }
  const void* data() const noexcept { return view_.data; }

 protected:
  oprt_tensor_view_t view_;
};

// A tensor that is written.
class View : public ConstView {
 public:
  using ConstView::ConstView;
  void* data() const noexcept { return view_.data; }
};

template <class T>
using ViewOf = std::conditional_t<std::is_const_v<T>, ConstView, View>;

// A row-major view of `data`, which points to element 0: a View, or a ConstView when T is const.
template <class T>
ViewOf<T> contiguous(T* data, const std::vector<int64_t>& shape, oprt_device_t device = kCpu) {
  oprt_tensor_view_t view;
  void* address = const_cast<void*>(static_cast<const void*>(data));
  check(oprt_make_contiguous_view(&view, address, DTypeOf<std::remove_cv_t<T>>::value, device, static_cast<int32_t>(shape.size()),
                                  shape.data()));
  return ViewOf<T>(view);
}

// As contiguous, with strides in elements, one per dimension.
template <class T>
ViewOf<T> strided(T* data, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, oprt_device_t device = kCpu) {
  if (shape.size() > OPRT_MAX_DIMS || shape.size() != strides.size()) {
    throw Error(OPRT_ERR_INVALID_ARGUMENT, "strided: shape has " + std::to_string(shape.size()) + " sizes and strides has " +
                                               std::to_string(strides.size()) + ", expected the same number, at most 8");
  }
  oprt_tensor_view_t view{};
  view.data = const_cast<void*>(static_cast<const void*>(data));
  view.dtype = DTypeOf<std::remove_cv_t<T>>::value;
  view.device = device;
  view.ndim = static_cast<int32_t>(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    view.shape[d] = shape[d];
    view.strides[d] = strides[d];
  }
  return ViewOf<T>(view);
}

// Host memory aligned for a workspace; nothing is allocated for 0 bytes. For a GPU allocate on the device instead.
class Workspace {
 public:
  explicit Workspace(size_t size) : size_(size), data_(size > 0 ? ::operator new(size, kAlignment) : nullptr) {}
  void* data() const noexcept { return data_.get(); }
  size_t size() const noexcept { return size_; }

 private:
  static constexpr std::align_val_t kAlignment{OPRT_WORKSPACE_ALIGNMENT};
  struct Free {
    void operator()(void* data) const noexcept { ::operator delete(data, kAlignment); }
  };
  size_t size_;
  std::unique_ptr<void, Free> data_;
};

// Where an execute runs: workspace on the tensors' device, and the stream (nullptr on the cpu).
struct Launch {
  void* workspace = nullptr;
  size_t workspace_size = 0;
  void* stream = nullptr;
};

// What Prepared needs of an operator. An operator of your own needs the same four members.
struct Copy {
  static constexpr auto create = &oprt_create_copy_descriptor;
  static constexpr auto get_workspace_size = &oprt_get_copy_workspace_size;
  static constexpr auto execute = &oprt_execute_copy;
  static constexpr auto destroy = &oprt_destroy_copy_descriptor;
};
struct VectorAdd {
  static constexpr auto create = &oprt_create_vector_add_descriptor;
  static constexpr auto get_workspace_size = &oprt_get_vector_add_workspace_size;
  static constexpr auto execute = &oprt_execute_vector_add;
  static constexpr auto destroy = &oprt_destroy_vector_add_descriptor;
};
struct ReduceSum {
  static oprt_status_t create(oprt_descriptor_t** desc, oprt_backend_t backend, const oprt_tensor_view_t* out,
                              const oprt_tensor_view_t* in, const std::vector<int32_t>& dims, bool keepdim) {
    const auto num_dims = static_cast<int32_t>(dims.size());
    return oprt_create_reduce_sum_descriptor(desc, backend, out, in, dims.data(), num_dims, keepdim);
  }
  static constexpr auto get_workspace_size = &oprt_get_reduce_sum_workspace_size;
  static constexpr auto execute = &oprt_execute_reduce_sum;
  static constexpr auto destroy = &oprt_destroy_reduce_sum_descriptor;
};
struct Softmax {
  static constexpr auto create = &oprt_create_softmax_descriptor;
  static constexpr auto get_workspace_size = &oprt_get_softmax_workspace_size;
  static constexpr auto execute = &oprt_execute_softmax;
  static constexpr auto destroy = &oprt_destroy_softmax_descriptor;
};

// An operator on one description of tensors, checked once and executed any number of times, by any number of threads at once.
// Move-only; a moved-from Prepared may only be assigned to or destroyed.
template <class Op>
class Prepared {
 public:
  // `args` are the C create function's: inputs, then attributes.
  template <class... Args>
  explicit Prepared(oprt_backend_t backend, const View& out, const Args&... args) {
    check_abi();
    oprt_descriptor_t* desc = nullptr;
    check(Op::create(&desc, backend, out.get(), to_c(args)...));
    desc_.reset(desc);
    check(Op::get_workspace_size(desc, &workspace_size_));
  }

  size_t workspace_size() const noexcept { return workspace_size_; }
  const char* implementation() const noexcept { return oprt_descriptor_implementation(desc_.get()); }
  oprt_backend_t backend() const noexcept { return oprt_descriptor_backend(desc_.get()); }
  const oprt_descriptor_t* get() const noexcept { return desc_.get(); }

  // `out` and `in` point to element 0 of tensors that have the description given to the constructor.
  template <class... In>
  void execute(const Launch& launch, void* out, const In*... in) const {
    check(Op::execute(desc_.get(), launch.workspace, launch.workspace_size, out, static_cast<const void*>(in)..., launch.stream));
  }

 private:
  static const oprt_tensor_view_t* to_c(const ConstView& view) noexcept { return view.get(); }
  template <class T, class = std::enable_if_t<!std::is_base_of_v<ConstView, T>>>
  static T to_c(T attribute) noexcept {
    return attribute;
  }
  struct Destroy {
    void operator()(oprt_descriptor_t* desc) const noexcept { Op::destroy(desc); }
  };
  std::unique_ptr<oprt_descriptor_t, Destroy> desc_;
  size_t workspace_size_ = 0;
};

// Executes on host memory, with a workspace of its own.
template <class Op, class... In>
void run(const Prepared<Op>& op, const View& out, const In&... in) {
  const Workspace workspace(op.workspace_size());
  op.execute({workspace.data(), workspace.size()}, out.data(), in.data()...);
}

// One-shot calls on cpu tensors.
inline void copy(const View& out, const ConstView& in) { run(Prepared<Copy>(OPRT_BACKEND_CPU, out, in), out, in); }
inline void vector_add(const View& out, const ConstView& a, const ConstView& b) {
  run(Prepared<VectorAdd>(OPRT_BACKEND_CPU, out, a, b), out, a, b);
}
// No `dims` sums over every dimension.
inline void reduce_sum(const View& out, const ConstView& in, const std::vector<int32_t>& dims = {}, bool keepdim = false) {
  run(Prepared<ReduceSum>(OPRT_BACKEND_CPU, out, in, dims, keepdim), out, in);
}
inline void softmax(const View& out, const ConstView& in, int32_t dim = -1) {
  run(Prepared<Softmax>(OPRT_BACKEND_CPU, out, in, dim), out, in);
}

}  // namespace operator_runtime
