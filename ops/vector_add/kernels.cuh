// The kernels of vector_add. Each thread reads the elements of a and b that it adds before it writes their sum, so out may be a or
// b.
//   contiguous   a 16-byte piece of one run a thread, aligned on the side of out
//   rows         a 16-byte piece of one row a thread; a broadcast operand repeats from a register or the cache, one that is no
//                contiguous row is gathered
//   packs, free  a tile a block: b, and a where it is like b, are turned in shared memory (simt/tiles.cuh)
//   strided      kStridedItems elements a thread, neighbours in neighbouring threads
#pragma once

#include "simt/pieces.cuh"
#include "simt/tiles.cuh"

namespace oprt::vector_add {
inline namespace OPRT_SIMT {

using simt::Cache;
using simt::kTileThreads;

constexpr int kRowsThreads = 256;
constexpr int kStridedThreads = 256;
template <class T>
constexpr int kStridedItems = sizeof(T) <= 8 ? 4 : 2;

// Integers are unsigned here: they wrap.
template <class T>
__device__ __forceinline__ T add(T a, T b) {
  return static_cast<T>(a + b);
}
__device__ __forceinline__ Float16 add(Float16 a, Float16 b) {
  return simt::from_float<Float16>(simt::to_float(a) + simt::to_float(b));
}
__device__ __forceinline__ BFloat16 add(BFloat16 a, BFloat16 b) {
  return simt::from_float<BFloat16>(simt::to_float(a) + simt::to_float(b));
}
template <class T>
__device__ __forceinline__ Complex<T> add(Complex<T> a, Complex<T> b) {
  return {add(a.re, b.re), add(a.im, b.im)};
}

// Of Vector or Pack.
template <class Some>
__device__ __forceinline__ Some add_each(const Some& a, const Some& b) {
  Some sum;
#pragma unroll
  for (int k = 0; k < static_cast<int>(sizeof a.value / sizeof a.value[0]); ++k) sum.value[k] = add(a.value[k], b.value[k]);
  return sum;
}

// `head` and the shifts are those of Split, but counted in elements of out where they say so.
template <class T, int threads, int vectors_each, bool shifted>
__global__ void __launch_bounds__(threads) add_contiguous(T* out, const T* a, const T* b, int64_t head_elements, int64_t vectors,
                                                          int edge_elements, int a_shift, int b_shift) {
  using Piece = simt::Vector<T>;
  const auto aligned = [head_elements](const T* in, int shift) {
    return reinterpret_cast<const uint4*>(reinterpret_cast<const char*>(in + head_elements) - shift);
  };
  const uint4* a_source = aligned(a, a_shift);
  const uint4* b_source = aligned(b, b_shift);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * (threads * vectors_each) + threadIdx.x;
  uint4 a_value[vectors_each], b_value[vectors_each];
#pragma unroll
  for (int v = 0; v < vectors_each; ++v) {
    const int64_t i = first + v * threads;
    if (i < vectors) {
      if constexpr (shifted) {
        a_value[v] = simt::load_shifted(a_source + i, a_shift);
        b_value[v] = simt::load_shifted(b_source + i, b_shift);
      } else {
        a_value[v] = simt::load16<Cache::kNormal>(a_source + i);
        b_value[v] = simt::load16<Cache::kNormal>(b_source + i);
      }
    }
  }
#pragma unroll
  for (int v = 0; v < vectors_each; ++v) {
    const int64_t i = first + v * threads;
    if (i < vectors) {
      const Piece sum = add_each(simt::bits_as<Piece>(a_value[v]), simt::bits_as<Piece>(b_value[v]));
      simt::store_vector(out + head_elements + i * Piece::kSize, sum);
    }
  }
  if (blockIdx.x == 0 && static_cast<int>(threadIdx.x) < edge_elements) {
    const int64_t edge = threadIdx.x;
    const int64_t i = edge < head_elements ? edge : edge + vectors * Piece::kSize;
    out[i] = add(a[i], b[i]);
  }
}

template <class T, class Index>
__global__ void __launch_bounds__(kRowsThreads) add_rows(T* out, const T* a, const T* b, simt::Rows<3, Index> rows) {
  constexpr int kSize = simt::kPieceSize<T>;
  const Index index = simt::thread_index<Index, kRowsThreads>();
  if (index >= rows.num_pieces) return;
  Index piece;
  const Index row = rows.pieces.divide(index, &piece);
  int64_t offset[3] = {0, 0, 0};
  rows.outer.add_offsets(row, offset);
  T* out_row = out + offset[0];
  const T* a_row = a + offset[1];
  const T* b_row = b + offset[2];
  const int64_t first = static_cast<int64_t>(piece) * kSize - simt::elements_past_vector(out_row);
  if (first >= 0 && first + kSize <= rows.size) {
    const auto a_piece = simt::load_piece(a_row, rows.size, first, rows.stride[1]);
    const auto b_piece = simt::load_piece(b_row, rows.size, first, rows.stride[2]);
    simt::store_piece(out_row + first, add_each(a_piece, b_piece));
  } else {
#pragma unroll
    for (int k = 0; k < kSize; ++k) {
      const int64_t i = first + k;
      if (i >= 0 && i < rows.size) out_row[i] = add(a_row[i * rows.stride[1]], b_row[i * rows.stride[2]]);
    }
  }
}

// `turn_a`: a is contiguous along the tiles' rows, as b is; it has a tile of its own.
template <class T>
__global__ void __launch_bounds__(kTileThreads) add_packs(T* out, const T* a, const T* b, simt::Tiles<3> tiles, bool turn_a) {
  using Tile = simt::PackTile<T>;
  using Packed = typename Tile::Packed;
  OPRT_DYNAMIC_SHARED(typename Tile::Slot, b_tile);
  auto* a_tile = b_tile + Tile::kRows * Tile::kPitch;
  const auto place = simt::place_tile(tiles);
  Tile::read(b_tile, b + place.offset[2], tiles.row_stride[2], tiles.col_stride[2], place.rows, place.cols);
  if (turn_a) Tile::read(a_tile, a + place.offset[1], tiles.row_stride[1], tiles.col_stride[1], place.rows, place.cols);
  const auto is_inside = [&](const typename Tile::Position& at) { return at.row < place.rows && at.col < place.cols; };
  const T* a_corner = a + place.offset[1];
  Packed a_value[Tile::kPositions];
  if (!turn_a) {
#pragma unroll
    for (int n = 0; n < Tile::kPositions; ++n) {
      const auto at = Tile::position(n);
      if (is_inside(at)) {
        a_value[n] = *reinterpret_cast<const Packed*>(a_corner + at.row * tiles.row_stride[1] + at.col * tiles.col_stride[1]);
      }
    }
  }
  simt::sync_block();
  T* corner = out + place.offset[0];
#pragma unroll
  for (int n = 0; n < Tile::kPositions; ++n) {
    const auto at = Tile::position(n);
    if (is_inside(at)) {
      const Packed a_pack = turn_a ? a_tile[at.slot].pack : a_value[n];
      *reinterpret_cast<Packed*>(corner + at.row * tiles.row_stride[0] + at.col * tiles.col_stride[0]) =
          add_each(a_pack, b_tile[at.slot].pack);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kTileThreads)
    add_free(T* out, const T* a, const T* b, simt::Tiles<3> tiles, simt::FreeTile shape, bool turn_a) {
  OPRT_DYNAMIC_SHARED(T, b_tile);
  T* a_tile = b_tile + shape.pitch * static_cast<int>(shape.rows.divisor());
  const auto place = simt::place_tile(tiles);
  shape.read(b_tile, b + place.offset[2], tiles.row_stride[2], tiles.col_stride[2], place.rows, place.cols);
  if (turn_a) shape.read(a_tile, a + place.offset[1], tiles.row_stride[1], tiles.col_stride[1], place.rows, place.cols);
  simt::sync_block();
  const T* a_corner = a + place.offset[1];
  T* corner = out + place.offset[0];
  for (int n = static_cast<int>(threadIdx.x); n < shape.size; n += kTileThreads) {
    uint32_t col;
    const auto row = static_cast<int>(shape.cols.divide(static_cast<uint32_t>(n), &col));
    if (row < place.rows && static_cast<int>(col) < place.cols) {
      const int slot = row * shape.pitch + static_cast<int>(col);
      const T a_value = turn_a ? a_tile[slot] : a_corner[row * tiles.row_stride[1] + col * tiles.col_stride[1]];
      corner[row * tiles.row_stride[0] + col * tiles.col_stride[0]] = add(a_value, b_tile[slot]);
    }
  }
}

template <class T, class Index>
__global__ void __launch_bounds__(kStridedThreads)
    add_strided(T* out, const T* a, const T* b, simt::Dims<3, Index> dims, Index size) {
  constexpr int kItems = kStridedItems<T>;
  const Index first = static_cast<Index>(blockIdx.x) * (kStridedThreads * kItems) + threadIdx.x;
  T a_value[kItems], b_value[kItems];
  int64_t target[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (first + k * kStridedThreads < size) {
      int64_t offset[3] = {0, 0, 0};
      dims.add_offsets(first + k * kStridedThreads, offset);
      target[k] = offset[0];
      a_value[k] = a[offset[1]];
      b_value[k] = b[offset[2]];
    }
  }
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (first + k * kStridedThreads < size) out[target[k]] = add(a_value[k], b_value[k]);
  }
}

}  // namespace OPRT_SIMT
}  // namespace oprt::vector_add
