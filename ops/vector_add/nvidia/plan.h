// What the plans of vector_add share.
#pragma once

#include <memory>

#include "core/dispatch.h"
#include "core/error.h"
#include "ops/vector_add/kernels.cuh"
#include "ops/vector_add/vector_add.h"

namespace oprt::vector_add {

// Base of the plans over elements of type T.
template <class T>
class ElementPlan : public Plan {
 public:
  // `reals` is the number of T that an element of the space is.
  explicit ElementPlan(const Space<3>& space, int64_t reals = 1) : offset_(space.offset) {
    for (int64_t& offset : offset_) offset *= reals;
  }

  void execute(const Launch& launch) const final {
    run(static_cast<T*>(launch.out) + offset_[0], static_cast<const T*>(launch.in[0]) + offset_[1],
        static_cast<const T*>(launch.in[1]) + offset_[2], launch.stream);
  }

 private:
  virtual void run(T* out, const T* a, const T* b, void* stream) const = 0;

  std::array<int64_t, 3> offset_;
};

// make(a value of the real type that the dtype is, or is two of).
template <class Make>
std::unique_ptr<const Plan> with_real(oprt_dtype_t dtype, Make make) {
  switch (dtype) {
    case OPRT_DTYPE_INT8:
    case OPRT_DTYPE_UINT8:
      return make(uint8_t{});
    case OPRT_DTYPE_INT16:
    case OPRT_DTYPE_UINT16:
      return make(uint16_t{});
    case OPRT_DTYPE_INT32:
    case OPRT_DTYPE_UINT32:
      return make(uint32_t{});
    case OPRT_DTYPE_INT64:
    case OPRT_DTYPE_UINT64:
      return make(uint64_t{});
    case OPRT_DTYPE_FLOAT16:
    case OPRT_DTYPE_COMPLEX32:
      return make(Float16{});
    case OPRT_DTYPE_BFLOAT16:
      return make(BFloat16{});
    case OPRT_DTYPE_FLOAT32:
    case OPRT_DTYPE_COMPLEX64:
      return make(float{});
    default:
      OPRT_ICHECK(dtype == OPRT_DTYPE_FLOAT64 || dtype == OPRT_DTYPE_COMPLEX128);
      return make(double{});
  }
}

inline bool is_complex(oprt_dtype_t dtype) {
  return dtype == OPRT_DTYPE_COMPLEX32 || dtype == OPRT_DTYPE_COMPLEX64 || dtype == OPRT_DTYPE_COMPLEX128;
}

// make(an element).
template <class Make>
std::unique_ptr<const Plan> with_element(oprt_dtype_t dtype, Make make) {
  switch (dtype) {
    case OPRT_DTYPE_COMPLEX32:
      return make(Complex<Float16>{});
    case OPRT_DTYPE_COMPLEX64:
      return make(Complex<float>{});
    case OPRT_DTYPE_COMPLEX128:
      return make(Complex<double>{});
    default:
      return with_real(dtype, make);
  }
}

}  // namespace oprt::vector_add
