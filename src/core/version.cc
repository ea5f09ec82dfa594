#include "operator_runtime/version.h"

int32_t oprt_abi_version(void) noexcept { return OPRT_ABI_VERSION; }

const char* oprt_version(void) noexcept { return OPRT_VERSION_STRING; }
