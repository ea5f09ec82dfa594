// What is known of a type whose objects come as tensors, found once a type.
#pragma once

#include <nanobind/nanobind.h>

#include "native/dlpack.h"

namespace oprt_python {

namespace nb = nanobind;

struct Kind {
  PyTypeObject* type;    // borrowed from the object at hand
  PyTypeObject* family;  // the base that defines the tensor protocol: tensors of one family may be mixed; nullptr: no tensor
  const DlpackExchange* exchange;  // nullptr where the type has none
  const char* refusal;             // why its objects cannot be read, "" where they can; static text
  bool is_torch;
  bool is_numpy;
  bool is_immutable;
};

// Never raises; family is nullptr for a type that is no tensor.
Kind kind_of(PyTypeObject* type);

// A module that is already imported; raises RuntimeError otherwise.
nb::object imported_module(const char* name);

}  // namespace oprt_python
