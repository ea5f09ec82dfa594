// The kernels of copy. Data is moved as words of the element's size; nothing looks at its type.
//   contiguous   a 16-byte piece of one run a thread, aligned on the side of out
//   rows         a 16-byte piece of one row a thread; an input that is no contiguous row is gathered into it
//   packs, free  a tile a block, turned in shared memory (simt/tiles.cuh)
//   strided      kStridedItems elements a thread, neighbours in neighbouring threads
#pragma once

#include "simt/pieces.cuh"
#include "simt/tiles.cuh"

namespace oprt::copy {
inline namespace OPRT_SIMT {

using simt::Cache;
using simt::kTileThreads;

constexpr int kRowsThreads = 256;
constexpr int kStridedThreads = 256;
template <class T>
constexpr int kStridedItems = sizeof(T) <= 8 ? 4 : 2;

// The element of 16 bytes; aligned like the complex128 that it may be.
struct Word128 {
  uint64_t low, high;
};

// `head` and `shift` are those of Split.
template <int threads, int vectors_each, bool shifted>
__global__ void __launch_bounds__(threads)
    copy_contiguous(char* out, const char* in, int64_t head, int64_t vectors, int edge_bytes, int shift) {
  const auto* source = reinterpret_cast<const uint4*>(in + head - shift);
  auto* target = reinterpret_cast<uint4*>(out + head);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * (threads * vectors_each) + threadIdx.x;
  uint4 value[vectors_each];
#pragma unroll
  for (int v = 0; v < vectors_each; ++v) {
    const int64_t i = first + v * threads;
    if (i < vectors) {
      if constexpr (shifted) {
        value[v] = simt::load_shifted(source + i, shift);
      } else {
        value[v] = simt::load16<Cache::kNormal>(source + i);
      }
    }
  }
#pragma unroll
  for (int v = 0; v < vectors_each; ++v) {
    const int64_t i = first + v * threads;
    if (i < vectors) simt::store16<Cache::kNormal>(target + i, value[v]);
  }
  if (blockIdx.x == 0 && static_cast<int>(threadIdx.x) < edge_bytes) {
    const int64_t edge = threadIdx.x;
    const int64_t byte = edge < head ? edge : edge + vectors * simt::kVectorBytes;
    out[byte] = in[byte];
  }
}

template <class T, class Index>
__global__ void __launch_bounds__(kRowsThreads) copy_rows(T* out, const T* in, simt::Rows<2, Index> rows) {
  constexpr int kSize = simt::kPieceSize<T>;
  const Index index = simt::thread_index<Index, kRowsThreads>();
  if (index >= rows.num_pieces) return;
  Index piece;
  const Index row = rows.pieces.divide(index, &piece);
  int64_t offset[2] = {0, 0};
  rows.outer.add_offsets(row, offset);
  T* out_row = out + offset[0];
  const T* in_row = in + offset[1];
  const int64_t first = static_cast<int64_t>(piece) * kSize - simt::elements_past_vector(out_row);
  if (first >= 0 && first + kSize <= rows.size) {
    simt::store_piece(out_row + first, simt::load_piece(in_row, rows.size, first, rows.stride[1]));
  } else {
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      const int64_t i = first + k;
      if (i >= 0 && i < rows.size) out_row[i] = in_row[i * rows.stride[1]];
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kTileThreads) copy_packs(T* out, const T* in, simt::Tiles<2> tiles) {
  using Tile = simt::PackTile<T>;
  __shared__ typename Tile::Slot tile[Tile::kRows * Tile::kPitch];
  const auto place = simt::place_tile(tiles);
  Tile::read(tile, in + place.offset[1], tiles.row_stride[1], tiles.col_stride[1], place.rows, place.cols);
  simt::sync_block();
  T* corner = out + place.offset[0];
#pragma unroll
  for (int n = 0; n < Tile::kPositions; ++n) {
    const auto at = Tile::position(n);
    if (at.row < place.rows && at.col < place.cols) {
      *reinterpret_cast<typename Tile::Packed*>(corner + at.row * tiles.row_stride[0] + at.col * tiles.col_stride[0]) =
          tile[at.slot].pack;
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kTileThreads) copy_free(T* out, const T* in, simt::Tiles<2> tiles, simt::FreeTile shape) {
  OPRT_DYNAMIC_SHARED(T, tile);
  const auto place = simt::place_tile(tiles);
  shape.read(tile, in + place.offset[1], tiles.row_stride[1], tiles.col_stride[1], place.rows, place.cols);
  simt::sync_block();
  T* corner = out + place.offset[0];
  for (int n = static_cast<int>(threadIdx.x); n < shape.size; n += kTileThreads) {
    uint32_t col;
    const auto row = static_cast<int>(shape.cols.divide(static_cast<uint32_t>(n), &col));
    if (row < place.rows && static_cast<int>(col) < place.cols) {
      corner[row * tiles.row_stride[0] + col * tiles.col_stride[0]] = tile[row * shape.pitch + static_cast<int>(col)];
    }
  }
}

template <class T, class Index>
__global__ void __launch_bounds__(kStridedThreads) copy_strided(T* out, const T* in, simt::Dims<2, Index> dims, Index size) {
  constexpr int kItems = kStridedItems<T>;
  const Index first = static_cast<Index>(blockIdx.x) * (kStridedThreads * kItems) + threadIdx.x;
  T value[kItems];
  int64_t target[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (first + k * kStridedThreads < size) {
      int64_t offset[2] = {0, 0};
      dims.add_offsets(first + k * kStridedThreads, offset);
      target[k] = offset[0];
      value[k] = in[offset[1]];
    }
  }
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (first + k * kStridedThreads < size) out[target[k]] = value[k];
  }
}

}  // namespace OPRT_SIMT
}  // namespace oprt::copy
