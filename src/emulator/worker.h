// One thread of the host that runs blocks: the block's threads, and the fibers that those which wait are parked on.
#pragma once

#include <signal.h>
#include <time.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/emulator.h"
#include "emulator/fault.h"
#include "emulator/fiber.h"

namespace oprt::emulator {

class Checker;
class MemoryMap;

struct Launch {
  const KernelCall& call;
  Options options;
  uint64_t num_blocks;
  MemoryMap* memory = nullptr;  // what the kernel may touch; only in a checked build
  uint32_t serial = 0;          // counts checked launches
  std::atomic<uint64_t> next_block{0};
  std::atomic<bool> has_failed{false};
  std::mutex mutex = {};
  std::vector<Report> reports = {};
};

enum class State : uint8_t { kNew, kReady, kAtBarrier, kInExchange, kDone };

struct Thread {
  Fiber* fiber = nullptr;  // from when it first waits, or runs, until it ends
  uint3 index = {};
  uint16_t number = 0;
  uint16_t warp = 0;
  uint8_t lane = 0;
  State state = State::kNew;
  Exchange exchange = Exchange::kSync;
  int argument = 0;
  int width = 0;
  uint64_t mask = 0;
  uint64_t value = 0;
  Site site;  // of what it waits in
};

struct Worker {
  Worker();
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs blocks of the launch until there are no more or one has failed.
  void run(Launch& launch);

  // Called on the fiber of the thread that runs.
  void sync_block(const Site& site);
  uint64_t exchange_lanes(Exchange kind, uint64_t mask, uint64_t value, int argument, int width, const Site& site);
  // Leaves the block as it is; its report comes first.
  [[noreturn]] void fail(const Fault& fault);
  // For a fault that the kernel survives. The same code is reported once a launch.
  void note(const Fault& fault);
  Access here(AccessKind kind, uintptr_t pc) const { return {kind, block, current->number, pc, nullptr}; }

  // The watchdog may end kernel code anywhere, the engine only where it is left.
  void enter_engine() { in_engine = true; }
  void leave_engine() {
    in_engine = false;
    if (is_hung) [[unlikely]]
      fail_hung(0);
  }
  // At `pc`, or in what it last called where that is 0 or in the engine.
  [[noreturn]] void fail_hung(uintptr_t pc);
  // Called from time to time, in a signal handler; `pc` is what the signal interrupted.
  void look_for_hang(uintptr_t pc);

  Launch* launch = nullptr;
  uint64_t block = 0;
  Thread* current = nullptr;  // null outside a kernel
  std::vector<Thread> threads;
  unsigned num_alive = 0;
  std::vector<uint64_t> live;     // per warp, by lane: has not ended
  std::vector<uint64_t> waiting;  // per warp, by lane: in an exchange
  std::unique_ptr<unsigned char[], void (*)(void*)> dynamic_shared;
  std::unique_ptr<Checker> checker;  // null in a build that is not checked
  uintptr_t last_access = 0;         // its place in the code; 0 if the thread has called something else since
  volatile bool in_engine = true;
  volatile bool is_hung = false;
  volatile uint64_t num_blocks_run = 0;

 private:
  void shape(const KernelCall& call);
  void order_threads();
  void start_block(uint64_t id);
  void run_block(uint64_t id);
  void fiber_main();
  static void enter_fiber();
  void finish(Thread& thread);
  void release_barrier(const Thread* last);
  bool complete_exchange(const Thread& thread);
  void check_mask(const Thread& thread);
  Thread* next_thread();
  void make_ready(Thread& thread);
  void make_current(Thread& thread);
  void go_on(Fiber& from, Thread& thread);
  void wait(Thread& thread);
  void watch(double timeout_s);

  std::vector<uint16_t> order;  // of the block's threads
  unsigned num_started = 0;     // of order
  std::vector<uint16_t> ready;  // a ring
  unsigned ready_begin = 0, ready_end = 0, ready_mask = 0;
  unsigned num_at_barrier = 0;
  const Site* barrier_site = nullptr;  // where the first thread waits
  bool sites_differ = false;
  int warp_size = 0;
  dim3 block_size = {0, 0, 0};

  Fiber own;  // the host's stack
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Fiber*> free_fibers;

  bool has_fault = false;
  Fault fault;               // what ended the block
  std::vector<Fault> notes;  // what did not

  timer_t timer = nullptr;
  pid_t timer_owner = 0;
  double timer_seconds = 0;
  uint64_t num_blocks_at_tick = 0;
  volatile int ticks_without_block = 0;
};

// Of this thread of the host; null before its first launch.
extern __thread Worker* this_worker OPRT_HIDDEN;

}  // namespace oprt::emulator
