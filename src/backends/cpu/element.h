// What the kernels compute with, for each storage type.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/storage.h"

namespace oprt::cpu {

template <class T>
inline constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// float for the 16-bit floats, else T itself.
template <class T>
using Compute = std::conditional_t<kIsHalf<T>, float, T>;

template <class T>
inline Compute<T> load(T value) {
  if constexpr (kIsHalf<T>) {
    return to_float(value);
  } else {
    return value;
  }
}

// Rounds once.
template <class T>
inline T store(Compute<T> value) {
  if constexpr (kIsHalf<T>) {
    return from_float<T>(value);
  } else {
    return value;
  }
}

}  // namespace oprt::cpu
