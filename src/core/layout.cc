#include "core/layout.h"

#include <algorithm>

#include "core/error.h"
#include "core/tensor.h"

namespace oprt {
namespace {

uint64_t magnitude(int64_t stride) {
  return stride < 0 ? uint64_t{0} - static_cast<uint64_t>(stride) : static_cast<uint64_t>(stride);
}

// Modulo 2^64: the strides of a tensor without elements are unchecked, and what comes of them is never used.
int64_t negated(int64_t value) { return static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(value)); }
int64_t advanced(int64_t offset, int64_t steps, int64_t stride) {
  return static_cast<int64_t>(static_cast<uint64_t>(offset) + static_cast<uint64_t>(steps) * static_cast<uint64_t>(stride));
}

// One dimension of a space under construction.
template <int N>
struct Dim {
  int64_t size;
  std::array<int64_t, N> strides;
};

// Whether walking `outer` is the same as going on in `inner`, for every operand.
template <int N>
bool continues(const Dim<N>& outer, const Dim<N>& inner) {
  for (size_t k = 0; k < N; ++k) {
    int64_t step = 0;
    if (__builtin_mul_overflow(inner.strides[k], inner.size, &step) || outer.strides[k] != step) return false;
  }
  return true;
}

}  // namespace

template <int N>
Space<N> canonicalize(int ndim, const int64_t* shape, const std::array<const int64_t*, N>& strides) {
  Space<N> space;
  if (std::find(shape, shape + ndim, 0) != shape + ndim) {
    space.ndim = 1;
    return space;
  }
  std::array<Dim<N>, OPRT_MAX_DIMS> dims;
  size_t count = 0;
  for (int d = 0; d < ndim; ++d) {
    if (shape[d] == 1) continue;
    Dim<N>& dim = dims[count++];
    dim.size = shape[d];
    const bool flip = strides[0][d] < 0;
    for (size_t k = 0; k < N; ++k) {
      const int64_t stride = strides[k][d];
      if (flip) space.offset[k] = advanced(space.offset[k], dim.size - 1, stride);
      dim.strides[k] = flip ? negated(stride) : stride;
    }
  }

  // Innermost last: the smallest steps of operand 0, then of the others.
  std::stable_sort(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(count), [](const Dim<N>& a, const Dim<N>& b) {
    for (size_t k = 0; k < N; ++k) {
      if (magnitude(a.strides[k]) != magnitude(b.strides[k])) return magnitude(a.strides[k]) > magnitude(b.strides[k]);
    }
    return false;
  });

  for (size_t i = 0; i < count; ++i) {
    const auto last = static_cast<size_t>(space.ndim) - 1;
    if (space.ndim > 0) {
      Dim<N> outer{space.shape[last], {}};
      for (size_t k = 0; k < N; ++k) outer.strides[k] = space.strides[k][last];
      int64_t merged = 0;
      if (continues(outer, dims[i]) && !__builtin_mul_overflow(outer.size, dims[i].size, &merged)) {
        space.shape[last] = merged;
        for (size_t k = 0; k < N; ++k) space.strides[k][last] = dims[i].strides[k];
        continue;
      }
    }
    const auto at = static_cast<size_t>(space.ndim++);
    space.shape[at] = dims[i].size;
    for (size_t k = 0; k < N; ++k) space.strides[k][at] = dims[i].strides[k];
  }
  return space;
}

template Space<1> canonicalize<1>(int, const int64_t*, const std::array<const int64_t*, 1>&);
template Space<2> canonicalize<2>(int, const int64_t*, const std::array<const int64_t*, 2>&);
template Space<3> canonicalize<3>(int, const int64_t*, const std::array<const int64_t*, 3>&);

std::array<int64_t, OPRT_MAX_DIMS> broadcast_strides(const char* name, const oprt_tensor_view_t& in, int ndim,
                                                     const int64_t* shape) {
  std::array<int64_t, OPRT_MAX_DIMS> strides{};
  const int missing = ndim - in.ndim;
  for (int d = 0; d < in.ndim; ++d) {
    const int to = d + missing;
    OPRT_CHECK(to >= 0 && (in.shape[d] == 1 || in.shape[d] == shape[to]), name, OPRT_ERR_INVALID_ARGUMENT,
               "%s has shape %s, which does not broadcast to %s", name, shape_text(in).c_str(), shape_text(shape, ndim).c_str());
    strides[static_cast<size_t>(to)] = in.shape[d] == 1 ? 0 : in.strides[d];
  }
  return strides;
}

}  // namespace oprt
