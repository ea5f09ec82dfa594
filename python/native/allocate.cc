#include "native/allocate.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "core/dlpack_types.h"

namespace oprt_python {
namespace {

void* allocate_host(size_t bytes) {
  constexpr size_t kAlignment = OPRT_WORKSPACE_ALIGNMENT;
  if (bytes > SIZE_MAX - kAlignment) throw std::bad_alloc();
  void* memory = std::aligned_alloc(kAlignment, std::max((bytes + kAlignment - 1) / kAlignment * kAlignment, kAlignment));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void set_allocation_error(void* context, const char* kind, const char* message) {
  const bool out_of_memory = std::strcmp(kind, "MemoryError") == 0 || std::strstr(message, "memory") != nullptr;
  PyErr_Format(out_of_memory ? PyExc_MemoryError : PyExc_RuntimeError, "%s: the result cannot be allocated: %s",
               static_cast<const char*>(context), message);
}

Allocated allocate_by_exchange(const char* op, const Kind& kind, const oprt_tensor_view_t& want) {
  const oprt::DlpackType type = oprt::kDlpackTypes[static_cast<size_t>(want.dtype)];
  oprt_dltensor_t prototype{};
  prototype.device = want.device;
  prototype.ndim = want.ndim;
  prototype.dtype = {type.code, type.bits, 1};
  prototype.shape = const_cast<int64_t*>(want.shape);
  DlpackManagedVersioned* managed = nullptr;
  PyErr_Clear();
  if (kind.exchange->allocate(&prototype, &managed, const_cast<char*>(op), set_allocation_error) != 0) {
    if (PyErr_Occurred() == nullptr) PyErr_Format(PyExc_MemoryError, "%s: the result cannot be allocated", op);
    throw nb::python_error();
  }
  void* data =
      managed->tensor.data == nullptr ? nullptr : static_cast<std::byte*>(managed->tensor.data) + managed->tensor.byte_offset;
  if (data == nullptr && size_in_bytes(want) > 0) {  // inside a FakeTensorMode, for one
    managed->deleter(managed);
    raise(PyExc_RuntimeError, "%s: the result has no memory for its elements", op);
  }
  void* object = nullptr;
  if (kind.exchange->managed_to_object(managed, &object) != 0) throw nb::python_error();
  return {nb::steal(static_cast<PyObject*>(object)), data, {}};
}

// Memory of our own, given to an immutable kind by from_dlpack when it is written.
Allocated allocate_exported(const char* op, const oprt_tensor_view_t& want) {
  if (want.device.type != OPRT_DEVICE_CPU) {
    raise(PyExc_NotImplementedError, "%s: results of an immutable kind can be allocated on the cpu only", op);
  }
  void* memory = allocate_host(size_in_bytes(want));
  const nb::capsule owner(memory, [](void* allocated) noexcept { std::free(allocated); });
  std::array<size_t, OPRT_MAX_DIMS> shape{};
  std::copy(want.shape, want.shape + want.ndim, shape.begin());
  const oprt::DlpackType type = oprt::kDlpackTypes[static_cast<size_t>(want.dtype)];
  const nb::dlpack::dtype dtype{type.code, type.bits, 1};
  const nb::ndarray<nb::array_api> exported(memory, static_cast<size_t>(want.ndim), shape.data(), owner, nullptr, dtype);
  return {nb::cast(exported), memory, {}};
}

nb::object namespace_of(const char* op, const Kind& kind, nb::handle like) {
  if (kind.is_numpy) return imported_module("numpy");
  const nb::object method = nb::getattr(like, "__array_namespace__", nb::none());
  if (method.is_none()) {
    raise(PyExc_NotImplementedError, "%s: a %s has no __array_namespace__ to allocate the result with; pass an out to %s_", op,
          type_name(kind.type).c_str(), op);
  }
  return method();
}

Allocated allocate_by_namespace(const char* op, const Kind& kind, nb::handle like, const oprt_tensor_view_t& want) {
  const nb::object space = namespace_of(op, kind, like);
  nb::list sizes;
  for (int d = 0; d < want.ndim; ++d) sizes.append(want.shape[d]);
  const nb::object dtype = nb::getattr(space, oprt_dtype_name(want.dtype), nb::none());
  if (dtype.is_none()) {
    raise(PyExc_NotImplementedError, "%s: the result would be %s, which %s has not", op, oprt_dtype_name(want.dtype),
          type_name(kind.family).c_str());
  }
  const nb::object tensor =
      kind.is_numpy ? space.attr("empty")(nb::tuple(sizes), nb::arg("dtype") = dtype)
                    : space.attr("empty")(nb::tuple(sizes), nb::arg("dtype") = dtype, nb::arg("device") = like.attr("device"));
  oprt_tensor_view_t view;
  Lease lease = read_tensor(op, "the result", tensor, kind_of(Py_TYPE(tensor.ptr())), Access::kWrite, view);
  const bool as_wanted = view.dtype == want.dtype && view.ndim == want.ndim && view.device.type == want.device.type &&
                         view.device.id == want.device.id && std::equal(want.shape, want.shape + want.ndim, view.shape) &&
                         same_strides(want, view);
  if (!as_wanted && size_in_bytes(want) != 0) {
    raise(PyExc_RuntimeError, "%s: %s.empty made a tensor that is not row-major contiguous as asked", op,
          type_name(kind.family).c_str());
  }
  return {tensor, view.data, std::move(lease)};
}

}  // namespace

Allocated allocate_tensor(const char* op, const Kind& kind, nb::handle like, const oprt_tensor_view_t& want) {
  if (kind.exchange != nullptr && kind.exchange->allocate != nullptr) return allocate_by_exchange(op, kind, want);
  if (kind.is_immutable) return allocate_exported(op, want);
  return allocate_by_namespace(op, kind, like, want);
}

nb::object finish_tensor(const Kind& kind, nb::handle like, Allocated allocated) {
  if (!kind.is_immutable) return std::move(allocated.tensor);
  return like.attr("__array_namespace__")().attr("from_dlpack")(allocated.tensor);
}

Allocated allocate_workspace_tensor(const char* op, const Kind& kind, nb::handle like, oprt_device_t device, size_t bytes,
                                    oprt_tensor_view_t& view) {
  if (bytes > static_cast<size_t>(INT64_MAX) - OPRT_WORKSPACE_ALIGNMENT) throw std::bad_alloc();
  const auto size = static_cast<int64_t>(bytes + OPRT_WORKSPACE_ALIGNMENT);
  view = contiguous_view(OPRT_DTYPE_UINT8, device, 1, &size);
  Allocated allocated = allocate_tensor(op, kind, like, view);
  view.data = allocated.data;
  return allocated;
}

void* aligned(void* memory) {
  constexpr uintptr_t kAlignment = OPRT_WORKSPACE_ALIGNMENT;
  return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory) + kAlignment - 1) / kAlignment * kAlignment);
}

Workspace::Workspace(const char* op, const Kind& kind, nb::handle like, oprt_device_t device, size_t bytes) {
  if (bytes == 0) return;
  if (device.type == OPRT_DEVICE_CPU) {
    host_.reset(allocate_host(bytes));
    data_ = host_.get();
  } else {
    oprt_tensor_view_t view;
    tensor_ = allocate_workspace_tensor(op, kind, like, device, bytes, view).tensor;
    data_ = aligned(view.data);
  }
}

size_t size_in_bytes(const oprt_tensor_view_t& view) {
  size_t bytes = oprt_dtype_size(view.dtype);
  for (int d = 0; d < view.ndim; ++d) bytes *= static_cast<size_t>(view.shape[d]);
  return bytes;
}

bool same_strides(const oprt_tensor_view_t& a, const oprt_tensor_view_t& b) {
  for (int d = 0; d < a.ndim; ++d) {
    if (a.shape[d] > 1 && a.strides[d] != b.strides[d]) return false;
  }
  return true;
}

oprt_tensor_view_t contiguous_view(oprt_dtype_t dtype, oprt_device_t device, int32_t ndim, const int64_t* shape) {
  oprt_tensor_view_t view{nullptr, dtype, device, ndim, {}, {}};
  int64_t stride = 1;
  for (int d = ndim - 1; d >= 0; --d) {
    view.shape[d] = shape[d];
    view.strides[d] = stride;
    if (__builtin_mul_overflow(stride, std::max<int64_t>(shape[d], 1), &stride)) stride = 1;  // refused by create
  }
  return view;
}

}  // namespace oprt_python
