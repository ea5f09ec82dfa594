// CUDA's own words on the CPU: qualifiers, types and builtins that kernel files and the dialect's headers use. Include simt/simt.h.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "simt/host_runtime.h"

#if OPRT_WARP_SIZE != 32 && OPRT_WARP_SIZE != 64
#error "OPRT_WARP_SIZE is not 32 or 64"
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define __global__ __attribute__((no_icf))  // two kernels of the same code keep their names and lines
#else
#define __global__
#endif
#define __device__
#define __host__
#define __shared__ static __thread  // a block runs on one thread of the host
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __forceinline__ inline __attribute__((always_inline))

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>((static_cast<uint64_t>(a) * b) >> 32); }

// In a checked build the copies that are calls, the compiler's own among them, are seen like any other access.
#if defined(__SANITIZE_THREAD__)
extern "C" {
void* memcpy(void* to, const void* from, size_t bytes) noexcept __asm__("oprt_checked_memcpy");
void* memmove(void* to, const void* from, size_t bytes) noexcept __asm__("oprt_checked_memmove");
void* memset(void* to, int value, size_t bytes) noexcept __asm__("oprt_checked_memset");
}
#endif

namespace oprt::emulator {

// A value of any size in pieces of 8 bytes.
template <class T>
__forceinline__ T shuffle(Exchange kind, uint64_t mask, T value, int argument, int width, Site site) {
  static_assert(std::is_trivially_copyable_v<T>);
  uint64_t words[(sizeof(T) + 7) / 8] = {};
  __builtin_memcpy(words, &value, sizeof value);
  for (uint64_t& word : words) word = exchange(kind, mask, word, argument, width, site);
  __builtin_memcpy(&value, words, sizeof value);
  return value;
}

}  // namespace oprt::emulator

// Every lane of `mask` takes part. Static, since what is left out differs between builds for 32 and for 64 lanes.
#define OPRT_SITE const std::source_location& site = std::source_location::current()

template <class T>
static __forceinline__ T __shfl_sync(uint64_t mask, T value, int lane, int width = OPRT_WARP_SIZE, OPRT_SITE) {
  return oprt::emulator::shuffle(oprt::emulator::Exchange::kShuffle, mask, value, lane, width, site);
}
template <class T>
static __forceinline__ T __shfl_up_sync(uint64_t mask, T value, unsigned lanes, int width = OPRT_WARP_SIZE, OPRT_SITE) {
  return oprt::emulator::shuffle(oprt::emulator::Exchange::kShuffleUp, mask, value, static_cast<int>(lanes), width, site);
}
template <class T>
static __forceinline__ T __shfl_down_sync(uint64_t mask, T value, unsigned lanes, int width = OPRT_WARP_SIZE, OPRT_SITE) {
  return oprt::emulator::shuffle(oprt::emulator::Exchange::kShuffleDown, mask, value, static_cast<int>(lanes), width, site);
}
template <class T>
static __forceinline__ T __shfl_xor_sync(uint64_t mask, T value, int lanes, int width = OPRT_WARP_SIZE, OPRT_SITE) {
  return oprt::emulator::shuffle(oprt::emulator::Exchange::kShuffleXor, mask, value, lanes, width, site);
}
static __forceinline__ uint64_t __ballot_sync(uint64_t mask, bool predicate, OPRT_SITE) {
  return oprt::emulator::exchange(oprt::emulator::Exchange::kBallot, mask, predicate, 0, OPRT_WARP_SIZE, site);
}
static __forceinline__ int __any_sync(uint64_t mask, bool predicate, OPRT_SITE) {
  return oprt::emulator::exchange(oprt::emulator::Exchange::kAny, mask, predicate, 0, OPRT_WARP_SIZE, site) != 0;
}
static __forceinline__ int __all_sync(uint64_t mask, bool predicate, OPRT_SITE) {
  return oprt::emulator::exchange(oprt::emulator::Exchange::kAll, mask, predicate, 0, OPRT_WARP_SIZE, site) != 0;
}
static __forceinline__ void __syncwarp(uint64_t mask = ~uint64_t{0} >> (64 - OPRT_WARP_SIZE), OPRT_SITE) {
  oprt::emulator::exchange(oprt::emulator::Exchange::kSync, mask, 0, 0, OPRT_WARP_SIZE, site);
}
static __forceinline__ void __syncthreads(OPRT_SITE) { oprt::emulator::sync_block(site); }
