// Sums in the dialect. Every sum is a tree of short chains: a thread folds the 4 loads that it has in flight as a tree, adds that
// to its accumulator at most 64 times, and lanes, warps and blocks combine in a fixed order.
//   rows     the reduced dim is contiguous: a group of lanes, or a block, walks a row in 16-byte vectors; the ends of a row that
//            fill no vector are read element by element, so a row may start anywhere
//   packed   short rows without gaps: a tile of rows comes in vectors to shared memory, where few lanes take a row each
//   columns  a kept dim is contiguous: a thread holds a vector of columns, threads of a block share the reduced dim
//   strided  anything else, element by element
#pragma once

#include "ops/reduce_sum/elements.cuh"

namespace oprt::reduce_sum {
inline namespace OPRT_SIMT {

using simt::FastDivisor;

constexpr int kGroupBlockThreads = 128;  // block size where a row takes a warp or less
constexpr int kTileThreads = 256;        // block size of packed rows and of columns
constexpr int kPackedBytes = 16384;      // a tile of packed rows

struct RowsArgs {
  Walk<2> rows;  // operand 0 out, operand 1 in
  int64_t num_rows;
  int64_t n;           // elements of a row
  int chunk;           // elements that one group or block sums
  FastDivisor splits;  // chunks of a row; with several, out holds a partial sum for each, rows by splits
  int lanes;           // threads of a row within a warp: a power of two
  Store store;
};

// `lanes` threads a row.
template <class T, class Reduced>
__global__ void __launch_bounds__(kGroupBlockThreads) sum_rows_group(const T* in, void* out, RowsArgs args, Reduced reduced) {
  const int lane = static_cast<int>(threadIdx.x) & (args.lanes - 1);
  const int groups = kGroupBlockThreads / args.lanes;
  const int64_t row = static_cast<int64_t>(blockIdx.x) * groups + static_cast<int>(threadIdx.x) / args.lanes;
  int64_t offset[2] = {0, 0};
  Acc<T> sum = 0;
  if (row < args.num_rows) {
    args.rows.locate(row, offset);
    sum = sum_share(in + offset[1], 0, static_cast<int>(args.n), lane, args.lanes, reduced);
  }
  sum = sum_group(sum, args.lanes);
  if (row < args.num_rows && lane == 0) store_sum(out, offset[0], sum, args.store);
}

// A block a chunk of a row; kPerSm blocks share a multiprocessor's registers.
template <class T, int kThreads, int kPerSm, class Reduced>
__global__ void __launch_bounds__(kThreads, kPerSm) sum_rows_block(const T* in, void* out, RowsArgs args, Reduced reduced) {
  uint32_t split;
  const uint32_t row = args.splits.divide(blockIdx.x, &split);
  const int64_t begin = static_cast<int64_t>(split) * args.chunk;
  const int64_t left = args.n - begin;
  int64_t offset[2];
  args.rows.locate(row, offset);
  const int n = static_cast<int>(left < args.chunk ? left : args.chunk);
  Acc<T> sum = sum_share(in + offset[1], begin, n, static_cast<int>(threadIdx.x), kThreads, reduced);
  sum = simt::block_reduce<kThreads>(sum, Acc<T>{0}, simt::Sum{});
  if (threadIdx.x == 0) store_sum(out, args.splits.divisor() > 1 ? blockIdx.x : offset[0], sum, args.store);
}

// Rows of at most `lanes` vectors; a group of lanes has kUnroll rows in flight.
template <class T>
__global__ void __launch_bounds__(kGroupBlockThreads) sum_rows_short(const T* in, void* out, RowsArgs args) {
  constexpr int kSize = Vector<T>::kSize;
  const int n = static_cast<int>(args.n);
  const int lane = static_cast<int>(threadIdx.x) & (args.lanes - 1);
  const int groups = kGroupBlockThreads / args.lanes;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * groups * kUnroll + static_cast<int>(threadIdx.x) / args.lanes;
  const T* row[kUnroll];
  int64_t out_offset[kUnroll];
  Vector<T> x[kUnroll] = {};
#pragma unroll
  for (int k = 0; k < kUnroll; ++k) {
    int64_t offset[2] = {0, 0};
    if (first + k * groups < args.num_rows) args.rows.locate(first + k * groups, offset);
    out_offset[k] = offset[0];
    row[k] = in + offset[1];
    const int head = elements_to_vector(row[k], n);
    if (first + k * groups < args.num_rows && lane < (n - head) / kSize) {
      x[k] = simt::load_vector<Cache::kStream>(row[k] + head + lane * kSize);
    }
  }
#pragma unroll
  for (int k = 0; k < kUnroll; ++k) {
    Part<T> part = Part<T>{0} + tree(x[k]);
    const bool is_row = first + k * groups < args.num_rows;
    if (is_row) {
      const int head = elements_to_vector(row[k], n);
      for (int i = lane; i < head; i += args.lanes) part += Element<T>::part(row[k][i]);
      for (int i = n - (n - head) % kSize + lane; i < n; i += args.lanes) part += Element<T>::part(row[k][i]);
    }
    const Acc<T> sum = sum_group(widen<T>(part), args.lanes);
    if (is_row && lane == 0) store_sum(out, out_offset[k], sum, args.store);
  }
}

// Short rows one after the other in memory: `chunk` rows a block, through shared memory.
template <class T>
__global__ void __launch_bounds__(kTileThreads) sum_rows_packed(const T* in, void* out, RowsArgs args) {
  __shared__ Vector<T> tile[kPackedBytes / simt::kVectorBytes + 1];
  constexpr int kSize = Vector<T>::kSize;
  const int t = static_cast<int>(threadIdx.x);
  const int row_size = static_cast<int>(args.n);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * args.chunk;
  const int64_t left = args.num_rows - first;
  const int num_rows = static_cast<int>(left < args.chunk ? left : args.chunk);
  const int n = num_rows * row_size;
  int64_t offset[2];
  args.rows.locate(first, offset);
  const T* source = in + offset[1];
  const int head = elements_to_vector(source, n);
  const int vectors = (n - head) / kSize;
  // Element i of the tile stands at element[i]: vector boundaries are the same as in memory.
  Vector<T>* body = tile + (head > 0 ? 1 : 0);
  T* element = reinterpret_cast<T*>(body) - head;
  for (int v = t; v < vectors; v += kUnroll * kTileThreads) {
    Vector<T> x[kUnroll];
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      if (v + k * kTileThreads < vectors) x[k] = simt::load_vector<Cache::kStream>(source + head + (v + k * kTileThreads) * kSize);
    }
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      if (v + k * kTileThreads < vectors) body[v + k * kTileThreads] = x[k];
    }
  }
  if (t < head) element[t] = source[t];
  if (t < n - head - vectors * kSize) element[head + vectors * kSize + t] = source[head + vectors * kSize + t];
  simt::sync_block();

  const int lane = t & (args.lanes - 1);
  const int groups = kTileThreads / args.lanes;
  for (int base = 0; base < num_rows; base += groups) {
    const int row = base + t / args.lanes;
    Part<T> part = 0;
    if (row < num_rows) {
      for (int i = lane; i < row_size; i += args.lanes) part += Element<T>::part(element[row * row_size + i]);
    }
    const Acc<T> sum = sum_group(widen<T>(part), args.lanes);
    if (row < num_rows && lane == 0) {
      args.rows.locate(first + row, offset);
      store_sum(out, offset[0], sum, args.store);
    }
  }
}

// One or two reduced dims; two have fewer than 2^31 points.
struct ReducedDims {
  int64_t start;
  int64_t stride;
  int64_t outer_stride;
  FastDivisor size;  // of the inner dim, where there are two
  bool is_pair;

  // Point begin + i is origin(begin) + offset(begin, i) elements from element 0.
  __device__ __forceinline__ int64_t origin(int64_t begin) const { return is_pair ? start : start + begin * stride; }
  __device__ __forceinline__ int64_t offset(int64_t begin, int i) const {
    if (!is_pair) return i * stride;
    uint32_t inner;
    const int64_t outer = size.divide(static_cast<uint32_t>(begin) + static_cast<uint32_t>(i), &inner);
    return outer * outer_stride + inner * stride;
  }
};

struct ColumnsArgs {
  Walk<2> outer;  // the other kept dims: operand 0 out, operand 1 in
  ReducedDims reduced;
  int64_t num_outer;
  int64_t columns;     // contiguous in `in`
  int64_t out_stride;  // between columns
  int64_t n;           // reduced points
  int chunk;           // reduced points of a block
  FastDivisor tiles;   // of `lanes` vectors of columns
  FastDivisor splits;  // chunks; with several, out holds partial sums, splits by outer by columns
  int lanes;           // powers of two: threads across columns,
  int depth;           // and along the reduced dim; the rest of a block takes other outer points
  Store store;
};

template <class T>
struct Column {
  T value[1];
};
template <class T, int V>
using Columns = std::conditional_t<V == 1, Column<T>, Vector<T>>;

// Of V columns a thread: loads in flight, and blocks that share a multiprocessor's registers.
// H200 bf16 (64,4096,1024): 3.49 vs 3.28 TB/s with 4 loads, 2.07 with 8; f32 2048x65536: 3.89 TB/s, 3.85 with 4 (2026-12).
template <int V>
constexpr int kColumnLoads = V == 8             ? 2
                             : V == 1 || V == 4 ? 2 * kUnroll
                                                : kUnroll;
template <class T, int V>
constexpr int kColumnBlocksPerSm = V == 8   ? (sizeof(Acc<T>) > 4 ? 5 : 6)
                                   : V == 4 ? 4
                                            : 2;

// V columns a thread: a vector's worth where the layout is aligned, else 1.
template <class T, int V>
__global__ void __launch_bounds__(kTileThreads, kColumnBlocksPerSm<T, V>) sum_columns(const T* in, void* out, ColumnsArgs args) {
  constexpr int kLoads = kColumnLoads<V>;
  __shared__ Acc<T> shared[V * kTileThreads];
  const int t = static_cast<int>(threadIdx.x);
  const int lane = t & (args.lanes - 1);
  const int level = (t / args.lanes) & (args.depth - 1);
  const int per_outer = args.lanes * args.depth;
  uint32_t tile, split;
  const uint32_t outer_block = args.splits.divide(args.tiles.divide(blockIdx.x, &tile), &split);
  const int64_t outer = static_cast<int64_t>(outer_block) * (kTileThreads / per_outer) + t / per_outer;
  const int64_t column = (static_cast<int64_t>(tile) * args.lanes + lane) * V;
  const bool is_inside = outer < args.num_outer && column < args.columns;
  Part<T> part[V] = {};
  if (is_inside) {
    int64_t offset[2];
    args.outer.locate(outer, offset);
    const int64_t begin = static_cast<int64_t>(split) * args.chunk;
    const int64_t left = args.n - begin;
    const int n = static_cast<int>(left < args.chunk ? left : args.chunk);
    const T* first = in + offset[1] + column + args.reduced.origin(begin);
    for (int i = level; i < n; i += kLoads * args.depth) {
      Columns<T, V> x[kLoads] = {};
#pragma unroll
      for (int k = 0; k < kLoads; ++k) {
        if (i + k * args.depth < n) {
          const T* source = first + args.reduced.offset(begin, i + k * args.depth);
          if constexpr (V == 1) {
            x[k].value[0] = *source;
          } else {
            x[k] = simt::load_vector<Cache::kStream>(source);
          }
        }
      }
#pragma unroll
      for (int j = 0; j < V; ++j) {
        T values[kLoads];
#pragma unroll
        for (int k = 0; k < kLoads; ++k) values[k] = x[k].value[j];
        part[j] += tree<T, kLoads>(values);
      }
    }
  }
  Acc<T> acc[V];
#pragma unroll
  for (int j = 0; j < V; ++j) acc[j] = widen<T>(part[j]);
  if (args.depth > 1) {
#pragma unroll
    for (int j = 0; j < V; ++j) shared[j * kTileThreads + t] = acc[j];
    for (int half = args.depth / 2; half > 0; half /= 2) {
      simt::sync_block();
      if (level < half) {
#pragma unroll
        for (int j = 0; j < V; ++j) {
          acc[j] += shared[j * kTileThreads + t + half * args.lanes];
          shared[j * kTileThreads + t] = acc[j];
        }
      }
    }
  }
  if (!is_inside || level != 0) return;
  const bool is_partial = args.splits.divisor() > 1;
  int64_t offset[2];  // again, rather than in registers all the while
  args.outer.locate(outer, offset);
  const int64_t base = is_partial ? (static_cast<int64_t>(split) * args.num_outer + outer) * args.columns : offset[0];
  const int64_t stride = is_partial ? 1 : args.out_stride;
#pragma unroll
  for (int j = 0; j < V; ++j) store_sum(out, base + (column + j) * stride, acc[j], args.store);
}

}  // namespace OPRT_SIMT
}  // namespace oprt::reduce_sum
