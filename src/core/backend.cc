#include "core/backend.h"

#include "core/error.h"
#include "core/registry.h"

namespace oprt {
namespace {

const char* how_to_get(oprt_backend_t id) {
  return id == OPRT_BACKEND_NVIDIA
             ? "not in this build; configure with -DCAMP_ENABLE_NVIDIA=ON where nvcc is"
             : "not in this build; configure a separate folder with -DCAMP_ENABLE_NVIDIA=OFF -DCAMP_ENABLE_METAX=ON";
}

void check_known(oprt_backend_t id) {
  OPRT_CHECK(id >= OPRT_BACKEND_AUTO && id <= OPRT_BACKEND_METAX, "backend", OPRT_ERR_INVALID_ARGUMENT,
             "backend is %d, expected 0 (auto), 1 (cpu), 2 (nvidia) or 3 (metax)", id);
}

const Backend& available(oprt_backend_t id) {
  const Backend* backend = find_backend(id);
  OPRT_CHECK(backend != nullptr, "backend", OPRT_ERR_BACKEND_UNAVAILABLE, "backend %s is not available: %s", oprt_backend_name(id),
             how_to_get(id));
  backend->check_available();
  return *backend;
}

}  // namespace

const Backend* find_backend(oprt_backend_t id) {
  for (const BackendEntry entry : backend_entries()) {
    const Backend& backend = entry();
    if (backend.id == id) return &backend;
  }
  return nullptr;
}

const Backend& resolve_backend(oprt_backend_t requested, oprt_device_t device) {
  check_known(requested);
  oprt_backend_t id = requested;
  if (id == OPRT_BACKEND_AUTO) {
    if (device.type == OPRT_DEVICE_CPU) {
      id = OPRT_BACKEND_CPU;
    } else {
      const Backend* metax = find_backend(OPRT_BACKEND_METAX);
      id = metax != nullptr && metax->device_type == device.type ? OPRT_BACKEND_METAX : OPRT_BACKEND_NVIDIA;
    }
  }
  const Backend& backend = available(id);
  OPRT_CHECK(backend.device_type == device.type, "backend", OPRT_ERR_INVALID_ARGUMENT,
             "backend %s takes %s tensors, these are on %s", oprt_backend_name(id),
             backend.device_type == OPRT_DEVICE_CPU ? "cpu" : "cuda", device.type == OPRT_DEVICE_CPU ? "cpu" : "cuda");
  return backend;
}

}  // namespace oprt

const char* oprt_backend_name(oprt_backend_t backend) noexcept {
  static constexpr const char* kNames[] = {"auto", "cpu", "nvidia", "metax"};
  return backend >= OPRT_BACKEND_AUTO && backend <= OPRT_BACKEND_METAX ? kNames[backend] : "unknown";
}

oprt_status_t oprt_check_backend(oprt_backend_t backend) noexcept {
  return oprt::guard("", [&] {
    oprt::check_known(backend);
    if (backend != OPRT_BACKEND_AUTO) oprt::available(backend);
  });
}
