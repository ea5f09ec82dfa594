// The types that store elements, and the way from a dtype to its type: every operator's choice of a kernel, on any backend.
#pragma once

#include <cstdint>

#include "core/error.h"
#include "core/half.h"
#include "operator_runtime/tensor.h"

namespace oprt {

// A byte that is false where it is zero.
struct Bool {
  uint8_t byte;
};

// Aligned to its size, two float64 to half of it.
template <class T>
struct alignas(sizeof(T) < 8 ? 2 * sizeof(T) : sizeof(T)) Complex {
  T re;
  T im;
};

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

// The same for integers too. Those of 64 bits are added modulo 2^64 whatever their sign: uint64_t stands for both.
template <class Make>
auto with_real(oprt_dtype_t dtype, Make&& make) {
  switch (dtype) {
    case OPRT_DTYPE_INT8:
      return make(int8_t{});
    case OPRT_DTYPE_UINT8:
      return make(uint8_t{});
    case OPRT_DTYPE_INT16:
      return make(int16_t{});
    case OPRT_DTYPE_UINT16:
      return make(uint16_t{});
    case OPRT_DTYPE_INT32:
      return make(int32_t{});
    case OPRT_DTYPE_UINT32:
      return make(uint32_t{});
    case OPRT_DTYPE_INT64:
    case OPRT_DTYPE_UINT64:
      return make(uint64_t{});
    default:
      return with_float(dtype, make);
  }
}

}  // namespace oprt
