#include "native/kind.h"

#include <array>
#include <string_view>

#include "native/errors.h"

namespace oprt_python {
namespace {

constexpr const char* kExchangeAttribute = "__dlpack_c_exchange_api__";

// The last class in the order of `type`'s bases whose own dictionary has `attribute`: a subclass that overrides it is of one family
// with its base.
PyTypeObject* definer_of(PyTypeObject* type, const char* attribute) {
  const nb::handle bases(type->tp_mro);
  PyTypeObject* definer = nullptr;
  for (const nb::handle base : bases) {
    const nb::object dictionary = nb::getattr(base, "__dict__", nb::none());
    if (dictionary.is_none()) continue;
    const int has_attribute = PySequence_Contains(dictionary.ptr(), nb::str(attribute).ptr());
    if (has_attribute < 0) {  // a metaclass may answer with anything; what is no container has nothing
      if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
      PyErr_Clear();
    }
    if (has_attribute == 1) definer = reinterpret_cast<PyTypeObject*>(base.ptr());
  }
  return definer;
}

const DlpackExchange* exchange_of(nb::handle type) {
  const nb::object capsule = nb::getattr(type, kExchangeAttribute, nb::none());
  if (PyCapsule_CheckExact(capsule.ptr()) == 0) return nullptr;
  auto* header = static_cast<const DlpackExchangeHeader*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (header == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  while (header != nullptr && header->version.major != kDlpackVersion.major) header = header->previous;
  return reinterpret_cast<const DlpackExchange*>(header);
}

bool is_module(PyTypeObject* type, std::string_view package) {
  const nb::object module = nb::getattr(nb::handle(reinterpret_cast<PyObject*>(type)), "__module__", nb::none());
  const std::string_view name = utf8(module);
  return name == package || (name.starts_with(package) && name[package.size()] == '.');
}

// A subclass of torch.Tensor with its own __torch_dispatch__ may hold its data elsewhere, or none (FakeTensor, DTensor).
bool overrides_torch_dispatch(nb::handle type) {
  const nb::object dispatch = nb::getattr(type, "__torch_dispatch__", nb::none());
  const nb::object name = nb::getattr(dispatch, "__name__", nb::none());
  return !dispatch.is_none() && utf8(name) != "_disabled_torch_dispatch_impl";
}

Kind inspect(PyTypeObject* type) {
  const nb::handle handle(reinterpret_cast<PyObject*>(type));
  Kind kind{type, definer_of(type, "__dlpack__"), exchange_of(handle), "", false, false, false};
  if (kind.family == nullptr && kind.exchange != nullptr) kind.family = definer_of(type, kExchangeAttribute);
  if (kind.family == nullptr) return kind;
  kind.is_torch = is_module(kind.family, "torch");
  kind.is_numpy = is_module(kind.family, "numpy");
  kind.is_immutable = is_module(kind.family, "jax") || is_module(kind.family, "jaxlib");
  if (kind.is_torch && overrides_torch_dispatch(handle)) {
    kind.refusal = "a subclass that answers operations itself (__torch_dispatch__) and may hold no data of its own";
  } else if (kind.is_numpy && nb::hasattr(handle, "mask") && nb::hasattr(handle, "fill_value")) {
    kind.refusal = "a masked array, whose mask would be ignored";
  }
  return kind;
}

// Types seen first, kept alive so that an address names one type only.
struct Seen {
  std::array<Kind, 64> kinds;
  size_t count = 0;
};
Seen seen;

}  // namespace

Kind kind_of(PyTypeObject* type) {
  for (size_t i = 0; i < seen.count; ++i) {
    if (seen.kinds[i].type == type) return seen.kinds[i];
  }
  const Kind kind = inspect(type);
  if (kind.family != nullptr && seen.count < seen.kinds.size()) {
    Py_INCREF(type);
    seen.kinds[seen.count++] = kind;
  }
  return kind;
}

nb::object imported_module(const char* name) {
  const nb::object module = nb::steal(PyImport_GetModule(nb::str(name).ptr()));
  if (!module.is_valid()) raise(PyExc_RuntimeError, "%s is not imported", name);
  return module;
}

}  // namespace oprt_python
