// Softmax of short aligned rows, in the dialect: a row is kLanes neighbouring lanes with two 16-byte vectors each. Nothing but
// loads, shuffles and stores: a block lives for little more than one memory latency, so every instruction before its first load
// counts.
#pragma once

#include "ops/softmax/stats.cuh"

namespace oprt::softmax {
inline namespace OPRT_SIMT {

// H200, against rows in registers of as many lanes that may also be misaligned or have edges: 32768x256 f32 3.27 vs 3.03 TB/s, bf16
// 2.65 vs 2.50; 32768x512 bf16 3.27 vs 3.12, with 4 vectors 3.20. 131072x1024 bf16 gains nothing: 4.06 vs 4.15 (2026-12).
constexpr int kShortRowVectors = 2;  // of a lane
constexpr int kShortRowThreads = 128;

// Row r of either tensor starts r strides after element 0; both are aligned to 16 bytes, and a row is `num_vectors` whole vectors,
// kLanes * kShortRowVectors at most.
template <class T, int kLanes>
__global__ void __launch_bounds__(kShortRowThreads)
    softmax_short_rows(const T* in, T* out, int64_t in_stride, int64_t out_stride, int num_vectors, int64_t num_rows) {
  constexpr int kSize = Vector<T>::kSize;
  constexpr int kValues = kShortRowVectors * kSize;
  const auto thread = static_cast<int>(threadIdx.x);
  const int64_t row = static_cast<int64_t>(blockIdx.x) * (kShortRowThreads / kLanes) + thread / kLanes;
  const auto is_there = [&](int k) { return row < num_rows && thread % kLanes + k * kLanes < num_vectors; };
  const auto element = [&](int k) { return static_cast<int64_t>(thread % kLanes + k * kLanes) * kSize; };

  Value<T> values[kValues];
#pragma unroll
  for (int k = 0; k < kShortRowVectors; ++k) {
    Vector<T> vector;
    if (is_there(k)) vector = simt::load_vector(in + row * in_stride + element(k));
#pragma unroll
    for (int j = 0; j < kSize; ++j) values[k * kSize + j] = is_there(k) ? to_value(vector.value[j]) : kNothing<Value<T>>;
  }
  Stats<Value<T>> all;
  all.max = tree_max<kValues>(values);
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) all.max = larger(all.max, simt::shuffle_xor(all.max, step));
#pragma unroll
  for (int i = 0; i < kValues; ++i) values[i] = exp_of<T>(values[i] - all.shift());
  all.sum = tree_sum<kValues>(values);
#pragma unroll
  for (int step = kLanes / 2; step > 0; step /= 2) all.sum += simt::shuffle_xor(all.sum, step);

  const Value<T> factor = Value<T>{1} / all.sum;
#pragma unroll
  for (int k = 0; k < kShortRowVectors; ++k) {
    if (!is_there(k)) continue;
    Vector<T> vector;
#pragma unroll
    for (int j = 0; j < kSize; ++j) vector.value[j] = from_value<T>(values[k * kSize + j] * factor);
    simt::store_vector(out + row * out_stride + element(k), vector);
  }
}

}  // namespace OPRT_SIMT
}  // namespace oprt::softmax
