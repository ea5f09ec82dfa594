// Checks and arithmetic on views.
#pragma once

#include <cstdint>
#include <string>

#include "operator_runtime/tensor.h"

namespace oprt {

enum class DTypeKind { kBool, kInteger, kFloat, kComplex };
DTypeKind dtype_kind(oprt_dtype_t dtype);

// Throws INVALID_ARGUMENT unless `view` is well formed: not NULL, a known dtype, ndim 0..8, sizes >= 0, element count and
// address span (in bytes) inside int64, id 0 on the cpu. UNSUPPORTED for a device that is neither cpu nor cuda. `name` is the
// argument's.
void check_view(const char* name, const oprt_tensor_view_t* view);

// A row-major contiguous view. Throws INVALID_ARGUMENT on argument `name` for what check_view refuses in a dtype and a shape, and
// for a NULL shape with ndim > 0.
oprt_tensor_view_t contiguous_view(const char* name, void* data, oprt_dtype_t dtype, oprt_device_t device, int32_t ndim,
                                   const int64_t* shape);

// Number of elements of a checked view.
int64_t num_elements(const oprt_tensor_view_t& view);

// "(2, 3)", "(5,)", "()".
std::string shape_text(const int64_t* shape, int ndim);
inline std::string shape_text(const oprt_tensor_view_t& view) { return shape_text(view.shape, view.ndim); }

// `dim` made non-negative. Throws INVALID_ARGUMENT on `argument` ("dim" or "dims"): "dim is 3, expected -2..1 for a 2-D input". A
// 0-d tensor accepts 0 and -1.
int normalize_dim(const char* argument, int32_t dim, int ndim);

}  // namespace oprt
