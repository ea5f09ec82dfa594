// The canonical vector_add problem: what ops/vector_add/vector_add.cc hands to every backend.
#pragma once

#include <type_traits>

#include "core/layout.h"
#include "core/storage.h"
#include "operator_runtime/tensor.h"

namespace oprt::vector_add {

struct Problem {
  oprt_dtype_t dtype;  // anything but BOOL
  Space<3> space;      // operand 0 out, 1 a, 2 b; stride 0 where an input is broadcast
};

// make(T{}) with the real type that an element is, or is two of; integers are unsigned, so that they wrap.
template <class Make>
auto with_component(oprt_dtype_t dtype, Make&& make) {
  switch (dtype) {
    case OPRT_DTYPE_COMPLEX32:
      return make(Float16{});
    case OPRT_DTYPE_COMPLEX64:
      return make(float{});
    case OPRT_DTYPE_COMPLEX128:
      return make(double{});
    default:
      return with_real(dtype, [&]<class T>(T) {
        if constexpr (std::is_integral_v<T>) {
          return make(std::make_unsigned_t<T>{});
        } else {
          return make(T{});
        }
      });
  }
}

inline bool is_complex(oprt_dtype_t dtype) { return dtype >= OPRT_DTYPE_COMPLEX32 && dtype <= OPRT_DTYPE_COMPLEX128; }

// make(T{}) with the type of an element.
template <class Make>
auto with_element(oprt_dtype_t dtype, Make&& make) {
  return with_component(dtype, [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, Float16>) {
      if (is_complex(dtype)) return make(Complex<T>{});
    }
    return make(T{});
  });
}

}  // namespace oprt::vector_add
