#include "native/errors.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace oprt_python {
namespace {

constexpr size_t kMaxText = 640;

PyObject* exception_type(oprt_status_t status) {
  switch (status) {
    case OPRT_ERR_INVALID_ARGUMENT: {
      const char* argument = oprt_last_error_argument();
      const bool is_dim = std::strcmp(argument, "dim") == 0 || std::strcmp(argument, "dims") == 0;
      return is_dim ? dim_error() : PyExc_ValueError;
    }
    case OPRT_ERR_UNSUPPORTED:
      return PyExc_NotImplementedError;
    case OPRT_ERR_OUT_OF_MEMORY:
      return PyExc_MemoryError;
    default:
      return PyExc_RuntimeError;
  }
}

}  // namespace

PyObject* dim_error() {
  // Lives as long as the process, like the exception types of the interpreter.
  static PyObject* const type = [] {
    const nb::object bases = nb::steal(PyTuple_Pack(2, PyExc_ValueError, PyExc_IndexError));
    PyObject* made = PyErr_NewExceptionWithDoc("operator_runtime.DimError",
                                               "A dim that the tensor does not have, or one given twice.", bases.ptr(), nullptr);
    if (made == nullptr) throw nb::python_error();
    return made;
  }();
  return type;
}

void raise(PyObject* type, const char* format, ...) {
  char text[kMaxText];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  PyErr_SetString(type, text);
  throw nb::python_error();
}

void raise_status(oprt_status_t status) { raise(exception_type(status), "%s", oprt_last_error()); }

void raise_status_of(const char* op, const char* argument, oprt_status_t status) {
  const char* text = oprt_last_error();
  const char* prefix_end = std::strstr(text, ": ");  // of the C function, which means nothing to a Python caller
  raise(exception_type(status), "%s: %s: %s", op, argument, prefix_end != nullptr ? prefix_end + 2 : text);
}

void raise_from_pending(PyObject* type, const char* format, ...) {
  if (PyErr_ExceptionMatches(PyExc_MemoryError) != 0 || PyErr_ExceptionMatches(PyExc_Exception) == 0) throw nb::python_error();
  char text[kMaxText];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  nb::python_error cause;
  const nb::str reason(cause.value());
  cause.restore();
  nb::chain_error(type, "%s: %s", text, reason.c_str());
  throw nb::python_error();
}

nb::str type_name(PyTypeObject* type) {
  const nb::handle handle(reinterpret_cast<PyObject*>(type));
  const nb::object module = nb::getattr(handle, "__module__", nb::str("builtins"));
  nb::str name = nb::str(nb::getattr(handle, "__qualname__", nb::str(type->tp_name)));
  if (!nb::isinstance<nb::str>(module) || nb::str(module).equal(nb::str("builtins"))) return name;
  return nb::str("{}.{}").format(module, name);
}

}  // namespace oprt_python
