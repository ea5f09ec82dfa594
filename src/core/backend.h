// What the core knows of a backend: which device it computes on, whether it can run here, which streams it takes.
#pragma once

#include "operator_runtime/backend.h"
#include "operator_runtime/tensor.h"

struct oprt_descriptor;

namespace oprt {

struct Launch;

struct Backend {
  oprt_backend_t id;
  int32_t device_type;                       // OPRT_DEVICE_*
  void (*check_available)();                 // throws BACKEND_UNAVAILABLE with the reason; DEVICE_ERROR in a forked child
  void (*check_stream)(const void* stream);  // throws INVALID_ARGUMENT on argument "stream"
  // Makes device `id` current and returns the one that was. Throws INVALID_ARGUMENT (no such device), DEVICE_ERROR.
  int32_t (*enter_device)(int32_t id);
  void (*leave_device)(int32_t previous);  // undoes enter_device; does not throw
  // Runs its plan where that takes more than execute(); may be nullptr.
  void (*run)(const oprt_descriptor& desc, const Launch& launch) = nullptr;
};

// Runs what stands in its scope on device `id` of `backend`, and restores the caller's device.
class DeviceScope {
 public:
  DeviceScope(const Backend& backend, int32_t id) : backend_(backend), previous_(backend.enter_device(id)) {}
  ~DeviceScope() { backend_.leave_device(previous_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  const Backend& backend_;
  const int32_t previous_;
};

// The backends of this build, from the generated table (src/backends/<vendor>/ each define `oprt::<vendor>_backend()`); nullptr
// where `id` is not built.
const Backend* find_backend(oprt_backend_t id);

// The backend for tensors on `device`: `requested`, or by the device for AUTO. Throws INVALID_ARGUMENT (unknown backend, tensors on
// another backend's device), BACKEND_UNAVAILABLE.
const Backend& resolve_backend(oprt_backend_t requested, oprt_device_t device);

}  // namespace oprt
