// Sums whose rounding error grows with log2 n: no serial chain of more than 64 additions, and partial sums added as a binary tree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/convert.h"
#include "backends/cpu/element.h"

namespace oprt::cpu {

constexpr int64_t kMaxChain = 64;

// Total is what a sum is kept in; Partial what one chunk is added in (int32 holds 64 * 32 * 65535).
template <class T>
struct SumOf {
  using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, Compute<T>>;
  using Partial = std::conditional_t<std::is_integral_v<T> && sizeof(T) <= 2, int32_t, Total>;
};
template <>
struct SumOf<Bool> {
  using Total = uint64_t;
  using Partial = int32_t;
};
template <class T>
using Total = typename SumOf<T>::Total;
template <class T>
using Partial = typename SumOf<T>::Partial;

template <class T>
inline Partial<T> addend(T value) {
  if constexpr (std::is_same_v<T, Bool>) {
    return value.byte != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<Partial<T>>(static_cast<int64_t>(value));
  } else {
    return load(value);
  }
}

// Integers count modulo 2^64, so a negative partial sum wraps.
template <class To, class From>
inline To total(From partial) {
  if constexpr (std::is_integral_v<From>) {
    return static_cast<To>(static_cast<int64_t>(partial));
  } else {
    return partial;
  }
}

// Partial sums in a binary tree, kWidth of them side by side: level l holds the sum of 2^l pushes where bit l of the count is set.
template <class T, int kWidth>
class Cascade {
 public:
  // Adds values[0..width).
  template <class Value>
  void push(const Value* values, int64_t width) {
    T carry[kWidth];
    for (int64_t j = 0; j < width; ++j) carry[j] = total<T>(values[j]);
    int level = 0;
    for (; (count_ >> level) & 1u; ++level) {
      for (int64_t j = 0; j < width; ++j) carry[j] += levels_[level][j];
    }
    for (int64_t j = 0; j < width; ++j) levels_[level][j] = carry[j];
    ++count_;
  }

  // result[0..width) = the sum of all pushes, +0 for none.
  void finish(T* result, int64_t width) const {
    for (int64_t j = 0; j < width; ++j) result[j] = T{};
    for (int level = 0; (count_ >> level) != 0; ++level) {
      if (((count_ >> level) & 1u) == 0) continue;
      for (int64_t j = 0; j < width; ++j) result[j] += levels_[level][j];
    }
  }

 private:
  static constexpr int kLevels = 48;  // 2^48 pushes take days
  uint64_t count_ = 0;
  T levels_[kLevels][kWidth];
};

template <int kLanes, class T>
inline T fold(T* lanes) {
  if constexpr (kLanes == 1) {
    return lanes[0];
  } else {
    for (int j = 0; j < kLanes / 2; ++j) lanes[j] += lanes[j + kLanes / 2];
    return fold<kLanes / 2>(lanes);
  }
}

// The sum of a line of at most 64 * kLanes elements; kLanes chains run side by side.
template <int kLanes, class T, class Stride>
inline Partial<T> sum_lanes(const T* in, Stride stride, int64_t n) {
  Partial<T> lanes[kLanes] = {};
  for (int64_t i = 0; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += addend(in[(i + j) * stride]);
  }
  return fold<kLanes>(lanes);
}

constexpr int kLanes = 32;
constexpr int kShortLanes = 8;

// The sum of a contiguous line of at most 64 * kLanes elements.
template <class T>
inline Total<T> sum_contiguous(const T* in, int64_t n) {
  constexpr std::integral_constant<int64_t, 1> kStep{};
  const int64_t wide = n / kLanes * kLanes;
  const int64_t narrow = n / kShortLanes * kShortLanes;
  const Total<T> result = wide > 0 ? total<Total<T>>(sum_lanes<kLanes>(in, kStep, wide)) : Total<T>{};
  const Partial<T> rest = narrow > wide ? sum_lanes<kShortLanes>(in + wide, kStep, narrow - wide) : Partial<T>{};
  Partial<T> tail{};
  for (int64_t i = narrow; i < n; ++i) tail += addend(in[i]);
  return result + total<Total<T>>(rest + tail);
}

// The sum of a line of at most 64 * kShortLanes elements.
template <class T>
inline Total<T> sum_strided(const T* in, int64_t stride, int64_t n) {
  const int64_t narrow = n / kShortLanes * kShortLanes;
  Partial<T> tail{};
  for (int64_t i = narrow; i < n; ++i) tail += addend(in[i * stride]);
  return total<Total<T>>(sum_lanes<kShortLanes>(in, stride, narrow) + tail);
}

// Pushes the sums of the pieces of a line of any length.
template <class T>
inline void push_line(Cascade<Total<T>, 1>& cascade, const T* in, int64_t stride, int64_t n) {
  const int64_t chunk = kMaxChain * (stride == 1 ? kLanes : kShortLanes);
  for (int64_t i = 0; i < n; i += chunk) {
    const int64_t count = std::min(chunk, n - i);
    Total<T> sum;
    if (stride != 1) {
      sum = sum_strided(in + i * stride, stride, count);
    } else if constexpr (std::is_same_v<T, Float16>) {
      float buffer[kMaxChain * kLanes];
      load_line(buffer, in + i, count);
      sum = sum_contiguous(buffer, count);
    } else {
      sum = sum_contiguous(in + i, count);
    }
    cascade.push(&sum, 1);
  }
}

}  // namespace oprt::cpu
