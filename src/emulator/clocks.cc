#include "emulator/clocks.h"

#include <algorithm>

#include "emulator/worker.h"

namespace oprt::emulator {

void Clocks::start_block(size_t num_warps) {
  if (warps_.size() < num_warps) warps_.resize(num_warps);
  ++epoch_;
}

void Clocks::sync_block() { ++epoch_; }

void Clocks::sync_warp(unsigned warp, uint64_t lanes) {
  Warp& state = warps_[warp];
  if (state.epoch != epoch_) {
    state.epoch = epoch_;
    for (size_t lane = 0; lane < 64; ++lane) {
      state.seen[lane].fill(0);
      state.seen[lane][lane] = 1;
    }
  }
  std::array<uint32_t, 64> joined = {};
  for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto& seen = state.seen[static_cast<size_t>(__builtin_ctzll(rest))];
    for (size_t lane = 0; lane < 64; ++lane) joined[lane] = std::max(joined[lane], seen[lane]);
  }
  for (uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<size_t>(__builtin_ctzll(rest));
    state.seen[lane] = joined;
    ++state.seen[lane][lane];
  }
}

uint32_t Clocks::clock(const Thread& thread) const {
  const Warp& warp = warps_[thread.warp];
  return warp.epoch == epoch_ ? warp.seen[thread.lane][thread.lane] : 1;
}

bool Clocks::is_ordered(const Record& record, const Thread& other, const Thread& thread) const {
  if (record.epoch != epoch_) return true;
  const Warp& warp = warps_[thread.warp];
  return other.warp == thread.warp && warp.epoch == epoch_ && warp.seen[thread.lane][other.lane] >= record.clock;
}

}  // namespace oprt::emulator
