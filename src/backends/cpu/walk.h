// Walks a range of a canonical space line by line. Ranges count elements in the order of the dims, so a loop over elements is cut
// into pieces of equal work whatever the shape.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
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

// Calls body(at, rows, n) for blocks of the last two dims that together are elements [begin, end). Needs two dims or more.
template <int N, class Body>
void for_each_block(const Space<N>& space, int64_t begin, int64_t end, Body&& body) {
  const int last = space.ndim - 1;
  const int64_t n = space.shape[last];
  const int64_t rows = space.shape[last - 1];
  while (begin < end) {
    const int64_t column = begin % n;
    const int64_t row = begin / n % rows;
    const bool partial = column != 0 || end - begin < n;
    const int64_t take_rows = partial ? 1 : std::min(rows - row, (end - begin) / n);
    const int64_t take = partial ? std::min(n - column, end - begin) : n;
    body(locate(space, space.ndim, begin), take_rows, take);
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
  const auto step = [](Offsets<N>& at, const Offsets<N>& strides, int64_t count) {
    for (int k = 0; k < N; ++k) at[k] += strides[k] * count;
  };
  for_each_block(space, begin, end, [&](Offsets<N> at, int64_t rows, int64_t n) {
    if (n >= kShort || n >= rows) {
      for (int64_t row = 0; row < rows; ++row, step(at, across, 1)) body(at, along, n);
      return;
    }
    for (int64_t row = 0; row < rows; row += kRowsInCache, step(at, across, kRowsInCache)) {
      Offsets<N> start = at;
      for (int64_t i = 0; i < n; ++i, step(start, along, 1)) body(start, across, std::min(kRowsInCache, rows - row));
    }
  });
}

}  // namespace oprt::cpu
