#include "core/backend.h"
#include "core/error.h"
#include "core/threads.h"

namespace oprt {

const Backend& cpu_backend() {
  static constexpr Backend kBackend = {OPRT_BACKEND_CPU,
                                       OPRT_DEVICE_CPU,
                                       start_threads,
                                       [](const void* stream) {
                                         OPRT_CHECK(stream == nullptr, "stream", OPRT_ERR_INVALID_ARGUMENT,
                                                    "stream is %p, expected NULL on the cpu", stream);
                                       },
                                       [](int32_t) { return int32_t{0}; },
                                       [](int32_t) {}};
  return kBackend;
}

}  // namespace oprt
