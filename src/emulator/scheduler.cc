// How the threads of a block take turns. A thread runs until it waits; one that never waits costs no switch, since the next one
// runs on the same fiber.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "emulator/check.h"
#include "emulator/worker.h"

__thread uint3 threadIdx;
__thread uint3 blockIdx;
__thread dim3 blockDim;
__thread dim3 gridDim;

namespace oprt::emulator {

__thread Worker* this_worker;

namespace {

constexpr size_t kMaxNotes = 16;

// splitmix64
uint64_t mix(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

bool is_same(const Site& a, const Site& b) {
  return a.line() == b.line() && (a.file_name() == b.file_name() || std::strcmp(a.file_name(), b.file_name()) == 0);
}

// Of other threads or blocks.
bool is_same_fault(const Report& a, const Report& b) {
  const auto is_same_line = [](const Place& x, const Place& y) { return x.line == y.line && x.file == y.file; };
  return a.kind == b.kind && is_same_line(a.at, b.at) &&
         std::equal(a.other.begin(), a.other.end(), b.other.begin(), b.other.end(), is_same_line);
}

}  // namespace

// Threads of a launch: what does not change from block to block.
void Worker::shape(const KernelCall& call) {
  blockDim = call.block;
  gridDim = call.grid;
  if (warp_size == call.warp_size && std::memcmp(&block_size, &call.block, sizeof block_size) == 0) return;
  warp_size = call.warp_size;
  block_size = call.block;
  const unsigned count = call.block.x * call.block.y * call.block.z;
  const auto lanes = static_cast<unsigned>(warp_size);
  threads.assign(count, {});
  for (unsigned i = 0; i < count; ++i) {
    Thread& thread = threads[i];
    thread.index = {i % block_size.x, i / block_size.x % block_size.y, i / block_size.x / block_size.y};
    thread.number = static_cast<uint16_t>(i);
    thread.warp = static_cast<uint16_t>(i / lanes);
    thread.lane = static_cast<uint8_t>(i % lanes);
  }
  live.assign((count + lanes - 1) / lanes, 0);
  waiting.assign(live.size(), 0);
  order.resize(count);
  ready_mask = 1;
  while (ready_mask <= count) ready_mask *= 2;
  ready.assign(ready_mask--, 0);
}

void Worker::order_threads() {
  std::iota(order.begin(), order.end(), uint16_t{0});
  if (launch->options.order == Order::kReverse) std::reverse(order.begin(), order.end());
  if (launch->options.order == Order::kShuffle) {
    uint64_t state = launch->options.seed ^ (block << 20);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[mix(state) % i]);
  }
}

void Worker::start_block(uint64_t id) {
  const KernelCall& call = launch->call;
  block = id;
  blockIdx = {static_cast<unsigned>(id % call.grid.x), static_cast<unsigned>(id / call.grid.x % call.grid.y),
              static_cast<unsigned>(id / call.grid.x / call.grid.y)};
  if (launch->options.order == Order::kShuffle) order_threads();
  const auto lanes = static_cast<unsigned>(warp_size);
  num_alive = static_cast<unsigned>(threads.size());
  for (Thread& thread : threads) {
    thread.state = State::kNew;
    thread.site = {};
  }
  for (size_t w = 0; w < live.size(); ++w) {
    const unsigned left = num_alive - static_cast<unsigned>(w) * lanes;
    live[w] = ~uint64_t{0} >> (64 - std::min(left, lanes));
    waiting[w] = 0;
  }
  num_started = ready_begin = ready_end = num_at_barrier = 0;
  barrier_site = nullptr;
  sites_differ = has_fault = false;
  is_hung = false;
  std::memset(dynamic_shared.get(), 0xff, call.shared_bytes);  // NaN in every floating-point type
  if (checker != nullptr) checker->start_block(*this);
}

void Worker::run_block(uint64_t id) {
  start_block(id);
  go_on(own, *next_thread());
  current = nullptr;
  in_engine = true;
  num_blocks_run = num_blocks_run + 1;
  if (!has_fault && notes.empty()) return;

  std::vector<Report> reports;
  if (has_fault) {
    reports.push_back(make_report(*this, fault));
    for (Thread& thread : threads) thread.fiber = nullptr;
    free_fibers.clear();
    for (const auto& fiber : fibers) {
      fiber->restart();
      free_fibers.push_back(fiber.get());
    }
  }
  // A missing barrier is both: the race says more.
  std::stable_partition(notes.begin(), notes.end(), [](const Fault& note) { return note.kind == Kind::kRace; });
  for (const Fault& note : notes) reports.push_back(make_report(*this, note));
  notes.clear();
  const std::lock_guard lock(launch->mutex);
  for (Report& report : reports) {
    const auto is_alike = [&](const Report& known) { return is_same_fault(known, report); };
    if (std::none_of(launch->reports.begin(), launch->reports.end(), is_alike)) launch->reports.push_back(std::move(report));
  }
  launch->has_failed = true;
}

void Worker::run(Launch& to_run) {
  launch = &to_run;
  shape(launch->call);
  order_threads();
  if (checker != nullptr) checker->start_launch();
  watch(launch->options.timeout_s);
  while (!launch->has_failed.load(std::memory_order_relaxed)) {
    const uint64_t id = launch->next_block.fetch_add(1, std::memory_order_relaxed);
    if (id >= launch->num_blocks) break;
    run_block(id);
  }
  launch = nullptr;
}

// On a fiber: the threads that start on it, one after another.
void Worker::enter_fiber() { this_worker->fiber_main(); }

void Worker::fiber_main() {
  for (;;) {
    Thread& thread = *current;
    leave_engine();
    launch->call.run(launch->call.arguments);
    enter_engine();
    finish(thread);
    Fiber* fiber = thread.fiber;
    thread.fiber = nullptr;
    Thread* next = next_thread();
    if (next != nullptr && next->fiber == nullptr) {
      next->fiber = fiber;
      make_current(*next);
      continue;
    }
    free_fibers.push_back(fiber);
    if (next != nullptr) {
      go_on(*fiber, *next);
      continue;
    }
    if (num_alive > 0) fail({.kind = Kind::kDeadlock, .at = here(AccessKind::kNone, 0)});
    fiber->switch_to(own);
  }
}

void Worker::fail(const Fault& what) {
  in_engine = true;
  has_fault = true;
  fault = what;
  Fiber abandoned;
  abandoned.switch_to(own);
  __builtin_unreachable();
}

void Worker::note(const Fault& what) {
  const auto is_known = [&](const Fault& known) {
    return known.kind == what.kind && known.at.pc == what.at.pc && known.other.pc == what.other.pc;
  };
  if (notes.size() < kMaxNotes && std::none_of(notes.begin(), notes.end(), is_known)) notes.push_back(what);
}

void Worker::fail_hung(uintptr_t pc) { fail({.kind = Kind::kHang, .at = here(AccessKind::kNone, pc)}); }

Thread* Worker::next_thread() {
  if (ready_begin != ready_end) return &threads[ready[ready_begin++ & ready_mask]];
  if (num_started < order.size()) return &threads[order[num_started++]];
  return nullptr;
}

void Worker::make_ready(Thread& thread) {
  thread.state = State::kReady;
  ready[ready_end++ & ready_mask] = thread.number;
}

void Worker::make_current(Thread& thread) {
  current = &thread;
  threadIdx = thread.index;
  last_access = 0;
}

void Worker::go_on(Fiber& from, Thread& thread) {
  if (thread.fiber == nullptr) {
    if (free_fibers.empty()) {
      fibers.push_back(std::make_unique<Fiber>(enter_fiber, fibers.size()));
      free_fibers.push_back(fibers.back().get());
    }
    thread.fiber = free_fibers.back();
    free_fibers.pop_back();
  }
  make_current(thread);
  from.switch_to(*thread.fiber);
}

void Worker::wait(Thread& thread) {
  Thread* next = next_thread();
  if (next == nullptr) fail({.kind = Kind::kDeadlock, .at = here(AccessKind::kNone, 0)});
  go_on(*thread.fiber, *next);
}

void Worker::finish(Thread& thread) {
  thread.state = State::kDone;
  --num_alive;
  live[thread.warp] &= ~(uint64_t{1} << thread.lane);
  const Thread* warp = &threads[thread.warp * static_cast<size_t>(warp_size)];
  // A lane that has ended is not waited for.
  for (uint64_t lanes = waiting[thread.warp]; lanes != 0; lanes &= waiting[thread.warp]) {
    const int lane = __builtin_ctzll(lanes);
    if (!complete_exchange(warp[lane])) lanes &= lanes - 1;
  }
  if (num_at_barrier > 0 && num_at_barrier == num_alive) release_barrier(nullptr);
}

void Worker::sync_block(const Site& site) {
  enter_engine();
  last_access = 0;
  Thread& thread = *current;
  thread.site = site;
  if (num_at_barrier == 0) {
    barrier_site = &thread.site;
  } else if (!is_same(*barrier_site, site)) {
    sites_differ = true;
  }
  thread.state = State::kAtBarrier;
  if (++num_at_barrier == num_alive) {
    release_barrier(&thread);
  } else {
    wait(thread);
  }
  thread.state = State::kReady;
  leave_engine();
}

// All that live have come; `last` goes on by itself.
void Worker::release_barrier(const Thread* last) {
  if (sites_differ || num_alive != threads.size()) {
    Fault what = {.kind = Kind::kDivergentBarrier, .at = here(AccessKind::kNone, 0)};
    what.at.site = barrier_site;
    fail(what);
  }
  num_at_barrier = 0;
  if (checker != nullptr) checker->sync_block();
  for (const uint16_t number : order) {
    if (&threads[number] != last) make_ready(threads[number]);
  }
}

}  // namespace oprt::emulator
