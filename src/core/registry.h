// The tables that the build generates (generated/registry.cc): which operator has which backend, which backends this build holds.
#pragma once

#include <span>

#include "core/backend.h"
#include "core/dispatch.h"

namespace oprt {

struct OperatorEntry {
  const char* op;
  oprt_backend_t backend;
  Implementations (*implementations)();
};

std::span<const OperatorEntry> operator_entries();

using BackendEntry = const Backend& (*)();
std::span<const BackendEntry> backend_entries();

}  // namespace oprt
