#include "native/operands.h"

#include <algorithm>
#include <cstring>

#include "core/dlpack_types.h"

namespace oprt_python {
namespace {

enum : int32_t { kCudaHost = 3, kCudaManaged = 13 };

struct Names {
  PyObject* requires_grad = PyUnicode_InternFromString("requires_grad");
  PyObject* current_level = PyUnicode_InternFromString("_current_level");
  PyObject* is_neg = PyUnicode_InternFromString("is_neg");
  PyObject* is_conj = PyUnicode_InternFromString("is_conj");
  PyObject* dlpack = PyUnicode_InternFromString("__dlpack__");
  PyObject* dlpack_device = PyUnicode_InternFromString("__dlpack_device__");
  PyObject* version_keywords = PyTuple_Pack(1, PyUnicode_InternFromString("max_version"));
  PyObject* stream_keywords = PyTuple_Pack(1, PyUnicode_InternFromString("stream"));
  PyObject* both_keywords = PyTuple_Pack(2, PyUnicode_InternFromString("max_version"), PyUnicode_InternFromString("stream"));
  PyObject* max_version = Py_BuildValue("(ii)", static_cast<int>(kDlpackVersion.major), static_cast<int>(kDlpackVersion.minor));
  PyObject* default_stream = PyLong_FromLong(1);  // what DLPack calls CUDA's legacy default stream
};

const Names& names() {
  static const Names made;
  return made;
}

bool is_complex(oprt_dtype_t dtype) { return dtype >= OPRT_DTYPE_COMPLEX32 && dtype <= OPRT_DTYPE_COMPLEX128; }

nb::object checked(PyObject* result) {
  if (result == nullptr) throw nb::python_error();
  return nb::steal(result);
}

bool is_true(PyObject* result) { return checked(result).ptr() == Py_True; }

// What the exchange table passes over in silence: bits that say "read me conjugated", and gradients.
void check_torch(const char* op, const char* argument, nb::handle tensor, oprt_dtype_t dtype) {
  if (is_true(PyObject_CallMethodNoArgs(tensor.ptr(), names().is_neg))) {
    raise(PyExc_ValueError, "%s: %s is a negated view (its negative bit is set); pass %s.resolve_neg()", op, argument, argument);
  }
  if (is_complex(dtype) && is_true(PyObject_CallMethodNoArgs(tensor.ptr(), names().is_conj))) {
    raise(PyExc_ValueError, "%s: %s is a conjugated view (its conj bit is set); pass %s.resolve_conj()", op, argument, argument);
  }
  check_gradient(op, argument, tensor);
}

nb::handle forward_ad() {
  static const nb::handle module = imported_module("torch.autograd.forward_ad").release();
  return module;
}

bool flag(nb::handle tensor, const char* attribute) {
  const nb::object value = nb::getattr(tensor, attribute, nb::none());
  return value.ptr() == Py_True;
}

// A wrapper that stands for values of vmap, grad, jvp or another transform of torch.func.
bool is_transformed(nb::handle tensor) {
  const nb::object functions = nb::getattr(imported_module("torch._C"), "_functorch", nb::none());
  const nb::object is_wrapped = nb::getattr(functions, "is_functorch_wrapped_tensor", nb::none());
  return !is_wrapped.is_none() && nb::cast<bool>(is_wrapped(tensor));
}

// Why a torch tensor has no memory with strides, in our words; nullptr where it is none of these.
const char* why_not_dense(nb::handle tensor) {
  if (is_transformed(tensor)) return "a tensor inside a torch.func transform (vmap, grad, jvp, ...)";
  if (flag(tensor, "is_nested")) return "a nested tensor";
  if (flag(tensor, "is_quantized")) return "a quantized tensor";
  if (flag(tensor, "is_meta")) return "a meta tensor, which has no data";
  if (printable(nb::getattr(tensor, "layout", nb::none())).find("sparse") != std::string::npos) return "a sparse tensor";
  return nullptr;
}

void refuse_not_dense(const char* op, const char* argument, nb::handle tensor, const Kind& kind) {
  const char* why = kind.is_torch ? why_not_dense(tensor) : nullptr;
  if (why != nullptr) raise(PyExc_ValueError, "%s: %s is %s, expected a dense tensor with strides", op, argument, why);
}

// The pending error is the producer's.
[[noreturn]] void raise_not_exportable(const char* op, const char* argument, nb::handle tensor, const Kind& kind) {
  nb::python_error cause;
  refuse_not_dense(op, argument, tensor, kind);
  cause.restore();
  raise_from_pending(PyExc_ValueError, "%s: %s cannot be read", op, argument);
}

void release_managed(void* managed) {
  auto* tensor = static_cast<DlpackManaged*>(managed);
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

void release_versioned(void* managed) {
  auto* tensor = static_cast<DlpackManagedVersioned*>(managed);
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

struct Exported {
  oprt_dltensor_t tensor;
  uint64_t flags = 0;
  Lease lease;
};

Exported take_versioned(const char* op, const char* argument, DlpackManagedVersioned* managed) {
  Lease lease(managed, release_versioned);
  if (managed->version.major != kDlpackVersion.major) {
    raise(PyExc_ValueError, "%s: %s comes as DLPack %u.%u, expected 0.x or 1.x", op, argument, managed->version.major,
          managed->version.minor);
  }
  return {managed->tensor, managed->flags, std::move(lease)};
}

Exported read_by_exchange(const char* op, const char* argument, nb::handle tensor, const Kind& kind) {
  Exported exported{};
  if (kind.exchange->borrow_from_object != nullptr) {
    if (kind.exchange->borrow_from_object(tensor.ptr(), &exported.tensor) != 0) raise_not_exportable(op, argument, tensor, kind);
    return exported;
  }
  DlpackManagedVersioned* managed = nullptr;
  if (kind.exchange->managed_from_object(tensor.ptr(), &managed) != 0) raise_not_exportable(op, argument, tensor, kind);
  return take_versioned(op, argument, managed);
}

int32_t device_type_of(const char* op, const char* argument, nb::handle tensor, const Kind& kind) {
  const nb::object device = nb::steal(PyObject_CallMethodNoArgs(tensor.ptr(), names().dlpack_device));
  int type = 0;
  int id = 0;
  if (!device.is_valid()) raise_not_exportable(op, argument, tensor, kind);
  if (PyTuple_Check(device.ptr()) == 0 || PyArg_ParseTuple(device.ptr(), "ii", &type, &id) == 0) {
    PyErr_Clear();
    raise(PyExc_ValueError, "%s: %s.__dlpack_device__() is no pair of integers", op, argument);
  }
  return type;
}

// __dlpack__ as DLPack 1.x has it, or, for a producer that does not know max_version, as 0.x has it.
nb::object call_dlpack(const char* op, const char* argument, nb::handle tensor, const Kind& kind) {
  const Names& n = names();
  const int32_t device_type = device_type_of(op, argument, tensor, kind);
  const bool on_host = device_type == OPRT_DEVICE_CPU || device_type == kCudaHost;
  if (!on_host && device_type != OPRT_DEVICE_CUDA && device_type != kCudaManaged) {
    raise(PyExc_NotImplementedError, "%s: %s is on DLPack device type %d, expected cpu or cuda", op, argument, device_type);
  }
  PyObject* const arguments[] = {tensor.ptr(), n.max_version, n.default_stream};
  constexpr size_t kOnlySelf = 1;
  PyObject* capsule = PyObject_VectorcallMethod(n.dlpack, arguments, kOnlySelf, on_host ? n.version_keywords : n.both_keywords);
  if (capsule == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear();
    PyObject* const old_arguments[] = {tensor.ptr(), n.default_stream};
    capsule = PyObject_VectorcallMethod(n.dlpack, old_arguments, kOnlySelf, on_host ? nullptr : n.stream_keywords);
  }
  if (capsule == nullptr) raise_not_exportable(op, argument, tensor, kind);
  return nb::steal(capsule);
}

Exported read_by_capsule(const char* op, const char* argument, nb::handle tensor, const Kind& kind) {
  const nb::object capsule = call_dlpack(op, argument, tensor, kind);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    void* managed = PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned");
    if (PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned") != 0) throw nb::python_error();
    return take_versioned(op, argument, static_cast<DlpackManagedVersioned*>(managed));
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") != 0) {
    auto* managed = static_cast<DlpackManaged*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    if (PyCapsule_SetName(capsule.ptr(), "used_dltensor") != 0) throw nb::python_error();
    return {managed->tensor, 0, Lease(managed, release_managed)};
  }
  raise(PyExc_ValueError, "%s: %s.__dlpack__() gave no DLPack capsule that is unused", op, argument);
}

void check_writable(const char* op, const char* argument, const Kind& kind, uint64_t flags) {
  if (kind.is_immutable) {
    raise(PyExc_ValueError, "%s: %s is a %s, which is immutable, expected a tensor that can be written", op, argument,
          type_name(kind.type).c_str());
  }
  if ((flags & kDlpackReadOnly) != 0) raise(PyExc_ValueError, "%s: %s is read-only", op, argument);
  if ((flags & kDlpackIsCopied) != 0) {
    raise(PyExc_ValueError, "%s: %s was exported as a copy, so that what is written would be lost", op, argument);
  }
}

}  // namespace

Lease read_tensor(const char* op, const char* argument, nb::handle tensor, const Kind& kind, Access access,
                  oprt_tensor_view_t& view) {
  if (kind.family == nullptr || PyType_Check(tensor.ptr()) != 0) [[unlikely]] {
    raise(PyExc_TypeError, "%s: %s is a %s, expected a tensor (torch, NumPy or any other with __dlpack__)", op, argument,
          type_name(kind.type).c_str());
  }
  if (kind.refusal[0] != '\0') [[unlikely]] {
    raise(PyExc_ValueError, "%s: %s is a %s, %s", op, argument, type_name(kind.type).c_str(), kind.refusal);
  }
  Exported exported =
      kind.exchange != nullptr ? read_by_exchange(op, argument, tensor, kind) : read_by_capsule(op, argument, tensor, kind);
  if (const oprt_status_t status = oprt_view_from_dltensor(&view, &exported.tensor); status != OPRT_OK) [[unlikely]] {
    raise_status_of(op, argument, status);
  }
  const bool is_empty = std::find(view.shape, view.shape + view.ndim, 0) != view.shape + view.ndim;
  if (view.data == nullptr && !is_empty) [[unlikely]] {
    refuse_not_dense(op, argument, tensor, kind);
    raise(PyExc_ValueError, "%s: %s has no memory for its elements", op, argument);
  }
  if (access == Access::kWrite) check_writable(op, argument, kind, exported.flags);
  if (kind.is_torch) check_torch(op, argument, tensor, view.dtype);
  return std::move(exported.lease);
}

void check_gradient(const char* op, const char* argument, nb::handle tensor) {
  if (!is_true(PyObject_GetAttr(tensor.ptr(), names().requires_grad))) return;
  if (nb::cast<bool>(imported_module("torch").attr("is_grad_enabled")())) {
    raise(PyExc_RuntimeError,
          "%s: %s requires grad and grad mode is on, but this function records no gradient. Use torch.no_grad() or %s.detach(); "
          "only torch.ops.operator_runtime.%s could be differentiated, where a build has it",
          op, argument, argument, op);
  }
}

bool in_dual_level() {
  static const nb::handle globals = nb::getattr(forward_ad(), "__dict__").release();
  PyObject* level = PyDict_GetItemWithError(globals.ptr(), names().current_level);
  return level != nullptr && PyLong_AsLong(level) >= 0;
}

void check_not_dual(const char* op, const char* argument, nb::handle tensor) {
  if (forward_ad().attr("unpack_dual")(tensor).attr("tangent").is_none()) return;
  raise(PyExc_RuntimeError,
        "%s: %s is a dual tensor of forward-mode differentiation, but this function records no derivative. Use "
        "torch.autograd.forward_ad.unpack_dual(%s).primal",
        op, argument, argument);
}

void check_unchanged(const char* op, const char* argument, nb::handle tensor, const Kind& kind, const oprt_tensor_view_t& view,
                     const char* when) {
  if (kind.exchange == nullptr || kind.exchange->borrow_from_object == nullptr) return;
  oprt_dltensor_t now;
  if (kind.exchange->borrow_from_object(tensor.ptr(), &now) != 0) throw nb::python_error();
  const bool same = reinterpret_cast<uintptr_t>(now.data) + now.byte_offset == reinterpret_cast<uintptr_t>(view.data) &&
                    oprt::DlpackType{now.dtype.code, now.dtype.bits} == oprt::kDlpackTypes[static_cast<size_t>(view.dtype)] &&
                    now.ndim == view.ndim && std::equal(now.shape, now.shape + now.ndim, view.shape) &&
                    (now.strides == nullptr || std::equal(now.strides, now.strides + now.ndim, view.strides));
  if (!same) [[unlikely]]
    raise(PyExc_RuntimeError, "%s: %s was given other memory or another shape %s", op, argument, when);
}

void Operands::read(int k, const char* argument, nb::handle tensor, Access access) {
  const auto index = static_cast<size_t>(k);
  tensors_[index] = tensor;
  arguments_[index] = argument;
  first_ = std::min(first_, index);
  end_ = index + 1;
  Kind& kind = kinds_[index];
  kind = kind_of(Py_TYPE(tensor.ptr()));
  leases_[index] = read_tensor(op_, argument, tensor, kind, access, views_[index]);
  if (kind.type != kind.family) has_subclass_ = true;
  if (family_ == nullptr) family_ = kind.family;
  if (family_ != kind.family) [[unlikely]] {
    raise(PyExc_ValueError, "%s: %s is a %s, expected a %s as the tensor before it", op_, argument, type_name(kind.type).c_str(),
          type_name(family_).c_str());
  }
}

void Operands::check_not_dual() const {
  for (size_t k = first_; k < end_; ++k) {
    if (kinds_[k].is_torch) oprt_python::check_not_dual(op_, arguments_[k], tensors_[k]);
  }
}

void Operands::check_unchanged() const {
  for (size_t k = first_; k < end_; ++k) {
    oprt_python::check_unchanged(op_, arguments_[k], tensors_[k], kinds_[k], views_[k],
                                 "while the arguments of this call were read");
  }
}

void* current_stream(const Kind& kind, oprt_device_t device) {
  void* stream = nullptr;
  if (device.type == OPRT_DEVICE_CPU || kind.exchange == nullptr || kind.exchange->current_stream == nullptr) return stream;
  if (kind.exchange->current_stream(device.type, device.id, &stream) != 0) throw nb::python_error();
  return stream;
}

}  // namespace oprt_python
