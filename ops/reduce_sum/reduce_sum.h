// The canonical reduce_sum problem: what ops/reduce_sum/reduce_sum.cc hands to every backend.
#pragma once

#include "core/layout.h"
#include "operator_runtime/tensor.h"

namespace oprt::reduce_sum {

struct Problem {
  oprt_dtype_t in_dtype;
  oprt_dtype_t out_dtype;
  Space<2> kept;     // operand 0 out, operand 1 in
  Space<1> reduced;  // in; size 0 for an empty sum, ndim 0 when nothing is reduced
};

}  // namespace oprt::reduce_sum
