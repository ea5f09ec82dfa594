// Canonical iteration spaces: what backends receive instead of user shapes and strides.
#pragma once

#include <array>
#include <cstdint>

#include "operator_runtime/tensor.h"

namespace oprt {

// N operands walked together. Dims of size 1 are gone, neighbours that are one step for every operand are merged, dims are ordered
// so that the last one has operand 0's smallest |stride|, and operand 0's strides are made positive by flipping (offset then says
// where the walk starts, in elements from element 0). ndim is 0 for one element. A space with a size of 0 is {ndim 1, shape {0}}.
template <int N>
struct Space {
  int ndim = 0;
  std::array<int64_t, OPRT_MAX_DIMS> shape{};
  std::array<std::array<int64_t, OPRT_MAX_DIMS>, N> strides{};  // elements
  std::array<int64_t, N> offset{};                              // elements

  int64_t size() const {
    int64_t total = 1;
    for (int d = 0; d < ndim; ++d) total *= shape[static_cast<size_t>(d)];
    return total;
  }
};

// Builds the canonical space of `ndim` dims with the given strides per operand. Stable: equal strides keep their order.
template <int N>
Space<N> canonicalize(int ndim, const int64_t* shape, const std::array<const int64_t*, N>& strides);

extern template Space<1> canonicalize<1>(int, const int64_t*, const std::array<const int64_t*, 1>&);
extern template Space<2> canonicalize<2>(int, const int64_t*, const std::array<const int64_t*, 2>&);
extern template Space<3> canonicalize<3>(int, const int64_t*, const std::array<const int64_t*, 3>&);

// `in`'s strides as seen from a broadcast result of `ndim` dims and `shape`: 0 where it repeats. Throws INVALID_ARGUMENT on
// argument `name` when it does not broadcast to that shape.
std::array<int64_t, OPRT_MAX_DIMS> broadcast_strides(const char* name, const oprt_tensor_view_t& in, int ndim,
                                                     const int64_t* shape);

}  // namespace oprt
