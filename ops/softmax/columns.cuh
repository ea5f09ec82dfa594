// Softmax along a dim beside which another is contiguous, in the dialect. A block takes a tile: `lanes` vectors of columns wide,
// the dim shared by `depth` levels of threads. A thread reads its vectors with running (max, sum) for each column, levels combine
// through shared memory, and what a thread has read it writes; its first vectors stay in shared memory, the others are read again.
// Where tiles are few, blocks write the pairs of a part of the dim to the workspace and a second launch combines them and writes.
#pragma once

#include "ops/softmax/stats.cuh"

namespace oprt::softmax {
inline namespace OPRT_SIMT {

constexpr int kTileThreads = 256;

struct ColumnsArgs {
  Walk<2> outer;  // the other dims: operand 0 out, operand 1 in
  int64_t num_outer;
  int64_t columns;    // contiguous in both
  int64_t n;          // points of the dim
  int64_t in_stride;  // between them
  int64_t out_stride;
  int chunk;           // points of a block
  FastDivisor tiles;   // of `lanes` packets of columns
  FastDivisor splits;  // chunks
  int lanes;           // powers of two: threads across columns,
  int depth;           // and along the dim; the rest of a block takes other outer points
  int cached;          // packets of a thread that stay in dynamic shared memory
};

enum class Pass { kWhole, kStats, kWrite };

template <class T, int V>
struct Packet;
template <class T>
struct Packet<T, 1> {
  T value[1];
  static __device__ __forceinline__ Packet load(const T* from) { return {{*from}}; }
  __device__ __forceinline__ void store(T* to) const { *to = value[0]; }
};
template <class T, int V>
struct Packet : Vector<T> {
  static __device__ __forceinline__ Packet load(const T* from) { return {simt::load_vector(from)}; }
  __device__ __forceinline__ void store(T* to) const { simt::store_vector(to, *this); }
};

// Where a thread stands.
struct Place {
  int t, lane, level;
  uint32_t split;
  int64_t outer;
  int64_t column;
  bool is_inside;

  __device__ __forceinline__ Place(const ColumnsArgs& args, int packet_size) {
    t = static_cast<int>(threadIdx.x);
    lane = t & (args.lanes - 1);
    level = (t / args.lanes) & (args.depth - 1);
    const int per_outer = args.lanes * args.depth;
    uint32_t tile;
    const uint32_t outer_block = args.splits.divide(args.tiles.divide(blockIdx.x, &tile), &split);
    outer = static_cast<int64_t>(outer_block) * (kTileThreads / per_outer) + t / per_outer;
    column = (static_cast<int64_t>(tile) * args.lanes + lane) * packet_size;
    is_inside = outer < args.num_outer && column < args.columns;
  }
  // Of this column's pair from chunk `split`: splits by outer by columns.
  __device__ __forceinline__ int64_t partial(const ColumnsArgs& args, int64_t of_split) const {
    return (of_split * args.num_outer + outer) * args.columns + column;
  }
};

// Combines the levels' stats of each column; the results are in every level. Ends with shared memory in use.
template <class T, int V>
__device__ __forceinline__ void combine_levels(const ColumnsArgs& args, const Place& place, Stats<Value<T>> (&stats)[V]) {
  if (args.depth == 1) return;
  __shared__ Value<T> max[V * kTileThreads];
  __shared__ Value<T> sum[V * kTileThreads];
#pragma unroll
  for (int j = 0; j < V; ++j) {
    max[j * kTileThreads + place.t] = stats[j].max;
    sum[j * kTileThreads + place.t] = stats[j].sum;
  }
  for (int half = args.depth / 2; half > 0; half /= 2) {
    simt::sync_block();
    if (place.level < half) {
#pragma unroll
      for (int j = 0; j < V; ++j) {
        const int other = j * kTileThreads + place.t + half * args.lanes;
        stats[j] = combine<T>(stats[j], {max[other], sum[other]});
        max[j * kTileThreads + place.t] = stats[j].max;
        sum[j * kTileThreads + place.t] = stats[j].sum;
      }
    }
  }
  simt::sync_block();
  const int top = place.t - place.level * args.lanes;
#pragma unroll
  for (int j = 0; j < V; ++j) stats[j] = {max[j * kTileThreads + top], sum[j * kTileThreads + top]};
}

// Packets that a thread has in flight.
template <class T, int V>
constexpr int kColumnBatch = sizeof(T) > 4 ? 1
                             : V > 4       ? 2
                                           : 4;

// kStats writes partials, kWrite combines them; neither keeps anything in shared memory between its passes.
template <class T, int V, Pass pass>
__global__ void __launch_bounds__(kTileThreads) softmax_columns(const T* in, T* out, Stats<Value<T>>* partials, ColumnsArgs args) {
  using Columns = Packet<T, V>;
  OPRT_DYNAMIC_SHARED(Columns, cache);
  constexpr int kCount = kColumnBatch<T, V>;
  const Place place(args, V);
  int64_t offset[2] = {0, 0};
  if (place.is_inside) args.outer.locate(place.outer, offset);
  const int64_t begin = static_cast<int64_t>(place.split) * args.chunk;
  const int64_t left = args.n - begin;
  const int n = !place.is_inside ? 0 : static_cast<int>(left < args.chunk ? left : args.chunk);
  const T* source = in + offset[1] + place.column + begin * args.in_stride;

  Stats<Value<T>> stats[V];
  if constexpr (pass == Pass::kWrite) {
    if (place.is_inside) {
      for (int64_t s = place.level; s < args.splits.divisor(); s += args.depth) {
#pragma unroll
        for (int j = 0; j < V; ++j) stats[j] = combine<T>(stats[j], partials[place.partial(args, s) + j]);
      }
    }
  } else {
    for (int k = 0; k * args.depth + place.level < n; k += kCount) {
      Columns packet[kCount];
#pragma unroll
      for (int b = 0; b < kCount; ++b) {
        const int64_t i = (k + b) * args.depth + place.level;
        if (i < n) packet[b] = Columns::load(source + i * args.in_stride);
      }
      if constexpr (pass == Pass::kWhole) {
#pragma unroll
        for (int b = 0; b < kCount; ++b) {
          if (k + b < args.cached) cache[(k + b) * kTileThreads + place.t] = packet[b];
        }
      }
#pragma unroll
      for (int j = 0; j < V; ++j) {
        Value<T> values[kCount];
#pragma unroll
        for (int b = 0; b < kCount; ++b) {
          values[b] = (k + b) * args.depth + place.level < n ? to_value(packet[b].value[j]) : kNothing<Value<T>>;
        }
        take<T, kCount>(stats[j], values);
      }
    }
  }
  combine_levels<T, V>(args, place, stats);

  if constexpr (pass == Pass::kStats) {
    if (!place.is_inside || place.level != 0) return;
#pragma unroll
    for (int j = 0; j < V; ++j) partials[place.partial(args, place.split) + j] = stats[j];
  } else {
    T* target = out + offset[0] + place.column + begin * args.out_stride;
    Value<T> shift[V], factor[V];
#pragma unroll
    for (int j = 0; j < V; ++j) {
      shift[j] = stats[j].shift();
      factor[j] = Value<T>{1} / stats[j].sum;
    }
    for (int k = 0; k * args.depth + place.level < n; k += kCount) {
      Columns packet[kCount];
#pragma unroll
      for (int b = 0; b < kCount; ++b) {
        const int64_t i = (k + b) * args.depth + place.level;
        if (i < n) {
          const bool is_cached = pass == Pass::kWhole && k + b < args.cached;
          packet[b] = is_cached ? cache[(k + b) * kTileThreads + place.t] : Columns::load(source + i * args.in_stride);
        }
      }
#pragma unroll
      for (int b = 0; b < kCount; ++b) {
        const int64_t i = (k + b) * args.depth + place.level;
        if (i < n) {
#pragma unroll
          for (int j = 0; j < V; ++j) {
            packet[b].value[j] = from_value<T>(exp_of<T>(to_value(packet[b].value[j]) - shift[j]) * factor[j]);
          }
          packet[b].store(target + i * args.out_stride);
        }
      }
    }
  }
}

}  // namespace OPRT_SIMT
}  // namespace oprt::softmax
