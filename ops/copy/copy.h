// The canonical copy problem: what ops/copy/copy.cc hands to every backend.
#pragma once

#include "core/layout.h"
#include "operator_runtime/tensor.h"

namespace oprt::copy {

struct Problem {
  size_t element_size;  // bytes: 1, 2, 4, 8 or 16
  Space<2> space;       // operand 0 out, operand 1 in
};

}  // namespace oprt::copy
