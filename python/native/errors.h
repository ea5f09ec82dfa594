// Python exceptions from C++: the right type, a text that names operator and argument.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "operator_runtime/status.h"

namespace oprt_python {

namespace nb = nanobind;

// operator_runtime.DimError, a ValueError and an IndexError.
PyObject* dim_error();

// Raises `type` with a formatted text.
[[noreturn, gnu::format(printf, 2, 3)]] void raise(PyObject* type, const char* format, ...);

// Raises what `status` is in Python, with the text of oprt_last_error(). Where that names the C argument `in`, a word that Python
// keeps for itself, it names `input`.
[[noreturn]] void raise_status(oprt_status_t status, const char* input);

inline void check_status(oprt_status_t status, const char* input) {
  if (status != OPRT_OK) [[unlikely]]
    raise_status(status, input);
}

// Raises what `status` is in Python, as "op: argument text": that of oprt_last_error() without its prefix and its first word, the
// name of the C argument.
[[noreturn]] void raise_status_of(const char* op, const char* argument, oprt_status_t status);

// The pending Python error becomes `type` with "text: <its own text>", the old one as its cause. Leaves alone what is no fault of
// an argument: MemoryError, and whatever is no Exception (KeyboardInterrupt).
[[noreturn, gnu::format(printf, 2, 3)]] void raise_from_pending(PyObject* type, const char* format, ...);

// "torch.Tensor", "int".
std::string type_name(PyTypeObject* type);

// str(object) for a text of our own: never raises, and escapes what UTF-8 cannot hold (lone surrogates).
std::string printable(nb::handle object);

// The characters of a str, NUL among them; nothing for what is no str, or no UTF-8. Valid while `text` lives.
std::string_view utf8(nb::handle text);

}  // namespace oprt_python
