// What the plans of copy share.
#pragma once

#include <memory>

#include "core/dispatch.h"
#include "core/error.h"
#include "ops/copy/copy.h"
#include "ops/copy/kernels.cuh"
#include "simt/vendor.h"

namespace oprt::copy::OPRT_VENDOR {

// Base of the plans that move words of type T. Does nothing where out is exactly in.
template <class T>
class WordPlan : public Plan {
 public:
  explicit WordPlan(const Space<2>& space) : offset_(space.offset), same_layout_(space.strides[0] == space.strides[1]) {}

  void execute(const Launch& launch) const final {
    if (launch.out == launch.in[0] && same_layout_) return;
    run(static_cast<T*>(launch.out) + offset_[0], static_cast<const T*>(launch.in[0]) + offset_[1], launch.stream);
  }

 private:
  virtual void run(T* out, const T* in, void* stream) const = 0;

  std::array<int64_t, 2> offset_;
  bool same_layout_;
};

// make(a word of that many bytes).
template <class Make>
std::unique_ptr<const Plan> with_word(size_t element_size, Make make) {
  switch (element_size) {
    case 1:
      return make(uint8_t{});
    case 2:
      return make(uint16_t{});
    case 4:
      return make(uint32_t{});
    case 8:
      return make(uint64_t{});
    default:
      OPRT_ICHECK(element_size == 16);
      return make(Word128{});
  }
}

}  // namespace oprt::copy::OPRT_VENDOR
