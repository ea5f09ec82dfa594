// The numbers of softmax: a row's largest element and the sum of exp(x - max), kept as a pair while a row is read in parts. A part
// of nothing but -inf counts exp(-inf) = 0 against a shift of 0, so that only a whole row of -inf ends as NaN (0 * 1/0). Include
// ops/softmax/kernels.cuh.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "simt/simt.h"
#include "simt/walk.cuh"

namespace oprt::softmax {
inline namespace OPRT_SIMT {

using simt::FastDivisor;
using simt::Vector;
using simt::Walk;

template <class T>
using Value = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class V>
constexpr V kNothing = -std::numeric_limits<V>::infinity();  // the largest of no elements

__device__ __forceinline__ double to_value(double x) { return x; }
template <class T>
__device__ __forceinline__ float to_value(T x) {
  return simt::to_float(x);
}
template <class T>
__device__ __forceinline__ T from_value(Value<T> x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return simt::from_float<T>(x);
  }
}

__device__ __forceinline__ float larger(float a, float b) { return fmaxf(a, b); }  // a NaN is left out; its exp is in the sum
__device__ __forceinline__ double larger(double a, double b) { return fmax(a, b); }

// exp(x) times a power of two for x <= 0, as exact as T is. For 16-bit types that is 2^(x log2 e + 64): sums and results stay clear
// of the range where 2^x ends in 0 without gradual underflow, and dividing one by the other takes the 2^64 out.
template <class T>
__device__ __forceinline__ Value<T> exp_of(Value<T> x) {
  if constexpr (std::is_same_v<T, double>) {
    return exp(x);
  } else if constexpr (std::is_same_v<T, float>) {
    return expf(x);
  } else {
    constexpr float kLog2E = 1.44269502f;
    return simt::exp2_fast(fmaf(x, kLog2E, 64.0f));
  }
}

template <class V>
struct Stats {
  V max = kNothing<V>;
  V sum = 0;  // of exp_of()

  // What exponents are taken against.
  __device__ __forceinline__ V shift() const { return max == kNothing<V> ? V{0} : max; }
};

// What turns sums against `from` into sums against the larger `to`.
template <class T>
__device__ __forceinline__ Value<T> rescale(Value<T> from, Value<T> to) {
  return from == to ? Value<T>{1} : exp_of<Value<T>>(from - to);
}

template <class T>
__device__ __forceinline__ Stats<Value<T>> combine(const Stats<Value<T>>& a, const Stats<Value<T>>& b) {
  const Value<T> max = larger(a.max, b.max);
  return {max, a.sum * rescale<T>(a.max, max) + b.sum * rescale<T>(b.max, max)};
}

template <int n, class V>
__device__ __forceinline__ V tree_max(const V* values) {
  if constexpr (n == 1) {
    return values[0];
  } else {
    return larger(tree_max<n / 2>(values), tree_max<n - n / 2>(values + n / 2));
  }
}
template <int n, class V>
__device__ __forceinline__ V tree_sum(const V* values) {
  if constexpr (n == 1) {
    return values[0];
  } else {
    return tree_sum<n / 2>(values) + tree_sum<n - n / 2>(values + n / 2);
  }
}

// Takes n values in. They become their exponentials against stats.shift().
template <class T, int n>
__device__ __forceinline__ void take(Stats<Value<T>>& stats, Value<T>* values) {
  const Value<T> max = tree_max<n>(values);
  if (max > stats.max) {
    stats.sum *= rescale<T>(stats.max, max);
    stats.max = max;
  }
  const Value<T> shift = stats.shift();
#pragma unroll
  for (int i = 0; i < n; ++i) values[i] = exp_of<T>(values[i] - shift);
  stats.sum += tree_sum<n>(values);
}

// Over `lanes` neighbours, a power of two within a warp; the result is in every lane.
template <class T>
__device__ __forceinline__ Stats<Value<T>> reduce_lanes(const Stats<Value<T>>& own, int lanes) {
  Stats<Value<T>> all = own;
  for (int step = lanes / 2; step > 0; step /= 2) all.max = larger(all.max, simt::shuffle_xor(all.max, step));
  all.sum *= rescale<T>(own.max, all.max);
  for (int step = lanes / 2; step > 0; step /= 2) all.sum += simt::shuffle_xor(all.sum, step);
  return all;
}

// Over a block; the result is in every thread. Once per kernel.
template <class T, int kThreads>
__device__ __forceinline__ Stats<Value<T>> reduce_block(const Stats<Value<T>>& own) {
  constexpr int kWarps = kThreads / simt::kWarpSize;
  static_assert(kThreads % simt::kWarpSize == 0 && kWarps <= simt::kWarpSize);
  __shared__ Value<T> max[kWarps];
  __shared__ Value<T> sum[kWarps];
  const Stats<Value<T>> warp = reduce_lanes<T>(own, simt::kWarpSize);
  if (simt::lane_id() == 0) {
    max[simt::warp_id()] = warp.max;
    sum[simt::warp_id()] = warp.sum;
  }
  simt::sync_block();
  Stats<Value<T>> other;
  if (simt::lane_id() < kWarps) other = {max[simt::lane_id()], sum[simt::lane_id()]};
  return reduce_lanes<T>(other, simt::kWarpSize);
}

}  // namespace OPRT_SIMT
}  // namespace oprt::softmax
