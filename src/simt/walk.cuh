// Walks over a Space<N> inside a kernel: from a point's number, counted in the space's order, to each operand's offset.
#pragma once

#include <climits>

#include "core/layout.h"
#include "simt/simt.h"

namespace oprt::simt {
inline namespace OPRT_SIMT {

// A kernel parameter. Divides by multiplication where the number of points fits 31 bits.
template <int N>
class Walk {
 public:
  Walk() = default;
  explicit Walk(const Space<N>& space) : ndim_(space.ndim), is_wide_(space.size() > INT_MAX) {
    for (size_t d = 0; d < static_cast<size_t>(space.ndim); ++d) {
      size_[d] = space.shape[d];
      if (d > 0 && !is_wide_) divisor_[d] = FastDivisor(static_cast<uint32_t>(space.shape[d]));
      for (size_t k = 0; k < N; ++k) stride_[k][d] = space.strides[k][d];
    }
    for (size_t k = 0; k < N; ++k) start_[k] = space.offset[k];
  }

  // offset[k] of operand k, in elements from its element 0.
  __device__ __forceinline__ void locate(int64_t point, int64_t (&offset)[N]) const {
    for (int k = 0; k < N; ++k) offset[k] = start_[k];
    int64_t rest = point;
    if (!is_wide_) {
      uint32_t narrow = static_cast<uint32_t>(point);
      for (int d = ndim_ - 1; d > 0; --d) {
        uint32_t i;
        narrow = divisor_[d].divide(narrow, &i);
        for (int k = 0; k < N; ++k) offset[k] += i * stride_[k][d];
      }
      rest = narrow;
    } else {
      for (int d = ndim_ - 1; d > 0; --d) {
        const int64_t next = rest / size_[d];
        for (int k = 0; k < N; ++k) offset[k] += (rest - next * size_[d]) * stride_[k][d];
        rest = next;
      }
    }
    for (int k = 0; k < N; ++k) offset[k] += rest * stride_[k][0];
  }

 private:
  int ndim_ = 0;
  bool is_wide_ = false;
  FastDivisor divisor_[OPRT_MAX_DIMS];
  int64_t size_[OPRT_MAX_DIMS] = {};
  int64_t stride_[N][OPRT_MAX_DIMS] = {};
  int64_t start_[N] = {};
};

}  // namespace OPRT_SIMT
}  // namespace oprt::simt
