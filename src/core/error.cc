#include "core/error.h"

#include <cstdio>
#include <cstring>

namespace oprt {
namespace {

// Plain arrays: no destructor, so that the text stays readable while a thread exits.
thread_local char last_text[Error::kMaxText + 64] = "";
thread_local char last_argument[Error::kMaxArgument] = "";

}  // namespace

Error::Error(oprt_status_t status, const char* argument, const char* format, ...) : status_(status), argument_{}, text_{} {
  std::snprintf(argument_, sizeof argument_, "%s", argument);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text_, sizeof text_, format, arguments);
  va_end(arguments);
}

oprt_status_t set_last_error(const char* op, const char* argument, oprt_status_t status, const char* text) noexcept {
  std::snprintf(last_text, sizeof last_text, "%s%s%s", op, op[0] != '\0' ? ": " : "", text);
  std::snprintf(last_argument, sizeof last_argument, "%s", argument);
  return status;
}

}  // namespace oprt

const char* oprt_last_error(void) noexcept { return oprt::last_text; }

const char* oprt_last_error_argument(void) noexcept { return oprt::last_argument; }

const char* oprt_status_name(oprt_status_t status) noexcept {
  switch (status) {
    case OPRT_OK:
      return "OPRT_OK";
    case OPRT_ERR_INVALID_ARGUMENT:
      return "OPRT_ERR_INVALID_ARGUMENT";
    case OPRT_ERR_UNSUPPORTED:
      return "OPRT_ERR_UNSUPPORTED";
    case OPRT_ERR_INSUFFICIENT_WORKSPACE:
      return "OPRT_ERR_INSUFFICIENT_WORKSPACE";
    case OPRT_ERR_BACKEND_UNAVAILABLE:
      return "OPRT_ERR_BACKEND_UNAVAILABLE";
    case OPRT_ERR_OUT_OF_MEMORY:
      return "OPRT_ERR_OUT_OF_MEMORY";
    case OPRT_ERR_DEVICE_ERROR:
      return "OPRT_ERR_DEVICE_ERROR";
    case OPRT_ERR_INTERNAL:
      return "OPRT_ERR_INTERNAL";
    default:
      return "OPRT_ERR_UNKNOWN";
  }
}
