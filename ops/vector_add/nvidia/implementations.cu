#include "ops/vector_add/nvidia/implementations.h"

namespace oprt::vector_add {

Implementations OPRT_VENDOR_IMPLEMENTATIONS() {
  static constexpr Implementation kImplementations[] = {
      implement<Problem, OPRT_VENDOR::make_contiguous>("contiguous"), implement<Problem, OPRT_VENDOR::make_rows>("rows"),
      implement<Problem, OPRT_VENDOR::make_transpose>("transpose"),   implement<Problem, OPRT_VENDOR::make_gather>("gather"),
      implement<Problem, OPRT_VENDOR::make_strided>("strided"),
  };
  return kImplementations;
}

}  // namespace oprt::vector_add
