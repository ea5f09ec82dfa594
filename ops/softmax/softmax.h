// The canonical softmax problem: what ops/softmax/softmax.cc hands to every backend.
#pragma once

#include "core/layout.h"
#include "operator_runtime/tensor.h"

namespace oprt::softmax {

struct Problem {
  oprt_dtype_t dtype;  // FLOAT16, BFLOAT16, FLOAT32 or FLOAT64
  int64_t n;           // row length, >= 1 unless rows is empty
  int64_t out_stride;  // elements, between neighbours of a row
  int64_t in_stride;
  Space<2> rows;  // where rows start: operand 0 out, operand 1 in
};

}  // namespace oprt::softmax
