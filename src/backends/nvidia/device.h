// What kernels' launch plans want to know of a device; asked once per device and kept.
#pragma once

#include <cstddef>

namespace oprt::nvidia {

struct DeviceProperties {
  int architecture;  // 90 for sm_90
  int num_sms;
  size_t shared_bytes_per_block;  // with opt-in
  size_t l2_bytes;
};

// Of the current device. Throws DEVICE_ERROR.
const DeviceProperties& device_properties();

}  // namespace oprt::nvidia
