// Faults as the engine records them, without allocation, while a kernel runs; reports are made of them after its block.
#pragma once

#include <optional>
#include <string>

#include "emulator/emulator.h"

namespace oprt::emulator {

enum class AccessKind : uint8_t { kNone, kRead, kWrite, kAtomic };

// By which thread (its number in the block), in which block (its number in the grid), where in the code.
struct Access {
  AccessKind kind = AccessKind::kNone;
  uint64_t block = 0;
  unsigned thread = 0;
  uintptr_t pc = 0;  // of the instruction after a call, as __builtin_return_address gives it; 0 where `site` says it
  const Site* site = nullptr;
};

struct Fault {
  Kind kind = Kind::kHang;
  Access at = {};
  Access other = {};
  uintptr_t address = 0;
  size_t bytes = 0;
  size_t alignment = 0;
};

struct Worker;
struct Launch;

// Makes the report of what happened in the block that `worker` has just run or given up.
Report make_report(const Worker& worker, const Fault& fault);

// The kernel's qualified name with its template arguments.
std::string kernel_name(const void* kernel);

// Sets file, line and callers.
void locate(uintptr_t pc, Place& place);

}  // namespace oprt::emulator
