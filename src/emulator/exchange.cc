// Shuffles, votes and barriers of a warp: who must come, and what each gets.
#include "emulator/check.h"
#include "emulator/worker.h"

namespace oprt::emulator {
namespace {

constexpr uint64_t kNobody = ~uint64_t{0};  // what a lane reads from one that does not take part

// The lane that `thread` reads from.
int source_lane(const Thread& thread) {
  const int lane = thread.lane, first = lane & ~(thread.width - 1), last = first + thread.width - 1;
  switch (thread.exchange) {
    case Exchange::kShuffle:
      return first | (thread.argument & (thread.width - 1));
    case Exchange::kShuffleUp:
      return lane - thread.argument < first ? lane : lane - thread.argument;
    case Exchange::kShuffleDown:
      return lane + thread.argument > last ? lane : lane + thread.argument;
    default:
      return (lane ^ thread.argument) > last ? lane : lane ^ thread.argument;
  }
}

template <class Body>
void for_each_lane(uint64_t lanes, Body&& body) {
  for (; lanes != 0; lanes &= lanes - 1) body(__builtin_ctzll(lanes));
}

void shuffle_lanes(Thread* warp, uint64_t lanes) {
  uint64_t values[64];
  for_each_lane(lanes, [&](int lane) { values[lane] = warp[lane].value; });
  for_each_lane(lanes, [&](int lane) {
    const int source = source_lane(warp[lane]);
    warp[lane].value = (lanes >> source & 1) != 0 ? values[source] : kNobody;
  });
}

uint64_t vote(Exchange kind, const Thread* warp, uint64_t lanes) {
  uint64_t votes = 0;
  for_each_lane(lanes, [&](int lane) { votes |= (warp[lane].value & 1) << lane; });
  switch (kind) {
    case Exchange::kBallot:
      return votes;
    case Exchange::kAny:
      return votes != 0;
    default:
      return votes == lanes;
  }
}

// The results of an exchange in which the lanes of `lanes` take part, whose threads start at `warp`.
void combine_lanes(Thread* warp, uint64_t lanes) {
  const Exchange kind = warp[__builtin_ctzll(lanes)].exchange;
  if (kind == Exchange::kSync) return;
  if (kind <= Exchange::kShuffleXor) return shuffle_lanes(warp, lanes);
  const uint64_t result = vote(kind, warp, lanes);
  for_each_lane(lanes, [&](int lane) { warp[lane].value = result; });
}

}  // namespace

void Worker::check_mask(const Thread& thread) {
  const bool is_width = thread.width >= 1 && thread.width <= warp_size && (thread.width & (thread.width - 1)) == 0;
  if (is_width && (thread.mask >> thread.lane & 1) != 0) [[likely]]
    return;
  Fault what = {.kind = Kind::kWrongMask, .at = here(AccessKind::kNone, 0)};
  what.at.site = &thread.site;
  fail(what);
}

uint64_t Worker::exchange_lanes(Exchange kind, uint64_t mask, uint64_t value, int argument, int width, const Site& site) {
  enter_engine();
  last_access = 0;
  Thread& thread = *current;
  thread.exchange = kind;
  thread.mask = mask;
  thread.value = value;
  thread.argument = argument;
  thread.width = width;
  thread.site = site;
  thread.state = State::kInExchange;
  check_mask(thread);
  waiting[thread.warp] |= uint64_t{1} << thread.lane;
  if (!complete_exchange(thread)) wait(thread);
  thread.state = State::kReady;
  leave_engine();
  return thread.value;
}

// If every lane of the thread's mask waits in the same exchange: computes the results and lets them go on.
bool Worker::complete_exchange(const Thread& thread) {
  const uint64_t lanes = thread.mask & live[thread.warp];
  if (lanes == 0 || (waiting[thread.warp] & lanes) != lanes) return false;
  Thread* warp = &threads[thread.warp * static_cast<size_t>(warp_size)];
  for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
    const Thread& other = warp[__builtin_ctzll(rest)];
    if (other.exchange != thread.exchange || other.mask != thread.mask) return false;
  }
  combine_lanes(warp, lanes);
  if (thread.exchange == Exchange::kSync && checker != nullptr) checker->sync_warp(thread.warp, lanes);
  waiting[thread.warp] &= ~lanes;
  const bool is_reverse = launch->options.order == Order::kReverse;
  for (uint64_t rest = lanes; rest != 0;) {
    const int lane = is_reverse ? 63 - __builtin_clzll(rest) : __builtin_ctzll(rest);
    rest &= ~(uint64_t{1} << lane);
    if (&warp[lane] != current) make_ready(warp[lane]);
  }
  return true;
}

}  // namespace oprt::emulator
