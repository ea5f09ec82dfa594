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

}  // namespace

void combine_lanes(Thread* warp, uint64_t lanes) {
  const Exchange kind = warp[__builtin_ctzll(lanes)].exchange;
  if (kind == Exchange::kSync) return;
  if (kind <= Exchange::kShuffleXor) return shuffle_lanes(warp, lanes);
  const uint64_t result = vote(kind, warp, lanes);
  for_each_lane(lanes, [&](int lane) { warp[lane].value = result; });
}

}  // namespace oprt::emulator
