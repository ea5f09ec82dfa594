#include "emulator/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace oprt::emulator {

namespace {

constexpr size_t kOffsets = 64, kOffsetBytes = 192;  // of stack tops

size_t guard_bytes() {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

Fiber::Fiber(void (*entry)(), size_t number) : entry_(entry), offset_(number % kOffsets * kOffsetBytes) {
  void* memory = mmap(nullptr, kStackBytes + guard_bytes(), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mprotect(memory, guard_bytes(), PROT_NONE);  // a stack that overflows ends the process here
  stack_ = static_cast<char*>(memory) + guard_bytes();
  restart();
}

Fiber::~Fiber() {
  if (stack_ != nullptr) munmap(stack_ - guard_bytes(), kStackBytes + guard_bytes());
}

#if defined(OPRT_EMULATOR_UCONTEXT)

void Fiber::restart() {
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_;
  context_.uc_stack.ss_size = kStackBytes - offset_;
  context_.uc_link = nullptr;
  makecontext(&context_, entry_, 0);
}

void Fiber::switch_to(Fiber& to) { swapcontext(&context_, &to.context_); }

#else

// Saves what a call must preserve on the stack that it leaves. The floating-point modes are the same on all of them.
extern "C" void oprt_switch_stack(void** from, void* to) __attribute__((visibility("hidden")));
asm(R"(
.text
.globl oprt_switch_stack
.hidden oprt_switch_stack
.type oprt_switch_stack, @function
oprt_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size oprt_switch_stack, . - oprt_switch_stack
)");

void Fiber::restart() {
  constexpr size_t kSavedRegisters = 6, kWords = kSavedRegisters + 2;  // then entry, and its return address
  auto* words = reinterpret_cast<void**>(stack_ + kStackBytes - offset_) - kWords;
  memset(words, 0, kWords * sizeof *words);
  words[kSavedRegisters] = reinterpret_cast<void*>(entry_);
  stack_pointer_ = words;
}

void Fiber::switch_to(Fiber& to) { oprt_switch_stack(&stack_pointer_, to.stack_pointer_); }

#endif

}  // namespace oprt::emulator
