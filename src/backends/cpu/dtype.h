// From a float dtype to the type that stores it, for every operator's choice of a kernel.
#pragma once

#include "core/error.h"
#include "core/half.h"
#include "operator_runtime/tensor.h"

namespace oprt::cpu {

// make(T{}) with the type that stores `dtype`. INTERNAL for a dtype that is no float: the operator's checks let none through.
template <class Make>
auto with_float(oprt_dtype_t dtype, Make&& make) {
  switch (dtype) {
    case OPRT_DTYPE_FLOAT16:
      return make(Float16{});
    case OPRT_DTYPE_BFLOAT16:
      return make(BFloat16{});
    case OPRT_DTYPE_FLOAT32:
      return make(float{});
    case OPRT_DTYPE_FLOAT64:
      return make(double{});
    default:
      throw Error(OPRT_ERR_INTERNAL, "", "%s has no kernel", oprt_dtype_name(dtype));
  }
}

}  // namespace oprt::cpu
