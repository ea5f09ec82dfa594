// What the sum kernels add, and how a thread adds its share of a row. Include ops/reduce_sum/kernels.cuh.
#pragma once

#include <type_traits>

#include "simt/simt.h"
#include "simt/walk.cuh"

namespace oprt::reduce_sum {
inline namespace OPRT_SIMT {

using simt::Cache;
using simt::Vector;
using simt::Walk;

constexpr int kUnroll = 4;  // independent loads in flight per thread

// Acc holds a whole sum, Part what one thread adds: at most 2^12 vectors. Integers are modulo 2^64.
template <class T>
struct Element {
  using Acc = uint64_t;
  using Part = std::conditional_t<(sizeof(T) < 4), int32_t, uint64_t>;
  static __device__ __forceinline__ Part part(T value) { return static_cast<Part>(value); }
};
template <>
struct Element<Bool> {
  using Acc = uint64_t;
  using Part = int32_t;
  static __device__ __forceinline__ Part part(Bool value) { return value.byte != 0 ? 1 : 0; }
};
template <class T>
struct FloatElement {
  using Acc = float;
  using Part = float;
  static __device__ __forceinline__ Part part(T value) { return simt::to_float(value); }
};
template <>
struct Element<Float16> : FloatElement<Float16> {};
template <>
struct Element<BFloat16> : FloatElement<BFloat16> {};
template <>
struct Element<float> : FloatElement<float> {};
template <>
struct Element<double> {
  using Acc = double;
  using Part = double;
  static __device__ __forceinline__ Part part(double value) { return value; }
};

template <class T>
using Acc = typename Element<T>::Acc;
template <class T>
using Part = typename Element<T>::Part;

template <class T>
__device__ __forceinline__ Acc<T> widen(Part<T> part) {
  return static_cast<Acc<T>>(part);
}

template <class T, int n>
__device__ __forceinline__ Part<T> tree(const T* values) {
  if constexpr (n == 1) {
    return Element<T>::part(values[0]);
  } else {
    return tree<T, n / 2>(values) + tree<T, n / 2>(values + n / 2);
  }
}
template <class T>
__device__ __forceinline__ Part<T> tree(const Vector<T>& vector) {
  return tree<T, Vector<T>::kSize>(vector.value);
}

// What a finished sum is written as.
enum class Store { kAcc, kFloat16, kBFloat16 };

template <class A>
__device__ __forceinline__ void store_sum(void* out, int64_t offset, A sum, Store store) {
  if constexpr (std::is_same_v<A, float>) {
    if (store == Store::kFloat16) {
      static_cast<Float16*>(out)[offset] = simt::from_float<Float16>(sum);
      return;
    }
    if (store == Store::kBFloat16) {
      static_cast<BFloat16*>(out)[offset] = simt::from_float<BFloat16>(sum);
      return;
    }
  }
  static_cast<A*>(out)[offset] = sum;
}

// Elements before the first 16-byte boundary at or after `address`, at most n.
template <class T>
__device__ __forceinline__ int elements_to_vector(const T* address, int n) {
  const unsigned misaligned = static_cast<unsigned>(reinterpret_cast<uintptr_t>(address) % simt::kVectorBytes);
  const int head = misaligned == 0 ? 0 : static_cast<int>((simt::kVectorBytes - misaligned) / sizeof(T));
  return head < n ? head : n;
}

// How a row's elements lie in memory. Loads past the L1 cache or not, H200: bf16 rows of 1024 3.51 vs 3.32 TB/s, of 8192 4.25
// vs 4.17, of 32768 3.94 vs 4.13 (2026-12).
struct Contiguous {};

// The share of thread t of `threads` in elements [begin, begin + n) of a row.
template <class T>
__device__ __forceinline__ Acc<T> sum_share(const T* row, int64_t begin, int n, int t, int threads, const Contiguous&) {
  constexpr int kSize = Vector<T>::kSize;
  const T* first = row + begin;
  const int head = elements_to_vector(first, n);
  const int vectors = (n - head) / kSize;
  const T* body = first + head;
  const auto load = [&](int v) { return simt::load_vector<Cache::kStream>(body + static_cast<int64_t>(v) * kSize); };
  Part<T> acc = 0;
  int v = t;
  for (; v + (kUnroll - 1) * threads < vectors; v += kUnroll * threads) {
    const Vector<T> x[kUnroll] = {load(v), load(v + threads), load(v + 2 * threads), load(v + 3 * threads)};
    acc += (tree(x[0]) + tree(x[1])) + (tree(x[2]) + tree(x[3]));
  }
  if (v < vectors) {
    Vector<T> x[kUnroll - 1] = {load(v)};
#pragma unroll
    for (int k = 1; k < kUnroll - 1; ++k) {
      if (v + k * threads < vectors) x[k] = load(v + k * threads);
    }
    acc += (tree(x[0]) + tree(x[1])) + tree(x[2]);
  }
  for (int i = t; i < head; i += threads) acc += Element<T>::part(first[i]);
  for (int i = head + vectors * kSize + t; i < n; i += threads) acc += Element<T>::part(first[i]);
  return widen<T>(acc);
}
template <class T>
__device__ __forceinline__ Acc<T> sum_share(const T* row, int64_t begin, int n, int t, int threads, const Walk<1>& reduced) {
  Part<T> acc = 0;
  for (int i = t; i < n; i += kUnroll * threads) {
    T x[kUnroll] = {};
#pragma unroll
    for (int k = 0; k < kUnroll; ++k) {
      if (i + k * threads < n) {
        int64_t offset[1];
        reduced.locate(begin + i + k * threads, offset);
        x[k] = row[offset[0]];
      }
    }
    acc += tree<T, kUnroll>(x);
  }
  return widen<T>(acc);
}

template <class A>
__device__ __forceinline__ A sum_group(A value, int lanes) {
  for (int step = lanes / 2; step > 0; step /= 2) value += simt::shuffle_xor(value, step);
  return value;
}

}  // namespace OPRT_SIMT
}  // namespace oprt::reduce_sum
