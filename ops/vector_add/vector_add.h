// The canonical vector_add problem: what ops/vector_add/vector_add.cc hands to every backend.
#pragma once

#include "core/layout.h"
#include "operator_runtime/tensor.h"

namespace oprt::vector_add {

struct Problem {
  oprt_dtype_t dtype;  // anything but BOOL
  Space<3> space;      // operand 0 out, 1 a, 2 b; stride 0 where an input is broadcast
};

}  // namespace oprt::vector_add
