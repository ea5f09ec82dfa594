// What the plans of vector_add share.
#pragma once

#include <memory>

#include "core/dispatch.h"
#include "core/error.h"
#include "ops/vector_add/kernels.cuh"
#include "ops/vector_add/vector_add.h"
#include "simt/vendor.h"

namespace oprt::vector_add::OPRT_VENDOR {

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

}  // namespace oprt::vector_add::OPRT_VENDOR
