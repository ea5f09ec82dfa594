#include "ops/copy/nvidia/implementations.h"

namespace oprt::copy {

Implementations nvidia_implementations() {
  static constexpr Implementation kImplementations[] = {
      implement<Problem, make_contiguous>("contiguous"), implement<Problem, make_rows>("rows"),
      implement<Problem, make_transpose>("transpose"),   implement<Problem, make_gather>("gather"),
      implement<Problem, make_strided>("strided"),
  };
  return kImplementations;
}

}  // namespace oprt::copy
