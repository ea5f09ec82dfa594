// Python values to what the C functions take.
#pragma once

#include <array>

#include "native/errors.h"
#include "operator_runtime/operator_runtime.h"

namespace oprt_python {

// A name in any case, a Backend, or None for AUTO. Raises ValueError listing the names, TypeError for another type, RuntimeError
// for tilelang, which is no backend of the native library.
oprt_backend_t parse_backend(const char* op, nb::handle backend);

// Any object with __index__ but a bool or a tensor of bool. Raises TypeError, and DimError for what does not fit int32: no tensor
// has such a dim.
int32_t parse_dim(const char* op, nb::handle dim, int32_t ndim);

// As the C functions take dims: more than OPRT_MAX_DIMS are counted but not kept, and refused there.
struct Dims {
  std::array<int32_t, OPRT_MAX_DIMS> values;
  int32_t count;
};

// None (no dims), one dim, or a tuple or list of them. Raises as parse_dim does.
Dims parse_dims(const char* op, nb::handle dim, int32_t ndim);

// 1 or 0: the truth of any object.
int32_t is_true(nb::handle value);

// A torch or NumPy dtype or type, or a name: "float32". Raises ValueError for any other.
oprt_dtype_t parse_dtype(const char* op, nb::handle dtype);

}  // namespace oprt_python
