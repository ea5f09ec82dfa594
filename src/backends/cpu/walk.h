// Walks a range of a canonical space line by line. Ranges count elements in the order of the dims, so a loop over elements is cut
// into pieces of equal work whatever the shape.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "core/layout.h"

namespace oprt::cpu {

// Elements, one per operand.
template <int N>
using Offsets = std::array<int64_t, static_cast<size_t>(N)>;

// Traffic of one piece of a parallel loop; less than this runs on the calling thread. Large enough to hide the hand-over to
// another thread (some microseconds), small enough to balance.
constexpr int64_t kPieceBytes = 128 * 1024;

// The same space with two dims or more. Dims of size 1 that are added step by 1, so that a single element is a contiguous line.
template <int N>
Space<N> at_least_2d(const Space<N>& space) {
  Space<N> result = space;
  const int added = std::max(0, 2 - space.ndim);
  result.ndim = space.ndim + added;
  for (int d = result.ndim - 1; d >= 0; --d) {
    result.shape[d] = d < added ? 1 : space.shape[d - added];
    for (int k = 0; k < N; ++k) result.strides[k][d] = d < added ? 1 : space.strides[k][d - added];
  }
  return result;
}

template <int N>
Offsets<N> strides_of(const Space<N>& space, int dim) {
  Offsets<N> strides;
  for (int k = 0; k < N; ++k) strides[k] = space.strides[k][dim];
  return strides;
}

// The space with the dim last along which operand k runs fastest, among those of some width where there are such.
template <int N>
Space<N> with_fast_dim_last(const Space<N>& space, int k) {
  constexpr int64_t kWide = 8;
  Space<N> result = space;
  const int last = space.ndim - 1;
  const auto stride = [&](int d) { return std::abs(space.strides[k][d]); };
  const auto is_wide = [&](int d) { return space.shape[d] >= kWide && stride(d) != 0; };
  int best = last;
  for (int d = 0; d < last; ++d) {
    if (is_wide(d) && (!is_wide(best) || stride(d) < stride(best))) best = d;
  }
  std::swap(result.shape[best], result.shape[last]);
  for (auto& strides : result.strides) std::swap(strides[best], strides[last]);
  return result;
}

// Where element `index` of the first `ndim` dims lies.
template <int N>
Offsets<N> locate(const Space<N>& space, int ndim, int64_t index) {
  Offsets<N> at = space.offset;
  for (int d = ndim - 1; d >= 0; --d) {
    const int64_t position = index % space.shape[d];
    index /= space.shape[d];
    for (int k = 0; k < N; ++k) at[k] += position * space.strides[k][d];
  }
  return at;
}

// Calls body(at, rows, n) for blocks of the last two dims that together are elements [begin, end). Needs two dims or more. `body`
// stands in one place here and in for_each_line, because it is inlined: walks within walks would multiply the code.
template <int N, class Body>
void for_each_block(const Space<N>& space, int64_t begin, int64_t end, Body&& body) {
  const int last = space.ndim - 1;
  const int64_t n = space.shape[last];
  const int64_t rows = space.shape[last - 1];
  const bool is_one_block = space.ndim == 2 && begin == 0 && end == n * rows;  // saves short walks the divisions
  while (begin < end) {
    Offsets<N> at = space.offset;
    int64_t take_rows = rows;
    int64_t take = n;
    if (!is_one_block) {
      const int64_t column = begin % n;
      const int64_t row = begin / n % rows;
      const bool partial = column != 0 || end - begin < n;
      take_rows = partial ? 1 : std::min(rows - row, (end - begin) / n);
      take = partial ? std::min(n - column, end - begin) : n;
      at = locate(space, space.ndim, begin);
    }
    body(at, take_rows, take);
    begin += take_rows * take;
  }
}

// Calls body(at, strides, n) for lines that together are elements [begin, end), in no particular order. Lines that would be very
// short run across the last two dims instead.
template <int N, class Body>
void for_each_line(const Space<N>& space, int64_t begin, int64_t end, Body&& body) {
  constexpr int64_t kShort = 8;
  constexpr int64_t kRowsInCache = 256;
  const Offsets<N> across = strides_of(space, space.ndim - 2);
  const Offsets<N> along = strides_of(space, space.ndim - 1);
  for_each_block(space, begin, end, [&](const Offsets<N>& at, int64_t rows, int64_t n) {
    const bool turned = n < kShort && n < rows;
    const int64_t chunk = turned ? kRowsInCache : 1;
    const int64_t lines = turned ? n : 1;
    const Offsets<N>& stride = turned ? across : along;
    for (int64_t row = 0; row < rows; row += chunk) {
      const int64_t count = turned ? std::min(chunk, rows - row) : n;
      for (int64_t line = 0; line < lines; ++line) {
        Offsets<N> start = at;
        for (int k = 0; k < N; ++k) start[k] += row * across[k] + line * along[k];
        body(start, stride, count);
      }
    }
  });
}

}  // namespace oprt::cpu
