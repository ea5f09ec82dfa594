// Transposition through shared memory. A tile is a rectangle of two dims: `cols`, the dim along which out is contiguous, and
// `rows`, the dim along which an input is. Threads read the input along rows, park it in shared memory, and meet it again along
// cols, so that both sides move pieces of 128 bytes or more.
//
//   input            shared             out
//   col 0 |r r r r   row 0 |c c c c     row 0 |c c c c
//   col 1 |r r r r   row 1 |c c c c     row 1 |c c c c
//          -->                                 -->
#pragma once

#include "simt/strided.cuh"

namespace oprt::simt {
inline namespace OPRT_SIMT {

constexpr int kTileThreads = 256;

// The tiles of a space, one a block.
template <int N>
struct Tiles {
  Dims<N, uint32_t> outer;
  FastDivisor row_tiles;
  FastDivisor col_tiles;
  int tile_rows = 0;
  int tile_cols = 0;
  int64_t num_rows = 0;
  int64_t num_cols = 0;
  int64_t row_stride[N] = {};
  int64_t col_stride[N] = {};
  unsigned num_tiles = 0;
};

// `rows_dim` and the last dim as tiles. num_tiles is 0 where there are more than a grid covers.
template <int N>
Tiles<N> make_tiles(const Space<N>& space, int rows_dim, int tile_rows, int tile_cols) {
  const auto last = static_cast<size_t>(space.ndim - 1), rows = static_cast<size_t>(rows_dim);
  Tiles<N> tiles;
  tiles.tile_rows = tile_rows;
  tiles.tile_cols = tile_cols;
  tiles.num_rows = space.shape[rows];
  tiles.num_cols = space.shape[last];
  for (int i = 0; i < N; ++i) {
    tiles.row_stride[i] = space.strides[static_cast<size_t>(i)][rows];
    tiles.col_stride[i] = space.strides[static_cast<size_t>(i)][last];
  }
  const int64_t row_tiles = divide_up(tiles.num_rows, tile_rows);
  const int64_t col_tiles = divide_up(tiles.num_cols, tile_cols);
  const int64_t planes = space.size() / tiles.num_rows / tiles.num_cols;
  if (row_tiles > kMaxIndex32 / col_tiles || planes > kMaxIndex32 / (row_tiles * col_tiles)) return tiles;
  tiles.outer = dims_without<uint32_t>(space, rows_dim, space.ndim - 1);
  tiles.row_tiles = FastDivisor(static_cast<uint32_t>(row_tiles));
  tiles.col_tiles = FastDivisor(static_cast<uint32_t>(col_tiles));
  tiles.num_tiles = static_cast<unsigned>(planes * row_tiles * col_tiles);
  return tiles;
}

// The dim of operand i's smallest stride, the last one among equals; -1 where every stride is 0.
template <int N>
int contiguous_dim(const Space<N>& space, int i) {
  const auto& strides = space.strides[static_cast<size_t>(i)];
  int best = -1;
  int64_t smallest = 0;
  for (int d = space.ndim - 1; d >= 0; --d) {
    const int64_t stride = strides[static_cast<size_t>(d)] < 0 ? -strides[static_cast<size_t>(d)] : strides[static_cast<size_t>(d)];
    if (stride != 0 && (best < 0 || stride < smallest)) {
      best = d;
      smallest = stride;
    }
  }
  return best;
}

// This block's tile: where it starts in each operand, and what of it exists.
template <int N>
struct TilePlace {
  int64_t offset[N];
  int rows;
  int cols;
};

template <int N>
__device__ __forceinline__ TilePlace<N> place_tile(const Tiles<N>& tiles) {
  uint32_t col_tile, row_tile;
  const uint32_t plane = tiles.row_tiles.divide(tiles.col_tiles.divide(blockIdx.x, &col_tile), &row_tile);
  const int64_t row = static_cast<int64_t>(row_tile) * tiles.tile_rows;
  const int64_t col = static_cast<int64_t>(col_tile) * tiles.tile_cols;
  TilePlace<N> place = {};
#pragma unroll
  for (int i = 0; i < N; ++i) place.offset[i] = row * tiles.row_stride[i] + col * tiles.col_stride[i];
  tiles.outer.add_offsets(plane, place.offset);
  const int64_t rows = tiles.num_rows - row, cols = tiles.num_cols - col;
  place.rows = rows < tiles.tile_rows ? static_cast<int>(rows) : tiles.tile_rows;
  place.cols = cols < tiles.tile_cols ? static_cast<int>(cols) : tiles.tile_cols;
  return place;
}

// `size` neighbours in one access.
template <class T, int size>
struct alignas(sizeof(T) * size > 8 ? 8 : sizeof(T) * size) Pack {
  T value[size];
};

// Elements narrower than a bank of shared memory travel in packs of 4 bytes, and a square of pack x pack elements is transposed in
// registers: needs sizes, strides and addresses that are whole packs, and stride 1 along the contiguous dims. Wider elements are
// packs of one, at any strides.
template <class T>
struct PackTile {
  static constexpr int kPack = sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1;
  static constexpr int kSpan = 32;                        // packs along rows
  static constexpr int kWide = sizeof(T) == 4 ? 64 : 32;  // packs along cols
  static constexpr int kRows = kSpan * kPack;
  static constexpr int kCols = kWide * kPack;
  static constexpr int kPitch = kWide + 1;  // odd: a column of packs meets every bank
  static constexpr int kStep = kTileThreads / kSpan;
  static constexpr int kGroups = kWide / kStep;                    // reads of a thread, in units of kPack packs
  static constexpr int kPositions = kRows * kWide / kTileThreads;  // packs that a thread writes
  using Packed = Pack<T, kPack>;
  struct alignas(sizeof(Packed)) Slot {
    Packed pack;
  };
  static constexpr size_t kSharedBytes = sizeof(Slot) * kRows * kPitch;

  static __device__ __forceinline__ void read(Slot* shared, const T* in, int64_t row_stride, int64_t col_stride, int rows,
                                              int cols) {
    const int x = static_cast<int>(threadIdx.x) % kSpan, y = static_cast<int>(threadIdx.x) / kSpan;
    const T* column = in + x * kPack * row_stride + y * kPack * col_stride;
    Packed value[kGroups][kPack];
    if (x * kPack < rows) {
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        if ((y + g * kStep) * kPack < cols) {
#pragma unroll
          for (int k = 0; k < kPack; ++k) {
            value[g][k] = *reinterpret_cast<const Packed*>(column + (g * kStep * kPack + k) * col_stride);
          }
        }
      }
#pragma unroll
      for (int g = 0; g < kGroups; ++g) {
        if ((y + g * kStep) * kPack < cols) {
#pragma unroll
          for (int h = 0; h < kPack; ++h) {
            Packed turned;
#pragma unroll
            for (int k = 0; k < kPack; ++k) turned.value[k] = value[g][k].value[h];
            shared[(h * kSpan + x) * kPitch + y + g * kStep].pack = turned;
          }
        }
      }
    }
  }

  // This thread's position n of kPositions: a pack of out.
  struct Position {
    int slot;
    int row;
    int col;
  };
  static __device__ __forceinline__ Position position(int n) {
    constexpr int kAcross = kWide / kSpan;
    const int x = static_cast<int>(threadIdx.x) % kSpan, y = static_cast<int>(threadIdx.x) / kSpan;
    const int line = n / kAcross * kStep + y, pack = n % kAcross * kSpan + x;
    return {line * kPitch + pack, line % kSpan * kPack + line / kSpan, pack * kPack};
  }
};

// Whether an address is that of a whole pack.
template <class T>
bool is_pack_aligned(const T* address) {
  return reinterpret_cast<uintptr_t>(address) % alignof(typename PackTile<T>::Packed) == 0;
}

// Tiles of packs over `rows_dim` and the last dim; operand i is contiguous along rows where turned[i], else along cols. num_tiles
// is 0 where a side is too short to fill half a tile's lanes, or not of whole packs.
template <class T, int N>
Tiles<N> make_pack_tiles(const Space<N>& space, int rows_dim, const std::array<bool, N>& turned) {
  using Tile = PackTile<T>;
  const auto last = static_cast<size_t>(space.ndim - 1), rows = static_cast<size_t>(rows_dim);
  if (space.shape[rows] < Tile::kRows / 2 || space.shape[last] < Tile::kSpan * Tile::kPack / 2) return {};
  if (Tile::kPack > 1) {
    if (space.shape[rows] % Tile::kPack != 0 || space.shape[last] % Tile::kPack != 0) return {};
    for (size_t i = 0; i < N; ++i) {
      const size_t contiguous = turned[i] ? rows : last;
      if (space.strides[i][contiguous] != 1) return {};
      for (size_t d = 0; d < static_cast<size_t>(space.ndim); ++d) {
        if (d != contiguous && space.strides[i][d] % Tile::kPack != 0) return {};
      }
    }
  }
  return make_tiles(space, rows_dim, Tile::kRows, Tile::kCols);
}

// Tiles of any size, element by element: for a side shorter than PackTile's, and for narrow elements that are not whole packs.
struct FreeTile {
  FastDivisor rows;
  FastDivisor cols;
  int pitch = 0;
  int size = 0;

  static constexpr int kBatch = 4;  // reads of a thread before the first is used

  template <class T>
  __device__ __forceinline__ void read(T* shared, const T* in, int64_t row_stride, int64_t col_stride, int num_rows,
                                       int num_cols) const {
    for (int start = static_cast<int>(threadIdx.x); start < size; start += kBatch * kTileThreads) {
      T value[kBatch];
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        uint32_t row;
        const uint32_t col = rows.divide(static_cast<uint32_t>(start + b * kTileThreads), &row);
        if (static_cast<int>(row) < num_rows && static_cast<int>(col) < num_cols)
          value[b] = in[row * row_stride + col * col_stride];
      }
#pragma unroll
      for (int b = 0; b < kBatch; ++b) {
        uint32_t row;
        const uint32_t col = rows.divide(static_cast<uint32_t>(start + b * kTileThreads), &row);
        if (static_cast<int>(row) < num_rows && static_cast<int>(col) < num_cols) {
          shared[static_cast<int>(row) * pitch + static_cast<int>(col)] = value[b];
        }
      }
    }
  }
};

// A tile of about 16 KB for a plane of that size. Its pitch is an odd number of banks where elements are narrower, else of
// elements.
inline FreeTile make_free_tile(int64_t num_rows, int64_t num_cols, int element_size) {
  const int64_t side = element_size <= 4 ? 64 : 32;
  const int64_t capacity = element_size <= 4 ? 4096 : 16384 / element_size;
  const auto fit = [](int64_t have, int64_t most) { return have < most ? have : most; };
  int64_t rows = fit(num_rows, side), cols = fit(num_cols, side);
  if (rows < side) {
    cols = fit(num_cols, capacity / rows / side * side);
  } else if (cols < side) {
    rows = fit(num_rows, capacity / cols / side * side);
  }
  FreeTile tile;
  tile.rows = FastDivisor(static_cast<uint32_t>(rows));
  tile.cols = FastDivisor(static_cast<uint32_t>(cols));
  tile.size = static_cast<int>(rows * cols);
  const int bank = element_size < 4 ? 4 / element_size : 1;
  tile.pitch = ((static_cast<int>(cols) + bank - 1) / bank | 1) * bank;
  return tile;
}

template <class T>
size_t shared_bytes(const FreeTile& tile) {
  return sizeof(T) * static_cast<size_t>(tile.pitch) * tile.rows.divisor();
}

}  // namespace OPRT_SIMT
}  // namespace oprt::simt
