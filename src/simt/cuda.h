// The CUDA meaning of the dialect. Include simt/simt.h.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "core/storage.h"
#include "simt/cuda_error.h"

#define OPRT_SIMT cuda32

// Capabilities. A kernel that needs one has a portable twin for where it is 0.
#define OPRT_HAS_PTX 1  // inline PTX
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define OPRT_HAS_CLUSTERS 1  // thread-block clusters, distributed shared memory, bulk copies
#else
#define OPRT_HAS_CLUSTERS 0
#endif

// `T* name`, the block's dynamic shared memory (its size is launch()'s shared_bytes), aligned to 16 bytes.
#define OPRT_DYNAMIC_SHARED(T, name)                                   \
  extern __shared__ __align__(16) unsigned char oprt_dynamic_shared[]; \
  T* name = reinterpret_cast<T*>(oprt_dynamic_shared)

namespace oprt::simt {
inline namespace OPRT_SIMT {

constexpr int kWarpSize = 32;
using Mask = uint32_t;
constexpr Mask kFullMask = ~Mask{0};

// Enqueues kernel<<<grid, block, shared_bytes, stream>>>(args...), each argument converted to the kernel's parameter type first.
// Throws DEVICE_ERROR when this launch is refused; errors that others left behind are not looked at.
template <class... Params, class... Args>
void launch(void (*kernel)(Params...), dim3 grid, dim3 block, size_t shared_bytes, void* stream, Args&&... args) {
  std::tuple<std::remove_const_t<Params>...> values(static_cast<Params>(std::forward<Args>(args))...);
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  std::apply(
      [&](auto&... value) {
        void* pointers[] = {static_cast<void*>(&value)..., nullptr};
        nvidia::check(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers), "kernel launch");
      },
      values);
}

// Called at create: lets `kernel` have that much dynamic shared memory on the current device, and loads it there.
template <class... Params>
void prepare(void (*kernel)(Params...), size_t shared_bytes = 0) {
  nvidia::prepare_kernel(reinterpret_cast<const void*>(kernel), shared_bytes);
}

// Shuffles and votes of a full warp. Every lane takes part.
template <class T>
__device__ __forceinline__ T shuffle(T value, int lane) {
  return __shfl_sync(kFullMask, value, lane);
}
template <class T>
__device__ __forceinline__ T shuffle_xor(T value, int lanes) {
  return __shfl_xor_sync(kFullMask, value, lanes);
}
template <class T>
__device__ __forceinline__ T shuffle_down(T value, int lanes) {
  return __shfl_down_sync(kFullMask, value, static_cast<unsigned>(lanes));
}
__device__ __forceinline__ Mask ballot(bool predicate) { return __ballot_sync(kFullMask, predicate); }
__device__ __forceinline__ bool any(bool predicate) { return __any_sync(kFullMask, predicate) != 0; }
__device__ __forceinline__ bool all(bool predicate) { return __all_sync(kFullMask, predicate) != 0; }
__device__ __forceinline__ void sync_warp() { __syncwarp(kFullMask); }
__device__ __forceinline__ void sync_block() { __syncthreads(); }

// Returns the value before. Relaxed; fence() orders it with other memory.
__device__ __forceinline__ unsigned fetch_add(unsigned* address, unsigned value) { return atomicAdd(address, value); }
__device__ __forceinline__ void fence() { __threadfence(); }

__device__ __forceinline__ int lane_id() { return static_cast<int>(threadIdx.x % kWarpSize); }
__device__ __forceinline__ int warp_id() { return static_cast<int>(threadIdx.x / kWarpSize); }

// Conversions: exact to float, round to nearest even from float.
__device__ __forceinline__ float to_float(float value) { return value; }
__device__ __forceinline__ float to_float(Float16 value) { return __half2float(__ushort_as_half(value.bits)); }
__device__ __forceinline__ float to_float(BFloat16 value) { return __uint_as_float(static_cast<unsigned>(value.bits) << 16); }
template <class T>
__device__ __forceinline__ T from_float(float value);
template <>
__device__ __forceinline__ float from_float<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ Float16 from_float<Float16>(float value) {
  return {__half_as_ushort(__float2half_rn(value))};
}
template <>
__device__ __forceinline__ BFloat16 from_float<BFloat16>(float value) {
  return {__bfloat16_as_ushort(__float2bfloat16_rn(value))};
}

// 2^x within 2 ulp; 0 below 2^-126.
__device__ __forceinline__ float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// How a load or store of global memory uses the caches.
enum class Cache {
  kNormal,
  kStream,  // touched once: loads pass the L1 cache by, stores are the first to leave the L2
};

template <Cache cache>
__device__ __forceinline__ uint4 load16(const uint4* address) {
  if constexpr (cache == Cache::kStream) {
    uint4 v;
    asm volatile("ld.global.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(address)
                 : "memory");  // in place, a load stays before the store to its address
    return v;
  } else {
    return *address;
  }
}

template <Cache cache>
__device__ __forceinline__ void store16(uint4* address, uint4 v) {
  if constexpr (cache == Cache::kStream) {
    __stcs(address, v);
  } else {
    __stwb(address, v);  // a plain assignment may become four stores of 4 bytes
  }
}

}  // namespace OPRT_SIMT
}  // namespace oprt::simt
