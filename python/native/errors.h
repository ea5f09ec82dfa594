// Python exceptions from C++: the right type, a text that names operator and argument.
#pragma once

#include <nanobind/nanobind.h>

#include "operator_runtime/status.h"

namespace oprt_python {

namespace nb = nanobind;

// operator_runtime.DimError, a ValueError and an IndexError.
PyObject* dim_error();

// Raises `type` with a formatted text.
[[noreturn, gnu::format(printf, 2, 3)]] void raise(PyObject* type, const char* format, ...);

// Raises what `status` is in Python, with the text of oprt_last_error() as it stands.
[[noreturn]] void raise_status(oprt_status_t status);

inline void check_status(oprt_status_t status) {
  if (status != OPRT_OK) [[unlikely]]
    raise_status(status);
}

// Raises what `status` is in Python, as "op: argument: text", the text of oprt_last_error() without its prefix.
[[noreturn]] void raise_status_of(const char* op, const char* argument, oprt_status_t status);

// The pending Python error becomes `type` with "text: <its own text>", the old one as its cause. Leaves alone what is no fault of
// an argument: MemoryError, and whatever is no Exception (KeyboardInterrupt).
[[noreturn, gnu::format(printf, 2, 3)]] void raise_from_pending(PyObject* type, const char* format, ...);

// "torch.Tensor", "int".
nb::str type_name(PyTypeObject* type);

}  // namespace oprt_python
