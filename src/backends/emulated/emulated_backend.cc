// nvidia at 32 lanes and metax at 64, on CPU tensors: what runs their kernels is src/emulator.
#include "core/descriptor.h"
#include "core/error.h"
#include "emulator/emulator.h"
#include "simt/device.h"

namespace oprt {
namespace {

// An H100's: the newest launch shapes, so that cases go the ways that they go there.
constexpr simt::DeviceProperties kProperties = {90, emulator::kMaxSharedBytes};

void check_stream(const void* stream) {
  OPRT_CHECK(stream == nullptr, "stream", OPRT_ERR_INVALID_ARGUMENT, "stream is %p, expected NULL in an emulation build", stream);
}

void run(const oprt_descriptor& desc, const Launch& launch) {
  const emulator::BufferScope scope;
  const auto add = [&](size_t k, const void* data, bool is_input) {
    const ByteSpan& span = desc.spans[k];
    const auto bytes = static_cast<size_t>(span.high - span.low);
    if (bytes > 0) emulator::register_buffer(desc.names[k], static_cast<const char*>(data) + span.low, bytes, is_input, is_input);
  };
  add(0, launch.out, false);
  for (size_t k = 1; k < kMaxOperands && desc.names[k] != nullptr; ++k) add(k, launch.in[k - 1], true);
  const size_t workspace_size = desc.choice.plan->workspace_size();
  if (workspace_size > 0) emulator::register_buffer("workspace", launch.workspace, workspace_size, false, false);
  desc.choice.plan->execute(launch);
}

constexpr Backend emulated(oprt_backend_t id) {
  return {id, OPRT_DEVICE_CPU, [] {}, check_stream, [](int32_t) { return int32_t{0}; }, [](int32_t) {}, run};
}

}  // namespace

namespace nvidia {
const simt::DeviceProperties& device_properties() { return kProperties; }
}  // namespace nvidia
namespace metax {
const simt::DeviceProperties& device_properties();
const simt::DeviceProperties& device_properties() { return kProperties; }
}  // namespace metax

const Backend& nvidia_backend();
const Backend& nvidia_backend() {
  static constexpr Backend kBackend = emulated(OPRT_BACKEND_NVIDIA);
  return kBackend;
}

const Backend& metax_backend();
const Backend& metax_backend() {
  static constexpr Backend kBackend = emulated(OPRT_BACKEND_METAX);
  return kBackend;
}

}  // namespace oprt
