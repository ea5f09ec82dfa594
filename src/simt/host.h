// The CPU's meaning of the dialect, at OPRT_WARP_SIZE lanes: kernels run in the emulator (docs/emulator.md). Include simt/simt.h.
#pragma once

#include <tuple>
#include <utility>

#include "core/storage.h"
#include "simt/host_words.h"

#if OPRT_WARP_SIZE == 32
#define OPRT_SIMT emulated32
#else
#define OPRT_SIMT emulated64
#endif

#define OPRT_HAS_PTX 0
#define OPRT_HAS_CLUSTERS 0

#define OPRT_DYNAMIC_SHARED(T, name) T* name = reinterpret_cast<T*>(::oprt::emulator::dynamic_shared())

namespace oprt::simt {
inline namespace OPRT_SIMT {

constexpr int kWarpSize = OPRT_WARP_SIZE;
using Mask = std::conditional_t<kWarpSize == 64, uint64_t, uint32_t>;
constexpr Mask kFullMask = ~Mask{0};

// Runs the whole grid before it returns; the stream is not looked at.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), dim3 grid, dim3 block, size_t shared_bytes, void*, Args&&... args) {
  struct Arguments {
    void (*kernel)(Params...);
    std::tuple<std::remove_const_t<Params>...> values;
  } arguments = {kernel, {static_cast<Params>(std::forward<Args>(args))...}};
  const auto run = [](void* pointer) {
    auto* call = static_cast<Arguments*>(pointer);
    std::apply(call->kernel, call->values);
  };
  emulator::launch(
      {run, &arguments, sizeof arguments, reinterpret_cast<const void*>(kernel), grid, block, shared_bytes, kWarpSize});
}

template <class... Params>
void prepare(void (*)(Params...), size_t shared_bytes = 0) {
  emulator::check_shared_bytes(shared_bytes);
}

template <class T>
__forceinline__ T shuffle(T value, int lane, OPRT_SITE) {
  return __shfl_sync(kFullMask, value, lane, kWarpSize, site);
}
template <class T>
__forceinline__ T shuffle_xor(T value, int lanes, OPRT_SITE) {
  return __shfl_xor_sync(kFullMask, value, lanes, kWarpSize, site);
}
template <class T>
__forceinline__ T shuffle_down(T value, int lanes, OPRT_SITE) {
  return __shfl_down_sync(kFullMask, value, static_cast<unsigned>(lanes), kWarpSize, site);
}
__forceinline__ Mask ballot(bool predicate, OPRT_SITE) { return static_cast<Mask>(__ballot_sync(kFullMask, predicate, site)); }
__forceinline__ bool any(bool predicate, OPRT_SITE) { return __any_sync(kFullMask, predicate, site) != 0; }
__forceinline__ bool all(bool predicate, OPRT_SITE) { return __all_sync(kFullMask, predicate, site) != 0; }
__forceinline__ void sync_warp(OPRT_SITE) { __syncwarp(kFullMask, site); }
__forceinline__ void sync_block(OPRT_SITE) { __syncthreads(site); }

__forceinline__ unsigned fetch_add(unsigned* address, unsigned value) {
  const unsigned before = __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
  asm volatile("");  // in a checked build the line above is a call, which a jump at a kernel's end would hide
  return before;
}
__forceinline__ void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

__forceinline__ int lane_id() { return static_cast<int>(threadIdx.x % kWarpSize); }
__forceinline__ int warp_id() { return static_cast<int>(threadIdx.x / kWarpSize); }

using oprt::from_float;
using oprt::to_float;

__forceinline__ float exp2_fast(float x) {
  const float y = exp2f(x);
  return y < 0x1p-126f ? 0.0f : y;
}

enum class Cache { kNormal, kStream };

template <Cache>
__forceinline__ uint4 load16(const uint4* address) {
  if (reinterpret_cast<uintptr_t>(address) % alignof(uint4) != 0) [[unlikely]]
    emulator::misaligned(address, alignof(uint4));
  return *address;
}

template <Cache>
__forceinline__ void store16(uint4* address, uint4 v) {
  if (reinterpret_cast<uintptr_t>(address) % alignof(uint4) != 0) [[unlikely]]
    emulator::misaligned(address, alignof(uint4));
  *address = v;
}

}  // namespace OPRT_SIMT
}  // namespace oprt::simt
