// CUDA's errors as ours.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace oprt::nvidia {

// Throws unless `error` is cudaSuccess: OUT_OF_MEMORY, or DEVICE_ERROR with CUDA's name for it. Takes our failure off CUDA's record
// of the last error, so that nobody else is blamed for it.
void check(cudaError_t error, const char* what);

// Loads `kernel` on the current device, and lets it have that many bytes of dynamic shared memory. Throws BACKEND_UNAVAILABLE where
// this library holds no code for the device, with the architectures that it holds.
void prepare_kernel(const void* kernel, size_t shared_bytes);

}  // namespace oprt::nvidia

#define OPRT_CUDA_TRY(call) ::oprt::nvidia::check((call), #call)
