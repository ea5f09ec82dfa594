#include "simt/cuda_error.h"

#include <mutex>
#include <string>

#include "core/error.h"

// The architectures that the kernels were compiled for, "sm_90" for example; from the build.
#if !defined(OPRT_CUDA_ARCHITECTURES)
#error "OPRT_CUDA_ARCHITECTURES is not defined"
#endif

namespace oprt::nvidia {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) [[likely]]
    return;
  cudaGetLastError();
  const oprt_status_t status = error == cudaErrorMemoryAllocation ? OPRT_ERR_OUT_OF_MEMORY : OPRT_ERR_DEVICE_ERROR;
  throw Error(status, "", "%s: %s (%s)", what, cudaGetErrorName(error), cudaGetErrorString(error));
}

void prepare_kernel(const void* kernel, size_t shared_bytes) {
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
  if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction) {
    cudaGetLastError();
    throw Error(OPRT_ERR_BACKEND_UNAVAILABLE, "backend",
                "backend nvidia is not available on this GPU: this library holds code for %s; rebuild with -DOPRT_CUDA_ARCHS=all",
                OPRT_CUDA_ARCHITECTURES);
  }
  check(error, "loading a kernel");
  // Another thread may ask for more for the same kernel: the limit must only grow.
  static std::mutex limits;
  const std::lock_guard<std::mutex> lock(limits);
  OPRT_CUDA_TRY(cudaFuncGetAttributes(&attributes, kernel));
  if (shared_bytes > static_cast<size_t>(attributes.maxDynamicSharedSizeBytes)) {
    OPRT_CUDA_TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
  }
}

}  // namespace oprt::nvidia
