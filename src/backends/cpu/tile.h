// Transposed operands: an input whose neighbours in memory lie along another dim than out's. Square tiles go through a buffer in
// the first-level cache, so that each cache line of either side is used whole.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "backends/cpu/walk.h"
#include "core/divide_up.h"

namespace oprt::cpu {

// Elements of a tile's buffer: 8 KB at most, 4096 elements at most.
template <class T>
constexpr int64_t kTileElements = sizeof(T) <= 2 ? 4096 : 8192 / static_cast<int64_t>(sizeof(T));
template <class T>
constexpr int64_t kTileSide = sizeof(T) <= 2   ? 64
                              : sizeof(T) <= 4 ? 44
                              : sizeof(T) <= 8 ? 32
                                               : 20;

// The dim along which operand k runs fastest, or -1 where the last dim serves it well: no step, or within a cache line.
template <int N>
int transposed_dim(const Space<N>& space, int k, size_t element_size) {
  constexpr int64_t kLineBytes = 64;
  constexpr int64_t kWorthIt = 4;
  const int last = space.ndim - 1;
  if (last < 1) return -1;
  const int64_t stride = std::abs(space.strides[k][last]);
  if (stride * static_cast<int64_t>(element_size) < kLineBytes || space.shape[last] < kWorthIt) return -1;
  int best = -1;
  for (int d = 0; d < last; ++d) {
    const int64_t candidate = std::abs(space.strides[k][d]);
    if (candidate == 0 || candidate >= stride || space.shape[d] < kWorthIt) continue;
    if (best < 0 || candidate < std::abs(space.strides[k][best])) best = d;
  }
  return best;
}

// The space with dim `d` moved next to the last.
template <int N>
Space<N> with_second_last(const Space<N>& space, int d) {
  Space<N> result = space;
  const auto first = [&](auto& values) { return values.begin() + d; };
  const auto rotate = [&](auto& values) { std::rotate(first(values), first(values) + 1, values.begin() + space.ndim - 1); };
  rotate(result.shape);
  for (auto& strides : result.strides) rotate(strides);
  return result;
}

// Tiles of the last two dims.
template <int N>
class Tiling {
 public:
  Tiling(const Space<N>& space, int64_t side, int64_t max_elements) : space_(space) {
    const int last = space.ndim - 1;
    columns_ = std::min(side, space.shape[last]);
    rows_ = std::min(max_elements / columns_, space.shape[last - 1]);
    tiles_across_ = divide_up(space.shape[last], columns_);
    tiles_down_ = divide_up(space.shape[last - 1], rows_);
  }

  int64_t num_tiles() const {
    return space_.size() / space_.shape[space_.ndim - 1] / space_.shape[space_.ndim - 2] * tiles_across_ * tiles_down_;
  }
  int64_t tile_elements() const { return rows_ * columns_; }

  // Calls body(at, rows, n) for tile `index`.
  template <class Body>
  void visit(int64_t index, Body&& body) const {
    const int last = space_.ndim - 1;
    const int64_t column = index % tiles_across_ * columns_;
    const int64_t row = index / tiles_across_ % tiles_down_ * rows_;
    Offsets<N> at = locate(space_, space_.ndim - 2, index / tiles_across_ / tiles_down_);
    for (int k = 0; k < N; ++k) at[k] += row * space_.strides[k][last - 1] + column * space_.strides[k][last];
    body(at, std::min(rows_, space_.shape[last - 1] - row), std::min(columns_, space_.shape[last] - column));
  }

 private:
  Space<N> space_;
  int64_t columns_;
  int64_t rows_;
  int64_t tiles_across_;
  int64_t tiles_down_;
};

// buffer[row][column] of pitch n from a tile whose rows are its fast direction.
template <class T>
void gather_tile(T* buffer, const T* in, int64_t row_stride, int64_t column_stride, int64_t rows, int64_t n) {
  for (int64_t column = 0; column < n; ++column, in += column_stride) {
    for (int64_t row = 0; row < rows; ++row) buffer[row * n + column] = in[row * row_stride];
  }
}

}  // namespace oprt::cpu
