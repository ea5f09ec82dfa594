// Do two strided layouts share a byte? Exact, by a bounded search for a solution of sum(stride_k * x_k) = distance.
#pragma once

#include <cstdint>

#include "operator_runtime/tensor.h"

namespace oprt {

// The bytes that a view touches, relative to its element 0; half open. Empty ({0, 0}) without elements.
struct ByteSpan {
  int64_t low = 0;
  int64_t high = 0;
};
ByteSpan byte_span(const oprt_tensor_view_t& view);

enum class Overlap { kNo, kYes, kUndecided };

// Whether `a` at address `a_data` and `b` at `b_data` share a byte. `data` of the views is not looked at.
Overlap views_overlap(const oprt_tensor_view_t& a, const void* a_data, const oprt_tensor_view_t& b, const void* b_data);

// Whether two different indices of `view` share a byte.
Overlap writes_twice(const oprt_tensor_view_t& view);

}  // namespace oprt
