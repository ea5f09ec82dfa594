// The canonical negate problem: what ops/negate/negate.cc hands to every backend.
#pragma once

#include "core/layout.h"
#include "operator_runtime/tensor.h"

namespace oprt::negate {

struct Problem {
  oprt_dtype_t dtype;  // FLOAT32 or FLOAT64
  Space<2> space;      // operand 0 out, operand 1 in
};

}  // namespace oprt::negate
