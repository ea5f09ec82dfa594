// The checker of one worker: looks at every access that its kernels make. Kernels of a checked build are compiled with
// -fsanitize=thread and -fsanitize=alignment,bounds; the functions that these call are ours (check_hooks.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "emulator/clocks.h"
#include "emulator/fault.h"
#include "emulator/memory.h"
#include "emulator/shadow.h"

namespace oprt::emulator {

// Whether kernels of this build are instrumented.
bool is_checked();

// Readies what all workers share of a launch. Launches come one at a time.
void prepare_check(Launch& launch);

struct Touch {
  bool reads;
  bool writes;
  bool is_atomic;
};

class Checker {
 public:
  // Of the thread of the host that calls.
  Checker();

  void start_launch();
  void start_block(const Worker& worker);
  void sync_block() { clocks_.sync_block(); }
  void sync_warp(unsigned warp, uint64_t lanes) { clocks_.sync_warp(warp, lanes); }

  // Called on the kernel's fiber, before the access; does not come back from one that must not happen.
  void access(Worker& worker, uintptr_t address, size_t bytes, Touch touch, uintptr_t pc);

  // Where a fault's address is, for a report.
  std::string describe(const Worker& worker, const Fault& fault) const;

 private:
  struct Now;  // the access that is looked at

  bool is_static_shared(uintptr_t address) const { return address - static_begin_ < static_bytes_; }
  bool is_index(uintptr_t address) const;
  void look_at_shared(Now& now, Shadow& shadow, uintptr_t begin);
  void look_at_global(Now& now, Region& region);
  void look_at_word(Now& now, Cell& cell, uint8_t bytes);
  void compare(Now& now, const Record (&records)[2], uint8_t bytes, AccessKind kind);
  void remember(const Now& now, Record (&records)[2], uint8_t bytes) const;

  uintptr_t static_begin_ = 0;  // this thread's copies of all static shared arrays
  size_t static_bytes_ = 0;
  Shadow static_shadow_;
  Shadow dynamic_shadow_;
  uint32_t generation_ = 0;  // counts blocks
  Clocks clocks_;
  Region* last_region_ = nullptr;
};

}  // namespace oprt::emulator
