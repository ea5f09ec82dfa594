// The functions that instrumented code calls: those of ThreadSanitizer before each access, two of UndefinedBehaviorSanitizer after
// a check that failed. No sanitizer library is linked. Code that is no kernel calls them too; nobody looks then.
#include <cstring>

#include "emulator/check.h"
#include "emulator/worker.h"

namespace oprt::emulator {
namespace {

bool has_instrumented_code = false;

constexpr Touch kRead = {true, false, false}, kWrite = {false, true, false};
constexpr Touch kAtomicLoad = {true, false, true}, kAtomicStore = {false, true, true}, kAtomicUpdate = {true, true, true};

inline Worker* kernel_worker() {
  Worker* worker = this_worker;
  return worker == nullptr || worker->current == nullptr || worker->in_engine ? nullptr : worker;
}

inline void look(const volatile void* address, size_t bytes, Touch touch, void* pc) {
  Worker* worker = kernel_worker();
  if (worker == nullptr) return;
  worker->enter_engine();
  worker->last_access = reinterpret_cast<uintptr_t>(pc);
  worker->checker->access(*worker, reinterpret_cast<uintptr_t>(address), bytes, touch, reinterpret_cast<uintptr_t>(pc));
  worker->leave_engine();
}

// What the compiler passes to the handlers.
struct SourceLocation {
  const char* file;
  uint32_t line;
  uint32_t column;
};
struct TypeMismatch {
  SourceLocation location;
  const void* type;
  unsigned char log_alignment;
  unsigned char access;
};

void fail(Kind kind, uintptr_t address, size_t alignment, void* pc) {
  Worker* worker = kernel_worker();
  if (worker == nullptr) return;
  worker->enter_engine();
  worker->fail({.kind = kind,
                .at = worker->here(AccessKind::kNone, reinterpret_cast<uintptr_t>(pc)),
                .address = address,
                .alignment = alignment});
}

}  // namespace

bool is_checked() { return has_instrumented_code; }

}  // namespace oprt::emulator

using namespace oprt::emulator;  // NOLINT: the functions below have C linkage

#define OPRT_CALLER __builtin_return_address(0)

#define OPRT_HOOK(name, bytes, touch)                   \
  OPRT_HIDDEN void __tsan_##name##bytes(void* address); \
  void __tsan_##name##bytes(void* address) { look(address, bytes, touch, OPRT_CALLER); }
#define OPRT_HOOKS(bytes)                 \
  OPRT_HOOK(read, bytes, kRead)           \
  OPRT_HOOK(write, bytes, kWrite)         \
  OPRT_HOOK(unaligned_read, bytes, kRead) \
  OPRT_HOOK(unaligned_write, bytes, kWrite)

#define OPRT_ATOMIC_UPDATE(bits, operation)                                                                                  \
  OPRT_HIDDEN uint##bits##_t __tsan_atomic##bits##_##operation(volatile uint##bits##_t* address, uint##bits##_t value, int); \
  uint##bits##_t __tsan_atomic##bits##_##operation(volatile uint##bits##_t* address, uint##bits##_t value, int) {            \
    look(address, bits / 8, kAtomicUpdate, OPRT_CALLER);                                                                     \
    return OPRT_BUILTIN_##operation(address, value, __ATOMIC_SEQ_CST);                                                       \
  }
#define OPRT_BUILTIN_exchange __atomic_exchange_n
#define OPRT_BUILTIN_fetch_add __atomic_fetch_add
#define OPRT_BUILTIN_fetch_sub __atomic_fetch_sub
#define OPRT_BUILTIN_fetch_and __atomic_fetch_and
#define OPRT_BUILTIN_fetch_or __atomic_fetch_or

#define OPRT_COMPARE_EXCHANGE(bits, strength)                                                                                   \
  OPRT_HIDDEN int __tsan_atomic##bits##_compare_exchange_##strength(volatile uint##bits##_t* address, uint##bits##_t* expected, \
                                                                    uint##bits##_t value, int, int);                            \
  int __tsan_atomic##bits##_compare_exchange_##strength(volatile uint##bits##_t* address, uint##bits##_t* expected,             \
                                                        uint##bits##_t value, int, int) {                                       \
    look(address, bits / 8, kAtomicUpdate, OPRT_CALLER);                                                                        \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
  }

#define OPRT_ATOMICS(bits)                                                                                   \
  OPRT_HIDDEN uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* address, int);        \
  uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t* address, int) {                   \
    look(address, bits / 8, kAtomicLoad, OPRT_CALLER);                                                       \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  OPRT_HIDDEN void __tsan_atomic##bits##_store(volatile uint##bits##_t* address, uint##bits##_t value, int); \
  void __tsan_atomic##bits##_store(volatile uint##bits##_t* address, uint##bits##_t value, int) {            \
    look(address, bits / 8, kAtomicStore, OPRT_CALLER);                                                      \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                          \
  OPRT_ATOMIC_UPDATE(bits, exchange)                                                                         \
  OPRT_ATOMIC_UPDATE(bits, fetch_add)                                                                        \
  OPRT_ATOMIC_UPDATE(bits, fetch_sub)                                                                        \
  OPRT_ATOMIC_UPDATE(bits, fetch_and)                                                                        \
  OPRT_ATOMIC_UPDATE(bits, fetch_or)                                                                         \
  OPRT_COMPARE_EXCHANGE(bits, strong)                                                                        \
  OPRT_COMPARE_EXCHANGE(bits, weak)

extern "C" {

// Called by a constructor of each instrumented file.
OPRT_HIDDEN void __tsan_init();
void __tsan_init() { has_instrumented_code = true; }

OPRT_HOOKS(1)
OPRT_HOOKS(2)
OPRT_HOOKS(4)
OPRT_HOOKS(8)
OPRT_HOOKS(16)

OPRT_HIDDEN void __tsan_read_range(void* address, size_t bytes);
void __tsan_read_range(void* address, size_t bytes) { look(address, bytes, kRead, OPRT_CALLER); }
OPRT_HIDDEN void __tsan_write_range(void* address, size_t bytes);
void __tsan_write_range(void* address, size_t bytes) { look(address, bytes, kWrite, OPRT_CALLER); }

// Not asked for, or of no use in a kernel.
OPRT_HIDDEN void __tsan_func_entry(void*);
void __tsan_func_entry(void*) {}
OPRT_HIDDEN void __tsan_func_exit();
void __tsan_func_exit() {}
OPRT_HIDDEN void __tsan_vptr_update(void**, void*);
void __tsan_vptr_update(void**, void*) {}
OPRT_HIDDEN void __tsan_vptr_read(void**);
void __tsan_vptr_read(void**) {}

OPRT_ATOMICS(8)
OPRT_ATOMICS(16)
OPRT_ATOMICS(32)
OPRT_ATOMICS(64)

OPRT_HIDDEN void __tsan_atomic_thread_fence(int);
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
OPRT_HIDDEN void __tsan_atomic_signal_fence(int);
void __tsan_atomic_signal_fence(int) {}

OPRT_HIDDEN void __ubsan_handle_type_mismatch_v1(TypeMismatch* mismatch, void* address);
void __ubsan_handle_type_mismatch_v1(TypeMismatch* mismatch, void* address) {
  fail(Kind::kMisaligned, reinterpret_cast<uintptr_t>(address), size_t{1} << mismatch->log_alignment, OPRT_CALLER);
}
OPRT_HIDDEN void __ubsan_handle_out_of_bounds(void*, void* index);
void __ubsan_handle_out_of_bounds(void*, void* index) {
  fail(Kind::kArrayBounds, reinterpret_cast<uintptr_t>(index), 0, OPRT_CALLER);
}

// memcpy and its kin in instrumented code (simt/host_words.h).
OPRT_HIDDEN void* oprt_checked_memcpy(void* to, const void* from, size_t bytes);
void* oprt_checked_memcpy(void* to, const void* from, size_t bytes) {
  look(from, bytes, kRead, OPRT_CALLER);
  look(to, bytes, kWrite, OPRT_CALLER);
  return std::memcpy(to, from, bytes);
}
OPRT_HIDDEN void* oprt_checked_memmove(void* to, const void* from, size_t bytes);
void* oprt_checked_memmove(void* to, const void* from, size_t bytes) {
  look(from, bytes, kRead, OPRT_CALLER);
  look(to, bytes, kWrite, OPRT_CALLER);
  return std::memmove(to, from, bytes);
}
OPRT_HIDDEN void* oprt_checked_memset(void* to, int value, size_t bytes);
void* oprt_checked_memset(void* to, int value, size_t bytes) {
  look(to, bytes, kWrite, OPRT_CALLER);
  return std::memset(to, value, bytes);
}

}  // extern "C"
