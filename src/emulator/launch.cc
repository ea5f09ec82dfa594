// Launches: blocks over threads of the host, one launch at a time.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <new>
#include <thread>

#include "core/error.h"
#include "emulator/check.h"
#include "emulator/worker.h"

namespace oprt::emulator {
namespace {

constexpr uint64_t kMaxBlocks = uint64_t{1} << 31;
constexpr size_t kSharedAlignment = 1024;

std::mutex report_mutex;
std::vector<Report> all_reports;

Worker& worker_of_this_thread() {
  static thread_local std::unique_ptr<Worker> owner;
  if (owner == nullptr) owner = std::make_unique<Worker>();
  return *(this_worker = owner.get());
}

// The launching thread runs blocks too; these are the others. They wait for ever: the process ends around them.
class Helpers {
 public:
  void run(Launch& launch, unsigned count) {
    {
      const std::lock_guard lock(mutex_);
      while (num_threads_ < count) start();
      launch_ = &launch;
      num_wanted_ = count;
      ++generation_;
    }
    if (count > 0) begin_.notify_all();
    worker_of_this_thread().run(launch);
    std::unique_lock lock(mutex_);
    num_wanted_ = 0;
    end_.wait(lock, [&] { return num_busy_ == 0; });
  }

 private:
  // Signals are the host's own threads' business, but for the watchdog's.
  void start() {
    sigset_t blocked, before;
    sigfillset(&blocked);
    sigdelset(&blocked, SIGURG);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    std::thread([this] { serve(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ++num_threads_;
  }

  void serve() {
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      begin_.wait(lock, [&] { return generation_ != seen && num_wanted_ > 0; });
      seen = generation_;
      --num_wanted_;
      ++num_busy_;
      Launch& launch = *launch_;
      lock.unlock();
      worker_of_this_thread().run(launch);
      lock.lock();
      if (--num_busy_ == 0) end_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable begin_, end_;
  Launch* launch_ = nullptr;
  uint64_t generation_ = 0;
  unsigned num_threads_ = 0, num_wanted_ = 0, num_busy_ = 0;
};

// Of this process: a fork has none of its parent's threads.
Helpers& helpers() {
  static Helpers* current = nullptr;
  static pid_t owner = 0;
  if (owner != getpid()) {
    current = new Helpers;
    owner = getpid();
  }
  return *current;
}

void check(const KernelCall& call) {
  const dim3 grid = call.grid, block = call.block;
  const uint64_t num_blocks = uint64_t{grid.x} * grid.y * grid.z, num_threads = uint64_t{block.x} * block.y * block.z;
  OPRT_CHECK(num_blocks > 0 && num_blocks < kMaxBlocks && grid.y <= 65535 && grid.z <= 65535, "", OPRT_ERR_DEVICE_ERROR,
             "kernel launch: a grid of %u x %u x %u blocks, expected 1 to 2^31 - 1", grid.x, grid.y, grid.z);
  OPRT_CHECK(num_threads > 0 && num_threads <= kMaxBlockThreads && block.z <= 64, "", OPRT_ERR_DEVICE_ERROR,
             "kernel launch: a block of %u x %u x %u threads, expected 1 to %d", block.x, block.y, block.z, kMaxBlockThreads);
  check_shared_bytes(call.shared_bytes);
}

}  // namespace

Worker::Worker()
    : dynamic_shared(static_cast<unsigned char*>(std::aligned_alloc(kSharedAlignment, kMaxSharedBytes)),
                     [](void* memory) { std::free(memory); }) {
  if (dynamic_shared == nullptr) throw std::bad_alloc();
  if (is_checked()) checker = std::make_unique<Checker>();
}

Worker::~Worker() {
  this_worker = nullptr;
  if (timer_owner == getpid()) timer_delete(timer);
}

void launch(const KernelCall& call) {
  check(call);
  const Options settings = options();
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  Launch state = {.call = call, .options = settings, .num_blocks = uint64_t{call.grid.x} * call.grid.y * call.grid.z};
  prepare_check(state);
  static const unsigned processors = std::max(1u, std::thread::hardware_concurrency());
  const uint64_t workers = settings.workers > 0 ? static_cast<unsigned>(settings.workers) : processors;
  helpers().run(state, static_cast<unsigned>(std::min(workers, state.num_blocks)) - 1);
  if (state.reports.empty()) return;

  const Error error(OPRT_ERR_DEVICE_ERROR, "", "%s", state.reports.front().text.c_str());
  const std::lock_guard report_lock(report_mutex);
  for (Report& report : state.reports) all_reports.push_back(std::move(report));
  throw error;
}

std::vector<Report> take_reports() {
  const std::lock_guard lock(report_mutex);
  return std::move(all_reports);
}

void check_shared_bytes(size_t shared_bytes) {
  OPRT_CHECK(shared_bytes <= kMaxSharedBytes, "", OPRT_ERR_DEVICE_ERROR,
             "%zu bytes of shared memory for a block, expected at most %zu", shared_bytes, kMaxSharedBytes);
}

unsigned char* dynamic_shared() { return this_worker->dynamic_shared.get(); }

void sync_block(Site site) { this_worker->sync_block(site); }

uint64_t exchange(Exchange kind, uint64_t mask, uint64_t value, int argument, int width, Site site) {
  return this_worker->exchange_lanes(kind, mask, value, argument, width, site);
}

[[gnu::noinline]] void misaligned(const void* address, size_t alignment) {
  this_worker->enter_engine();
  const auto pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  this_worker->fail({.kind = Kind::kMisaligned,
                     .at = this_worker->here(AccessKind::kNone, pc),
                     .address = reinterpret_cast<uintptr_t>(address),
                     .alignment = alignment});
}

}  // namespace oprt::emulator
