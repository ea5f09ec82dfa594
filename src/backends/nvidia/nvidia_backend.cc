#include <cuda_runtime_api.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <mutex>

#include "core/backend.h"
#include "core/error.h"
#include "simt/cuda_error.h"
#include "simt/device.h"

namespace oprt {
namespace nvidia {
namespace {

constexpr int kMaxDevices = 64;

// The process that first used a device: CUDA does not survive fork.
std::atomic<pid_t> owner{0};
std::atomic<int> num_devices{0};

void check_not_forked() {
  const pid_t used_by = owner;
  if (used_by == 0 || used_by == getpid()) return;
  throw Error(OPRT_ERR_DEVICE_ERROR, "",
              "this process was forked from one that used the GPU; CUDA needs a process of its own (spawn)");
}

void check_available() {
  check_not_forked();
  int driver = 0;
  OPRT_CHECK(cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0, "backend", OPRT_ERR_BACKEND_UNAVAILABLE,
             "backend nvidia is not available: no NVIDIA driver is installed");
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) {
    owner = getpid();
    num_devices = count;
    return;
  }
  cudaGetLastError();
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  OPRT_CHECK(error != cudaErrorInsufficientDriver, "backend", OPRT_ERR_BACKEND_UNAVAILABLE,
             "backend nvidia is not available: the driver supports CUDA %d.%d, this library needs %d.%d", driver / 1000,
             driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
  throw Error(OPRT_ERR_BACKEND_UNAVAILABLE, "backend", "backend nvidia is not available: %s",
              error == cudaSuccess ? "the driver reports no device" : cudaGetErrorString(error));
}

int32_t enter_device(int32_t id) {
  check_not_forked();
  OPRT_CHECK(id >= 0 && id < num_devices, "out", OPRT_ERR_INVALID_ARGUMENT, "out is on cuda device %d, expected 0..%d", id,
             num_devices - 1);
  int previous = 0;
  OPRT_CUDA_TRY(cudaGetDevice(&previous));
  if (previous != id) OPRT_CUDA_TRY(cudaSetDevice(id));
  return previous;
}

void leave_device(int32_t previous) {
  int current = previous;
  if (cudaGetDevice(&current) == cudaSuccess && current != previous) cudaSetDevice(previous);
}

int attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  OPRT_CUDA_TRY(cudaDeviceGetAttribute(&value, name, device));
  return value;
}

simt::DeviceProperties query(int device) {
  return {attribute(cudaDevAttrComputeCapabilityMajor, device) * 10 + attribute(cudaDevAttrComputeCapabilityMinor, device),
          static_cast<size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device))};
}

}  // namespace

const simt::DeviceProperties& device_properties() {
  static std::array<simt::DeviceProperties, kMaxDevices> properties;
  static std::array<std::once_flag, kMaxDevices> known;
  int device = 0;
  OPRT_CUDA_TRY(cudaGetDevice(&device));
  OPRT_CHECK(device < kMaxDevices, "", OPRT_ERR_DEVICE_ERROR, "device %d, expected one of the first %d", device, kMaxDevices);
  const auto index = static_cast<size_t>(device);
  std::call_once(known[index], [&] { properties[index] = query(device); });
  return properties[index];
}

}  // namespace nvidia

const Backend& nvidia_backend() {
  static constexpr Backend kBackend = {OPRT_BACKEND_NVIDIA, OPRT_DEVICE_CUDA,     nvidia::check_available,
                                       [](const void*) {},  nvidia::enter_device, nvidia::leave_device};
  return kBackend;
}

}  // namespace oprt
