// The canonical reduce_sum problem: what ops/reduce_sum/reduce_sum.cc hands to every backend.
#pragma once

#include "core/layout.h"
#include "core/storage.h"
#include "operator_runtime/tensor.h"

namespace oprt::reduce_sum {

struct Problem {
  oprt_dtype_t in_dtype;
  oprt_dtype_t out_dtype;
  Space<2> kept;     // operand 0 out, operand 1 in
  Space<1> reduced;  // in; size 0 for an empty sum, ndim 0 when nothing is reduced
};

// make(T{}) with the type that stores the elements to be added.
template <class Make>
auto with_addend(oprt_dtype_t dtype, Make&& make) {
  return dtype == OPRT_DTYPE_BOOL ? make(Bool{}) : with_real(dtype, make);
}

}  // namespace oprt::reduce_sum
