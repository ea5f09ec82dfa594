#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "core/error.h"
#include "emulator/emulator.h"

namespace oprt::emulator {
namespace {

std::mutex mutex;
std::optional<Options> current;

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

double number(const char* name, const char* text, double least, double most) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  OPRT_CHECK(end != text && *end == '\0' && value >= least && value <= most, "", OPRT_ERR_INVALID_ARGUMENT,
             "%s is %s, expected a number from %g to %g", name, text, least, most);
  return value;
}

Options from_environment() {
  Options options;
  if (const char* order = variable("OPRT_EMULATOR_ORDER")) {
    constexpr char kShuffle[] = "shuffle:";
    char* end = nullptr;
    if (std::strncmp(order, kShuffle, sizeof kShuffle - 1) == 0) {
      options.order = Order::kShuffle;
      options.seed = std::strtoull(order + sizeof kShuffle - 1, &end, 10);
    } else if (std::strcmp(order, "reverse") == 0) {
      options.order = Order::kReverse;
    }
    const bool is_seed = end != nullptr && *end == '\0' && end != order + sizeof kShuffle - 1;
    OPRT_CHECK(is_seed || options.order == Order::kReverse || std::strcmp(order, "forward") == 0, "", OPRT_ERR_INVALID_ARGUMENT,
               "OPRT_EMULATOR_ORDER is %s, expected forward, reverse or shuffle:SEED", order);
  }
  if (const char* workers = variable("OPRT_EMULATOR_WORKERS")) {
    options.workers = static_cast<int>(number("OPRT_EMULATOR_WORKERS", workers, 1, 1024));
  }
  if (const char* timeout = variable("OPRT_EMULATOR_TIMEOUT")) {
    options.timeout_s = number("OPRT_EMULATOR_TIMEOUT", timeout, 0.01, 1e6);
  }
  return options;
}

}  // namespace

Options options() {
  const std::lock_guard lock(mutex);
  if (!current) current = from_environment();
  return *current;
}

void set_options(const Options& options) {
  const std::lock_guard lock(mutex);
  current = options;
}

}  // namespace oprt::emulator
