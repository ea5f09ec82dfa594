// Softmax along rows, in the dialect. A row is read in packets: 16-byte vectors where both rows are contiguous (what does not fill
// a vector at the ends is one edge element for a thread), single elements for any other strides. A thread writes what it has read.
//   rows     one read, one write: a row stays in the registers of a few lanes or of a block
//   stream   a block a row: the row is read once with running (max, sum), its first packets stay in shared memory, the others are
//            read again
//   split    few long rows: blocks write (max, sum) of a chunk to the workspace, a second launch combines them and writes
#pragma once

#include "ops/softmax/stats.cuh"

namespace oprt::softmax {
inline namespace OPRT_SIMT {

// Plain loads and stores throughout. H200 f32 N=8192: 3.95 TB/s; with loads past the L1 cache 3.76, with evict-first stores 3.93,
// with both 3.65; the same order from N=1024 to 32768 and for bf16 (2026-12).
constexpr int kGroupBlockThreads = 128;  // block size where a row takes a warp or less
constexpr int kSplitThreads = 256;

// A stretch of a row with unit strides.
template <class T>
class Contiguous {
 public:
  using Packet = Vector<T>;
  static constexpr int kSize = Packet::kSize;

  struct Strides {};
  __device__ Contiguous(const T* in, T* out, int n, const Strides&) : in_(in), out_(out) {
    const auto misaligned = static_cast<unsigned>(reinterpret_cast<uintptr_t>(in) % simt::kVectorBytes);
    head_ = misaligned == 0 ? 0 : static_cast<int>((simt::kVectorBytes - misaligned) / sizeof(T));
    head_ = head_ < n ? head_ : n;
    num_packets_ = (n - head_) / kSize;
    num_edges_ = n - num_packets_ * kSize;
    is_out_aligned_ = simt::is_vector_aligned(out + head_);
  }
  __device__ __forceinline__ int num_packets() const { return num_packets_; }
  __device__ __forceinline__ Packet load(int i) const { return simt::load_vector(in_ + position(i)); }
  __device__ __forceinline__ void store(int i, const Packet& packet) const {
    T* to = out_ + position(i);
    if (is_out_aligned_) {
      simt::store_vector(to, packet);
    } else {
#pragma unroll
      for (int j = 0; j < kSize; ++j) to[j] = packet.value[j];
    }
  }
  // Thread t holds edge element t: those before the vectors, then those after.
  __device__ __forceinline__ bool has_edge(int t) const { return t < num_edges_; }
  __device__ __forceinline__ T load_edge(int t) const { return in_[edge(t)]; }
  __device__ __forceinline__ void store_edge(int t, T value) const { out_[edge(t)] = value; }

 private:
  __device__ __forceinline__ int64_t position(int i) const { return head_ + static_cast<int64_t>(i) * kSize; }
  __device__ __forceinline__ int edge(int t) const { return t < head_ ? t : t + num_packets_ * kSize; }

  const T* in_;
  T* out_;
  int head_;
  int num_packets_;
  int num_edges_;
  bool is_out_aligned_;
};

// A stretch of a row with any strides.
template <class T>
class Strided {
 public:
  struct Packet {
    static constexpr int kSize = 1;
    T value[1];
  };
  static constexpr int kSize = 1;

  struct Strides {
    int64_t in;
    int64_t out;
  };
  __device__ Strided(const T* in, T* out, int n, const Strides& strides) : in_(in), out_(out), n_(n), strides_(strides) {}
  __device__ __forceinline__ int num_packets() const { return n_; }
  __device__ __forceinline__ Packet load(int i) const { return {{in_[i * strides_.in]}}; }
  __device__ __forceinline__ void store(int i, const Packet& packet) const { out_[i * strides_.out] = packet.value[0]; }
  __device__ __forceinline__ bool has_edge(int) const { return false; }
  __device__ __forceinline__ T load_edge(int) const { return {}; }
  __device__ __forceinline__ void store_edge(int, T) const {}

 private:
  const T* in_;
  T* out_;
  int n_;
  Strides strides_;
};

struct RowsArgs {
  Walk<2> rows;  // operand 0 out, operand 1 in
  int64_t num_rows;
  int64_t n;           // elements of a row
  int lanes;           // rows: threads of a row within a warp, a power of two
  int cached;          // stream: packets of a thread that stay in shared memory
  int chunk;           // split: elements of a block
  FastDivisor splits;  // split: chunks of a row
};

template <class T, class Packet>
__device__ __forceinline__ void unpack(const Packet& packet, bool is_there, Value<T>* values) {
#pragma unroll
  for (int j = 0; j < Packet::kSize; ++j) {
    values[j] = is_there ? to_value(packet.value[j]) : kNothing<Value<T>>;
  }
}

// kThreads threads a row, or args.lanes where kThreads is 0; kPackets packets each.
template <class T, template <class> class Stretch, int kThreads, int kPackets>
__global__ void __launch_bounds__(kThreads == 0 ? kGroupBlockThreads : kThreads)
    softmax_rows(const T* in, T* out, RowsArgs args, typename Stretch<T>::Strides strides) {
  constexpr int kSize = Stretch<T>::kSize;
  const int threads = kThreads == 0 ? args.lanes : kThreads;
  const int t = kThreads == 0 ? static_cast<int>(threadIdx.x) & (threads - 1) : static_cast<int>(threadIdx.x);
  const int64_t row =
      kThreads == 0 ? static_cast<int64_t>(blockIdx.x) * (kGroupBlockThreads / threads) + static_cast<int>(threadIdx.x) / threads
                    : static_cast<int64_t>(blockIdx.x);
  int64_t offset[2] = {0, 0};
  const bool is_row = row < args.num_rows;
  if (is_row) args.rows.locate(row, offset);
  const Stretch<T> stretch(in + offset[1], out + offset[0], is_row ? static_cast<int>(args.n) : 0, strides);

  typename Stretch<T>::Packet packet[kPackets];
#pragma unroll
  for (int k = 0; k < kPackets; ++k) {
    if (t + k * threads < stretch.num_packets()) packet[k] = stretch.load(t + k * threads);
  }
  Value<T> values[kPackets * kSize + 1];
  values[kPackets * kSize] = kNothing<Value<T>>;
  if (stretch.has_edge(t)) values[kPackets * kSize] = to_value(stretch.load_edge(t));
#pragma unroll
  for (int k = 0; k < kPackets; ++k) unpack<T>(packet[k], t + k * threads < stretch.num_packets(), values + k * kSize);

  Stats<Value<T>> own;
  take<T, kPackets * kSize + 1>(own, values);
  Stats<Value<T>> all;
  if constexpr (kThreads == 0) {
    all = reduce_lanes<T>(own, threads);
  } else {
    all = reduce_block<T, kThreads>(own);
  }
  const Value<T> factor = rescale<T>(own.max, all.max) / all.sum;
#pragma unroll
  for (int k = 0; k < kPackets; ++k) {
    if (t + k * threads < stretch.num_packets()) {
#pragma unroll
      for (int j = 0; j < kSize; ++j) packet[k].value[j] = from_value<T>(values[k * kSize + j] * factor);
      stretch.store(t + k * threads, packet[k]);
    }
  }
  if (stretch.has_edge(t)) stretch.store_edge(t, from_value<T>(values[kPackets * kSize] * factor));
}

// Packets that a thread has in flight while it streams: what its registers hold.
template <class T, class Packet>
constexpr int kBatch = sizeof(T) > 4       ? 1
                       : Packet::kSize > 4 ? 2
                                           : 4;

// The part of thread t in a stretch. The first `cached` packets also go to cache[packet * kThreads + t].
template <class T, int kThreads, class Stretch>
__device__ __forceinline__ Stats<Value<T>> read_stats(const Stretch& stretch, int t, typename Stretch::Packet* cache, int cached) {
  using Packet = typename Stretch::Packet;
  constexpr int kCount = kBatch<T, Packet>;
  Stats<Value<T>> stats;
  if (stretch.has_edge(t)) {
    Value<T> edge[1] = {to_value(stretch.load_edge(t))};
    take<T, 1>(stats, edge);
  }
  for (int k = 0; k * kThreads + t < stretch.num_packets(); k += kCount) {
    Packet packet[kCount];
    Value<T> values[kCount * Packet::kSize];
#pragma unroll
    for (int b = 0; b < kCount; ++b) {
      if ((k + b) * kThreads + t < stretch.num_packets()) packet[b] = stretch.load((k + b) * kThreads + t);
    }
#pragma unroll
    for (int b = 0; b < kCount; ++b) {
      const bool is_there = (k + b) * kThreads + t < stretch.num_packets();
      if (is_there && k + b < cached) cache[(k + b) * kThreads + t] = packet[b];
      unpack<T>(packet[b], is_there, values + b * Packet::kSize);
    }
    take<T, kCount * Packet::kSize>(stats, values);
  }
  return stats;
}

template <class T, int kThreads, class Stretch>
__device__ __forceinline__ void write_result(const Stretch& stretch, const Stats<Value<T>>& stats, int t,
                                             const typename Stretch::Packet* cache, int cached) {
  using Packet = typename Stretch::Packet;
  constexpr int kCount = kBatch<T, Packet>;
  const Value<T> shift = stats.shift();
  const Value<T> factor = Value<T>{1} / stats.sum;
  for (int k = 0; k * kThreads + t < stretch.num_packets(); k += kCount) {
    Packet packet[kCount];
#pragma unroll
    for (int b = 0; b < kCount; ++b) {
      const int i = (k + b) * kThreads + t;
      if (i < stretch.num_packets()) packet[b] = k + b < cached ? cache[i] : stretch.load(i);
    }
#pragma unroll
    for (int b = 0; b < kCount; ++b) {
      const int i = (k + b) * kThreads + t;
      if (i < stretch.num_packets()) {
#pragma unroll
        for (int j = 0; j < Packet::kSize; ++j) {
          packet[b].value[j] = from_value<T>(exp_of<T>(to_value(packet[b].value[j]) - shift) * factor);
        }
        stretch.store(i, packet[b]);
      }
    }
  }
  if (stretch.has_edge(t)) stretch.store_edge(t, from_value<T>(exp_of<T>(to_value(stretch.load_edge(t)) - shift) * factor));
}

// Dynamic shared memory: args.cached packets a thread.
template <class T, template <class> class Stretch, int kThreads>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    softmax_stream(const T* in, T* out, RowsArgs args, typename Stretch<T>::Strides strides) {
  OPRT_DYNAMIC_SHARED(typename Stretch<T>::Packet, cache);
  const int t = static_cast<int>(threadIdx.x);
  int64_t offset[2];
  args.rows.locate(blockIdx.x, offset);
  const Stretch<T> stretch(in + offset[1], out + offset[0], static_cast<int>(args.n), strides);
  const Stats<Value<T>> own = read_stats<T, kThreads>(stretch, t, cache, args.cached);
  const Stats<Value<T>> all = reduce_block<T, kThreads>(own);
  write_result<T, kThreads>(stretch, all, t, cache, args.cached);
}

// A block's chunk of a row.
template <class T, template <class> class Stretch>
__device__ __forceinline__ Stretch<T> chunk_of(const T* in, T* out, const RowsArgs& args,
                                               const typename Stretch<T>::Strides& strides, uint32_t* row) {
  uint32_t split;
  *row = args.splits.divide(blockIdx.x, &split);
  const int64_t begin = static_cast<int64_t>(split) * args.chunk;
  const int64_t left = args.n - begin;
  int64_t offset[2];
  args.rows.locate(*row, offset);
  if constexpr (std::is_same_v<Stretch<T>, Strided<T>>) {
    offset[0] += begin * strides.out;
    offset[1] += begin * strides.in;
  } else {
    offset[0] += begin;
    offset[1] += begin;
  }
  return Stretch<T>(in + offset[1], out + offset[0], static_cast<int>(left < args.chunk ? left : args.chunk), strides);
}

template <class T, template <class> class Stretch>
__global__ void __launch_bounds__(kSplitThreads)
    softmax_split_stats(const T* in, Stats<Value<T>>* partials, RowsArgs args, typename Stretch<T>::Strides strides) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t row;
  const Stretch<T> stretch = chunk_of<T, Stretch>(in, nullptr, args, strides, &row);
  const Stats<Value<T>> all = reduce_block<T, kSplitThreads>(read_stats<T, kSplitThreads>(stretch, t, nullptr, 0));
  if (t == 0) partials[blockIdx.x] = all;
}

template <class T, template <class> class Stretch>
__global__ void __launch_bounds__(kSplitThreads)
    softmax_split_write(const T* in, T* out, const Stats<Value<T>>* partials, RowsArgs args, typename Stretch<T>::Strides strides) {
  const int t = static_cast<int>(threadIdx.x);
  uint32_t row;
  const Stretch<T> stretch = chunk_of<T, Stretch>(in, out, args, strides, &row);
  const int splits = static_cast<int>(args.splits.divisor());
  Stats<Value<T>> own;
  for (int i = t; i < splits; i += kSplitThreads) own = combine<T>(own, partials[static_cast<int64_t>(row) * splits + i]);
  write_result<T, kSplitThreads>(stretch, reduce_block<T, kSplitThreads>(own), t, nullptr, 0);
}

}  // namespace OPRT_SIMT
}  // namespace oprt::softmax
