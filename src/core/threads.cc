#include "core/threads.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include "core/thread_count.h"

namespace oprt {
namespace {

using Body = void (*)(void* context, int64_t begin, int64_t end);

// A sleeping thread takes 15 to 30 us to wake, so threads look for work this long before they sleep.
constexpr auto kSpin = std::chrono::microseconds(50);

// Set in workers, and in a thread while its job runs: parallel_for inside a body runs on the thread that it is called on.
thread_local bool inside_job = false;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Rounding to nearest, subnormals kept, nothing trapped; the caller's own setting comes back at the end of the scope.
class StandardFloats {
 public:
#if defined(__x86_64__)
  StandardFloats() : saved_(__builtin_ia32_stmxcsr()) {
    if (saved_ != kStandard) __builtin_ia32_ldmxcsr(kStandard);
  }
  ~StandardFloats() {
    if (saved_ != kStandard) __builtin_ia32_ldmxcsr(saved_);
  }

 private:
  static constexpr unsigned kStandard = 0x1f80;
  unsigned saved_;
#elif defined(__aarch64__)
  StandardFloats() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
  }
  ~StandardFloats() { asm volatile("msr fpcr, %0" : : "r"(saved_)); }

 private:
  uint64_t saved_ = 0;
#else
  StandardFloats() {}
#endif
 public:
  StandardFloats(const StandardFloats&) = delete;
  StandardFloats& operator=(const StandardFloats&) = delete;
};

// Spins until ready(); false when the time is over.
template <class Ready>
bool spin_until(Ready&& ready) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (ready()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// One job at a time. The ticket counts jobs in its upper bits and the job's claimed pieces in its lower ones: a thread owns a piece
// when it moves the ticket on by one, and that fails where the job it looked at is over. So a late worker can neither run a piece
// of a finished job nor keep its caller waiting.
class Pool {
 public:
  explicit Pool(int num_threads) : num_threads_(num_threads) {}

  int num_threads() const { return num_threads_; }

  // False where another thread's job runs, or where the ticket cannot count the pieces.
  bool try_run(int64_t count, int64_t grain, Body body, void* context) {
    const int64_t pieces = (count - 1) / grain + 1;
    if (pieces > kMaxPieces || busy_.exchange(true, std::memory_order_acquire)) return false;
    // Closed while the job is written: a late worker that reads a part of it then finds that its ticket is no longer the current
    // one.
    const uint64_t job = (ticket_.load(std::memory_order_relaxed) & ~kPieceMask) + kJob;
    ticket_.exchange(job | kPieceMask, std::memory_order_acq_rel);
    count_.store(count, std::memory_order_release);
    grain_.store(grain, std::memory_order_release);
    body_.store(body, std::memory_order_release);
    context_.store(context, std::memory_order_release);
    pieces_.store(pieces, std::memory_order_release);
    unfinished_.store(pieces, std::memory_order_relaxed);
    finished_.store(0, std::memory_order_relaxed);
    ticket_.store(job, std::memory_order_release);
    epoch_.fetch_add(1, std::memory_order_seq_cst);  // before notify_all looks for sleepers
    epoch_.notify_all();

    inside_job = true;
    work_on(job);
    inside_job = false;
    const auto all_done = [&] { return finished_.load(std::memory_order_acquire) != 0; };
    if (!spin_until(all_done)) finished_.wait(0, std::memory_order_acquire);
    busy_.store(false, std::memory_order_release);
    return true;
  }

  // Called once, by the thread whose pool it became.
  void start_workers() {
    // Signals are the program's: workers take none but those of a fault of their own.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      for (int i = 1; i < num_threads_; ++i) std::thread([this] { serve(); }).detach();
    } catch (const std::exception&) {
      // No more threads to be had: the caller and those that started do the work.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

 private:
  static constexpr int kPieceBits = 40;
  static constexpr uint64_t kJob = uint64_t{1} << kPieceBits;
  static constexpr uint64_t kPieceMask = kJob - 1;
  // The ticket's piece grows by one for each that is claimed and must stay below kPieceMask, the piece of a closed job.
  static constexpr int64_t kMaxPieces = int64_t{1} << (kPieceBits - 1);

  [[noreturn]] void serve() {
    const StandardFloats floats;
    inside_job = true;
    uint32_t seen = 0;
    while (true) {
      const auto has_news = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
      if (!spin_until(has_news)) epoch_.wait(seen, std::memory_order_acquire);
      seen = epoch_.load(std::memory_order_acquire);
      work_on(ticket_.load(std::memory_order_acquire) & ~kPieceMask);
    }
  }

  // Runs pieces of `job` until none is left to claim.
  void work_on(uint64_t job) {
    while (true) {
      uint64_t ticket = ticket_.load(std::memory_order_acquire);
      const Body body = body_.load(std::memory_order_acquire);
      void* const context = context_.load(std::memory_order_acquire);
      const int64_t count = count_.load(std::memory_order_acquire);
      const int64_t grain = grain_.load(std::memory_order_acquire);
      const int64_t pieces = pieces_.load(std::memory_order_acquire);
      const auto piece = static_cast<int64_t>(ticket & kPieceMask);
      if ((ticket & ~kPieceMask) != job || piece >= pieces) return;
      if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
      const int64_t begin = piece * grain;
      body(context, begin, begin + std::min(grain, count - begin));
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        // notify_one looks for sleepers with a load. A weaker store could become visible after that look, and a caller that went to
        // sleep in between would never wake.
        finished_.store(1, std::memory_order_seq_cst);
        finished_.notify_one();
      }
    }
  }

  const int num_threads_;
  std::atomic<bool> busy_{false};
  alignas(64) std::atomic<uint64_t> ticket_{0};
  alignas(64) std::atomic<uint32_t> epoch_{0};
  std::atomic<Body> body_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int64_t> count_{0};
  std::atomic<int64_t> grain_{1};
  std::atomic<int64_t> pieces_{0};
  alignas(64) std::atomic<int64_t> unfinished_{0};
  std::atomic<uint32_t> finished_{0};
};

std::atomic<Pool*> current_pool{nullptr};

// A forked child has none of the parent's workers, and a job of another thread may have been cut off: it starts over. Registered
// while the library loads, so that no fork can come between a first job and the registration.
[[gnu::constructor]] void start_over_after_fork() {
  pthread_atfork(nullptr, nullptr, [] {
    current_pool.store(nullptr, std::memory_order_release);
    inside_job = false;
  });
}

// The pool is never freed: workers may be in it when the process exits.
Pool& pool() {
  Pool* found = current_pool.load(std::memory_order_acquire);
  if (found != nullptr) [[likely]]
    return *found;
  auto* fresh = new Pool(count_threads());
  if (current_pool.compare_exchange_strong(found, fresh, std::memory_order_acq_rel)) {
    fresh->start_workers();
    return *fresh;
  }
  delete fresh;
  return *found;
}

}  // namespace

void start_threads() { pool(); }

int num_threads() { return pool().num_threads(); }

void parallel_for(int64_t count, int64_t grain, Body body, void* context) {
  if (count <= 0) return;
  const StandardFloats floats;
  const bool alone = inside_job || count <= grain || pool().num_threads() == 1;
  if (!alone && pool().try_run(count, grain, body, context)) return;
  int64_t begin = 0;
  for (; count - begin > grain; begin += grain) body(context, begin, begin + grain);
  body(context, begin, count);
}

}  // namespace oprt
