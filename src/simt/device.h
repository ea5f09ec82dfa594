// What kernels' launch plans want to know of a device; asked once per device and kept.
#pragma once

#include <cstddef>

#include "simt/vendor.h"

namespace oprt::simt {

struct DeviceProperties {
  int architecture;               // 90 for sm_90
  size_t shared_bytes_per_block;  // with opt-in
};

}  // namespace oprt::simt

namespace oprt::OPRT_VENDOR {

// Of the current device. Throws DEVICE_ERROR.
const simt::DeviceProperties& device_properties();

}  // namespace oprt::OPRT_VENDOR
