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

// As that argument's name, `in` stands first, or before a comma or the end; as a preposition it never does.
std::string with_input_named(std::string text, const char* input) {
  const size_t first = text.find(": ") + 1;
  for (size_t at = text.find(" in"); at != std::string::npos; at = text.find(" in", at + 1)) {
    const char next = text[at + 3];
    if (next == '\0' || next == ',' || (next == ' ' && at == first)) text.replace(at + 1, 2, input);
  }
  return text;
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
  // A text that was cut may end inside a character.
  const nb::object decoded = nb::steal(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace"));
  if (decoded.is_valid()) PyErr_SetObject(type, decoded.ptr());
  throw nb::python_error();
}

void raise_status(oprt_status_t status, const char* input) {
  raise(exception_type(status), "%s", with_input_named(oprt_last_error(), input).c_str());
}

void raise_status_of(const char* op, const char* argument, oprt_status_t status) {
  const std::string_view text = oprt_last_error();
  const size_t words = text.find(' ', text.find(": ") + 2);
  raise(exception_type(status), "%s: %s%s", op, argument, words != text.npos ? text.data() + words : "");
}

void raise_from_pending(PyObject* type, const char* format, ...) {
  if (PyErr_ExceptionMatches(PyExc_MemoryError) != 0 || PyErr_ExceptionMatches(PyExc_Exception) == 0) throw nb::python_error();
  char text[kMaxText];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  nb::python_error cause;
  const std::string reason = printable(cause.value());
  cause.restore();
  nb::chain_error(type, "%s: %s", text, reason.c_str());
  throw nb::python_error();
}

std::string type_name(PyTypeObject* type) {
  const nb::handle handle(reinterpret_cast<PyObject*>(type));
  const nb::object module = nb::getattr(handle, "__module__", nb::str("builtins"));
  const std::string name = printable(nb::getattr(handle, "__qualname__", nb::str(type->tp_name)));
  return !nb::isinstance<nb::str>(module) || utf8(module) == "builtins" ? name : printable(module) + "." + name;
}

std::string printable(nb::handle object) {
  const nb::object text = nb::steal(PyObject_Str(object.ptr()));
  if (text.is_valid()) {
    const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
    if (bytes.is_valid()) return PyBytes_AS_STRING(bytes.ptr());
  }
  PyErr_Clear();
  return std::string("<unprintable ") + Py_TYPE(object.ptr())->tp_name + " object>";
}

std::string_view utf8(nb::handle text) {
  if (!nb::isinstance<nb::str>(text)) return {};
  Py_ssize_t size = 0;
  const char* characters = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (characters != nullptr) return {characters, static_cast<size_t>(size)};
  PyErr_Clear();
  return {};
}

}  // namespace oprt_python
