#include "core/threads.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/thread_count.h"

namespace oprt {
namespace {

// Whether every index of [0, count) is visited once, in pieces of `grain`.
bool visits_each_once(int64_t count, int64_t grain) {
  std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
  std::atomic<bool> well_cut{true};
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    if (begin % grain != 0 || end != std::min(begin + grain, count)) well_cut = false;
    for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
  });
  return well_cut && std::all_of(visits.begin(), visits.end(), [](const auto& n) { return n == 1; });
}

// Runs `body` in a forked child, which leaves by `leave`; whether it returned true there.
bool holds_in_child(const std::function<bool()>& body, void (*leave)(int) = _exit) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    leave(body() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// A child starts a pool of its own, so the variable counts there.
bool holds_with_threads(const char* value, const std::function<bool()>& body) {
  return holds_in_child([&] {
    setenv("OPRT_NUM_THREADS", value, 1);
    return body();
  });
}

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const char* threads : {"1", "4"}) {
    EXPECT_TRUE(holds_with_threads(threads, [] {
      for (const int64_t count : {0, 1, 2, 63, 64, 65, 1000, 4097}) {
        for (const int64_t grain : {1, 2, 7, 64, 5000}) {
          if (!visits_each_once(count, grain)) return false;
        }
      }
      return true;
    })) << threads;
  }
}

TEST(ParallelFor, GivesEachPieceToOneThreadOfThoseThatShareAJob) {
  EXPECT_TRUE(holds_with_threads("4", [] {
    constexpr int kPieces = 20000;
    const std::thread::id caller = std::this_thread::get_id();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    // On a busy machine the caller does most jobs alone, so this goes on until enough of them were shared.
    int shared = 0;
    while (shared < 30 && std::chrono::steady_clock::now() < end) {
      std::vector<std::atomic<int>> visits(kPieces);
      std::atomic<int> by_workers{0};
      parallel_for(kPieces, 1, [&](int64_t piece, int64_t) {
        ++visits[static_cast<size_t>(piece)];
        if (std::this_thread::get_id() != caller) ++by_workers;
      });
      if (!std::all_of(visits.begin(), visits.end(), [](const auto& n) { return n == 1; })) return false;
      if (by_workers > 0 && by_workers < kPieces) ++shared;
    }
    return shared > 0;
  }));
}

TEST(ParallelFor, ServesCallersAtOnceFromManyThreads) {
  EXPECT_TRUE(holds_with_threads("4", [] {
    std::atomic<int> failures{0};
    std::vector<std::thread> callers;
    for (int t = 0; t < 8; ++t) {
      callers.emplace_back([&] {
        for (int round = 0; round < 300; ++round) failures += visits_each_once(500 + round % 7, 13) ? 0 : 1;
      });
    }
    for (std::thread& caller : callers) caller.join();
    return failures == 0;
  }));
}

TEST(ParallelFor, RunsACallOnItsOwnThreadWhileAnothersJobRuns) {
  EXPECT_TRUE(holds_with_threads("4", [] {
    std::atomic<int> running{0};
    std::atomic<bool> stop{false};
    std::thread other([&] {
      parallel_for(2, 1, [&](int64_t, int64_t) {
        ++running;
        while (!stop) std::this_thread::yield();
      });
    });
    while (running < 2) std::this_thread::yield();
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> alone{true};
    parallel_for(100, 1, [&](int64_t begin, int64_t) {
      if (std::this_thread::get_id() != caller) alone = false;
      if (begin == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));  // time for two idle workers to step in
    });
    stop = true;
    other.join();
    return alone && visits_each_once(1000, 10);
  }));
}

// The pieces of the outer job that meet run on two threads: one of them is a worker, one the caller.
TEST(ParallelFor, RunsANestedCallOnTheThreadThatMakesIt) {
  EXPECT_TRUE(holds_with_threads("2", [] {
    std::atomic<int> arrived{0};
    std::atomic<int> elsewhere{0};
    std::atomic<int> visits{0};
    parallel_for(2, 1, [&](int64_t, int64_t) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
      const std::thread::id outer = std::this_thread::get_id();
      parallel_for(16, 1, [&](int64_t, int64_t) {
        ++visits;
        if (std::this_thread::get_id() != outer) ++elsewhere;
      });
    });
    return visits == 32 && elsewhere == 0;
  }));
}

TEST(ParallelFor, CountsPiecesUpToTheEndOfInt64) {
  std::atomic<int64_t> visited{0};
  std::atomic<int> pieces{0};
  const auto count = [&](int64_t begin, int64_t end) {
    visited += end - begin;
    ++pieces;
  };
  parallel_for(INT64_MAX, INT64_MAX / 2, count);
  EXPECT_EQ(visited, INT64_MAX);
  EXPECT_EQ(pieces, 3);
  EXPECT_TRUE(holds_with_threads("1", [&] {
    visited = 0;
    parallel_for(INT64_MAX, INT64_MAX / 2, count);
    return visited == INT64_MAX;
  }));
}

// A job of four pieces, each of which waits for the others: it ends only where four threads run it.
void meet_on_four_threads() {
  std::atomic<int> arrived{0};
  parallel_for(4, 1, [&](int64_t, int64_t) {
    ++arrived;
    while (arrived < 4) std::this_thread::yield();
  });
}

TEST(ParallelFor, UsesAsManyThreadsAsItMay) {
  EXPECT_TRUE(holds_with_threads("4", [] {
    meet_on_four_threads();
    return num_threads() == 4;
  }));
}

TEST(ParallelFor, WakesWorkersThatWentToSleep) {
  EXPECT_TRUE(holds_with_threads("4", [] {
    for (int round = 0; round < 30; ++round) {
      meet_on_four_threads();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }));
}

TEST(ParallelFor, WaitsForAWorkerThatTakesLong) {
  EXPECT_TRUE(holds_with_threads("2", [] {
    const std::thread::id caller = std::this_thread::get_id();
    for (int round = 0; round < 10; ++round) {
      std::atomic<int> arrived{0};
      std::atomic<int> done{0};
      parallel_for(2, 1, [&](int64_t, int64_t) {
        ++arrived;
        while (arrived < 2) std::this_thread::yield();  // so that the worker has one of the pieces
        if (std::this_thread::get_id() != caller) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++done;
      });
      if (done != 2) return false;
    }
    return true;
  }));
}

TEST(ParallelFor, DoesAllTheWorkWhereNoThreadCanBeStarted) {
  EXPECT_TRUE(holds_with_threads("4", [] {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, size_t{1} << 47);  // no address space holds such a stack
    if (pthread_setattr_default_np(&attributes) != 0) return false;
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> alone{true};
    parallel_for(8, 1, [&](int64_t, int64_t) {
      if (std::this_thread::get_id() != caller) alone = false;
    });
    return alone && visits_each_once(1000, 10);
  }));
}

TEST(ParallelFor, WorksInAForkedChild) {
  ASSERT_TRUE(visits_each_once(1000, 10));
  EXPECT_TRUE(holds_with_threads("3", [] { return visits_each_once(1000, 10) && num_threads() == 3; }));
}

TEST(ParallelFor, WorksInAChildForkedWhileAnotherThreadsJobRuns) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends a forked child whose new thread gets the id of one of the parent's";
#endif
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop) visits_each_once(2000, 3);
  });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(holds_with_threads("2", [] { return visits_each_once(1000, 10); }));
  stop = true;
  busy.join();
}

TEST(ParallelFor, LetsTheProcessExitWhileWorkersLive) {
  EXPECT_TRUE(holds_in_child([] { return visits_each_once(1000, 10); }, std::exit));
}

TEST(ParallelFor, LetsTheProcessExitWhileAnotherThreadsJobRuns) {
  EXPECT_TRUE(holds_in_child(
      [] {
        std::atomic<bool> running{false};
        std::thread([&] {
          while (true) parallel_for(1000, 10, [&](int64_t, int64_t) { running = true; });
        }).detach();
        while (!running) std::this_thread::yield();
        std::exit(0);
        return false;
      },
      std::exit));
}

#if defined(__x86_64__)
TEST(ParallelFor, KeepsSubnormalsWhateverTheCallerHasSet) {
  const unsigned before = __builtin_ia32_stmxcsr();
  constexpr unsigned kFlushToZero = 0x8040;
  __builtin_ia32_ldmxcsr(before | kFlushToZero);
  volatile float smallest = 1e-40f;
  std::atomic<int> flushed{0};
  parallel_for(1000, 1, [&](int64_t, int64_t) { flushed += smallest * 0.5f == 0.0f ? 1 : 0; });
  parallel_for(1, 1, [&](int64_t, int64_t) { flushed += smallest * 0.5f == 0.0f ? 1 : 0; });
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(flushed, 0);
  EXPECT_EQ(after & kFlushToZero, kFlushToZero) << "the caller's setting comes back";
}
#endif

TEST(ParallelFor, LeavesSignalsToTheProgramsThreads) {
  EXPECT_TRUE(holds_with_threads("4", [] {
    std::atomic<int> open{0};
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> arrived{0};
    parallel_for(4, 1, [&](int64_t, int64_t) {
      ++arrived;
      while (arrived < 4) std::this_thread::yield();  // so that each thread takes one piece
      if (std::this_thread::get_id() == caller) return;
      sigset_t blocked;
      pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
      if (sigismember(&blocked, SIGTERM) == 0 || sigismember(&blocked, SIGUSR1) == 0) ++open;
    });
    return open == 0;
  }));
}

TEST(CountThreads, TakesTheVariableFromOneTo256) {
  EXPECT_TRUE(holds_with_threads("1", [] { return count_threads() == 1; }));
  EXPECT_TRUE(holds_with_threads("256", [] { return count_threads() == 256; }));
}

TEST(CountThreads, IgnoresTextThatIsNoSuchNumber) {
  unsetenv("OPRT_NUM_THREADS");
  const int usual = count_threads();
  for (const char* text : {"", "0", "257", "-1", "2 ", "two", "3.5", "99999999999999999999"}) {
    EXPECT_TRUE(holds_with_threads(text, [&] { return count_threads() == usual; })) << '"' << text << '"';
  }
}

TEST(CountThreads, SaysWhatItIgnoresOnlyWhenAskedTo) {
  const auto note = [](const char* verbose) {
    return holds_with_threads("many", [verbose] {
      if (verbose != nullptr) setenv("OPRT_VERBOSE", verbose, 1);
      if (verbose == nullptr) unsetenv("OPRT_VERBOSE");
      testing::internal::CaptureStderr();
      count_threads();
      const std::string expected =
          verbose == nullptr ? "" : "oprt threads: OPRT_NUM_THREADS is \"many\", expected 1..256; ignored\n";
      return testing::internal::GetCapturedStderr() == expected;
    });
  };
  EXPECT_TRUE(note(nullptr));
  EXPECT_TRUE(note("dispatch"));
}

TEST(CountThreads, StaysWithinTheAffinityMask) {
  EXPECT_TRUE(holds_with_threads("", [] {
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    int first = 0;
    while (!CPU_ISSET(first, &mask)) ++first;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    sched_setaffinity(0, sizeof mask, &mask);
    return count_threads() == 1;
  }));
}

}  // namespace
}  // namespace oprt
