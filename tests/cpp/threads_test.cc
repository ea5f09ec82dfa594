#include "core/threads.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
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
  for (const int64_t count : {0, 1, 2, 63, 64, 65, 1000, 4097}) {
    for (const int64_t grain : {1, 2, 7, 64, 5000}) EXPECT_TRUE(visits_each_once(count, grain)) << count << " by " << grain;
  }
}

TEST(ParallelFor, ServesCallersAtOnceFromManyThreads) {
  std::atomic<int> failures{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < 8; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 300; ++round) failures += visits_each_once(500 + round % 7, 13) ? 0 : 1;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(failures, 0);
}

TEST(ParallelFor, RunsANestedCallOnTheThreadThatMakesIt) {
  std::atomic<int> elsewhere{0};
  std::atomic<int> visits{0};
  parallel_for(16, 1, [&](int64_t, int64_t) {
    const std::thread::id outer = std::this_thread::get_id();
    parallel_for(16, 1, [&](int64_t, int64_t) {
      ++visits;
      if (std::this_thread::get_id() != outer) ++elsewhere;
    });
  });
  EXPECT_EQ(visits, 256);
  EXPECT_EQ(elsewhere, 0);
}

TEST(ParallelFor, UsesAsManyThreadsAsItMay) {
  EXPECT_TRUE(holds_with_threads("4", [] {
    // Each piece waits for the others: it ends only where four threads run.
    std::atomic<int> arrived{0};
    parallel_for(4, 1, [&](int64_t, int64_t) {
      ++arrived;
      while (arrived < 4) std::this_thread::yield();
    });
    return num_threads() == 4;
  }));
}

TEST(ParallelFor, WorksInAForkedChild) {
  ASSERT_TRUE(visits_each_once(1000, 10));
  EXPECT_TRUE(holds_with_threads("3", [] { return visits_each_once(1000, 10) && num_threads() == 3; }));
}

TEST(ParallelFor, WorksInAChildForkedWhileAnotherThreadsJobRuns) {
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

TEST(ParallelFor, LeavesSignalsToTheProgramsThreads) {
  EXPECT_TRUE(holds_with_threads("4", [] {
    std::atomic<int> open{0};
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> arrived{0};
    parallel_for(4, 1, [&](int64_t, int64_t) {
      ++arrived;
      while (arrived < 4) std::this_thread::yield();
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

}  // namespace
}  // namespace oprt
