// Softmax of rows that fill a block's registers, in the dialect: packets stay as they were read, and exponentials are computed
// twice, once for the sum and once to be written. One read, one write. Include ops/softmax/kernels.cuh first.
#pragma once

#include "ops/softmax/kernels.cuh"

namespace oprt::softmax {
inline namespace OPRT_SIMT {

// A block a row, kPackets packets a thread; kPerSm blocks share a multiprocessor's registers.
template <class T, int kThreads, int kPackets, int kPerSm>
__global__ void __launch_bounds__(kThreads, kPerSm) softmax_rows_packed(const T* in, T* out, RowsArgs args) {
  using Stretch = Contiguous<T>;
  constexpr int kSize = Stretch::kSize;
  const int t = static_cast<int>(threadIdx.x);
  int64_t offset[2];
  args.rows.locate(blockIdx.x, offset);
  const Stretch stretch(in + offset[1], out + offset[0], static_cast<int>(args.n), {});
  const auto is_there = [&](int k) { return t + k * kThreads < stretch.num_packets(); };

  typename Stretch::Packet packet[kPackets];
#pragma unroll
  for (int k = 0; k < kPackets; ++k) {
    if (is_there(k)) packet[k] = stretch.load(t + k * kThreads);
  }
  Stats<Value<T>> own;
  if (stretch.has_edge(t)) own.max = to_value(stretch.load_edge(t));
#pragma unroll
  for (int k = 0; k < kPackets; ++k) {
    if (!is_there(k)) continue;
#pragma unroll
    for (int j = 0; j < kSize; ++j) own.max = larger(own.max, to_value(packet[k].value[j]));
  }
  const Value<T> own_shift = own.shift();
  if (stretch.has_edge(t)) own.sum = exp_of<T>(to_value(stretch.load_edge(t)) - own_shift);
#pragma unroll
  for (int k = 0; k < kPackets; ++k) {
    if (!is_there(k)) continue;
    Value<T> values[kSize];
#pragma unroll
    for (int j = 0; j < kSize; ++j) values[j] = exp_of<T>(to_value(packet[k].value[j]) - own_shift);
    own.sum += tree_sum<kSize>(values);
  }

  const Stats<Value<T>> all = reduce_block<T, kThreads>(own);
  const Value<T> shift = all.shift();
  const Value<T> factor = Value<T>{1} / all.sum;
#pragma unroll
  for (int k = 0; k < kPackets; ++k) {
    if (!is_there(k)) continue;
#pragma unroll
    for (int j = 0; j < kSize; ++j) packet[k].value[j] = from_value<T>(exp_of<T>(to_value(packet[k].value[j]) - shift) * factor);
    stretch.store(t + k * kThreads, packet[k]);
  }
  if (stretch.has_edge(t)) stretch.store_edge(t, from_value<T>(exp_of<T>(to_value(stretch.load_edge(t)) - shift) * factor));
}

}  // namespace OPRT_SIMT
}  // namespace oprt::softmax
