// Reductions over a warp and over a block, in an order that depends on the lane count and the block size alone. Include
// simt/simt.h.
#pragma once

namespace oprt::simt {
inline namespace OPRT_SIMT {

struct Sum {
  template <class T>
  __device__ __forceinline__ T operator()(T a, T b) const {
    return a + b;
  }
};

// The result is in every lane. `width`, a power of two, splits the warp into groups that reduce on their own.
template <int width = kWarpSize, class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, Combine combine) {
  static_assert(width >= 1 && width <= kWarpSize && (width & (width - 1)) == 0);
#pragma unroll
  for (int lanes = width / 2; lanes > 0; lanes /= 2) value = combine(value, shuffle_xor(value, lanes));
  return value;
}

// The result is in every thread. `threads` is a multiple of kWarpSize; every thread of the block takes part. May be called again at
// once.
template <int threads, class T, class Combine>
__device__ __forceinline__ T block_reduce(T value, T identity, Combine combine) {
  constexpr int kWarps = threads / kWarpSize;
  static_assert(threads % kWarpSize == 0 && kWarps <= kWarpSize);
  value = warp_reduce(value, combine);
  if constexpr (kWarps > 1) {
    __shared__ T partial[kWarps];
    sync_block();
    if (lane_id() == 0) partial[warp_id()] = value;
    sync_block();
    value = warp_reduce(lane_id() < kWarps ? partial[lane_id()] : identity, combine);
  }
  return value;
}

}  // namespace OPRT_SIMT
}  // namespace oprt::simt
