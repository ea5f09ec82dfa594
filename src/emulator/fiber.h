// Stacks to switch between on one thread of the host.
#pragma once

#include <cstddef>

// A switch in assembler where there is one; OPRT_EMULATOR_UCONTEXT asks for the portable one, which is ten times slower.
#if !defined(__x86_64__) && !defined(OPRT_EMULATOR_UCONTEXT)
#define OPRT_EMULATOR_UCONTEXT
#endif

#if defined(OPRT_EMULATOR_UCONTEXT)
#include <ucontext.h>
#endif

namespace oprt::emulator {

class Fiber {
 public:
  // The stack that this thread of the host runs on: where switches come back to.
  Fiber() = default;

  // A stack of its own, that enters entry() when it is first switched to; entry() never returns. `number` shifts the stack's top,
  // so that the busy ends of many stacks do not share cache sets. Throws bad_alloc.
  Fiber(void (*entry)(), size_t number);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Forgets what is on the stack; the next switch enters entry() again.
  void restart();

  bool holds(const void* address) const { return static_cast<size_t>(static_cast<const char*>(address) - stack_) < kStackBytes; }

  // Saves where this fiber is, and goes on where `to` was.
  void switch_to(Fiber& to);

 private:
  static constexpr size_t kStackBytes = 128 * 1024;

  char* stack_ = nullptr;
  void (*entry_)() = nullptr;
  size_t offset_ = 0;
#if defined(OPRT_EMULATOR_UCONTEXT)
  ucontext_t context_ = {};
#else
  void* stack_pointer_ = nullptr;
#endif
};

}  // namespace oprt::emulator
