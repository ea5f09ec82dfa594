// Walking the dims of a canonical space by a flat index: what turns the number of a row, a tile or an element into one offset per
// operand. Divisors are known on the host, so a 32-bit index costs a multiplication and a shift per dim; offsets are 64-bit always.
#pragma once

#include "core/error.h"
#include "core/layout.h"
#include "simt/launch_shape.h"
#include "simt/simt.h"

namespace oprt::simt {
inline namespace OPRT_SIMT {

// Indices below this are 32-bit ones, the range of FastDivisor.
constexpr int64_t kMaxIndex32 = (int64_t{1} << 31) - 1;

template <class Index>
class Divisor;

template <>
class Divisor<uint32_t> : public FastDivisor {
 public:
  Divisor() = default;
  explicit Divisor(int64_t divisor) : FastDivisor(static_cast<uint32_t>(divisor)) {}
};

template <>
class Divisor<uint64_t> {
 public:
  Divisor() = default;
  explicit Divisor(int64_t divisor) : divisor_(static_cast<uint64_t>(divisor)) {}
  __device__ __forceinline__ uint64_t divide(uint64_t n, uint64_t* remainder) const {
    const uint64_t quotient = n / divisor_;
    *remainder = n - quotient * divisor_;
    return quotient;
  }

 private:
  uint64_t divisor_ = 1;
};

// Some dims of a space of N operands, the last one fastest. No dim at all is one position with offset 0.
template <int N, class Index>
struct Dims {
  int ndim = 0;
  Divisor<Index> size[OPRT_MAX_DIMS];
  int64_t stride[N][OPRT_MAX_DIMS] = {};  // elements

  __device__ __forceinline__ void add_offsets(Index index, int64_t (&offset)[N]) const {
    for (int d = ndim - 1; d > 0; --d) {
      Index position;
      index = size[d].divide(index, &position);
#pragma unroll
      for (int i = 0; i < N; ++i) offset[i] += static_cast<int64_t>(position) * stride[i][d];
    }
#pragma unroll
    for (int i = 0; i < N; ++i) offset[i] += static_cast<int64_t>(index) * stride[i][0];
  }
};

// The dims of `space` but those two (-1 leaves none out). Their sizes fit `Index`.
template <class Index, int N>
Dims<N, Index> dims_without(const Space<N>& space, int skip = -1, int skip_too = -1) {
  Dims<N, Index> dims;
  for (int d = 0; d < space.ndim; ++d) {
    if (d == skip || d == skip_too) continue;
    dims.size[dims.ndim] = Divisor<Index>(space.shape[static_cast<size_t>(d)]);
    for (int i = 0; i < N; ++i) dims.stride[i][dims.ndim] = space.strides[static_cast<size_t>(i)][static_cast<size_t>(d)];
    ++dims.ndim;
  }
  return dims;
}

// Blocks that `items` take with `per_block` each. Throws UNSUPPORTED beyond a grid.
inline unsigned num_blocks(int64_t items, int64_t per_block) {
  const int64_t blocks = divide_up(items, per_block);
  OPRT_CHECK(blocks <= kMaxBlocks, "out", OPRT_ERR_UNSUPPORTED, "%lld elements or rows are more than a grid covers",
             static_cast<long long>(items));
  return static_cast<unsigned>(blocks);
}

// This thread's number in a one-dimensional grid of `threads` a block.
template <class Index, int threads>
__device__ __forceinline__ Index thread_index() {
  return static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
}

}  // namespace OPRT_SIMT
}  // namespace oprt::simt
