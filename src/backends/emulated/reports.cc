// The emulator's reports for callers outside the library. Only emulation builds export this.
#include <string>

#include "core/error.h"
#include "emulator/emulator.h"
#include "operator_runtime/export.h"

extern "C" OPRT_EXPORT const char* oprt_emulator_take_reports() noexcept;

// JSON: an array of what has been reported since the last call, each with its text for people. Valid until this thread's next call.
const char* oprt_emulator_take_reports() noexcept {
  thread_local std::string json;
  const oprt_status_t status =
      oprt::guard("oprt_emulator_take_reports", [&] { json = oprt::emulator::to_json(oprt::emulator::take_reports()); });
  return status == OPRT_OK ? json.c_str() : "[]";
}
