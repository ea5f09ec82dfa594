// Arithmetic of launch plans, on the host: how many blocks, of how many lanes, by which architecture's policy.
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>

#include "core/divide_up.h"

namespace oprt::simt {

constexpr int64_t kMaxBlocks = INT_MAX;  // of a one-dimensional grid

using oprt::divide_up;

// The smallest power of two that is at least n, within [1, most].
constexpr int lanes_for(int64_t n, int64_t most) {
  int lanes = 1;
  while (lanes < most && lanes < n) lanes *= 2;
  return lanes;
}

// A dim in `count` chunks of `chunk` points, the last one maybe shorter.
struct Split {
  int64_t chunk;
  int64_t count;
};

// Of loads in one chunk, for a block.
struct Rounds {
  int64_t least;
  int64_t most;
};

// Splits n points for blocks that take `step` of them a round, so that about `resident` blocks run at a time: the count, of those
// that keep a chunk within `bounds`, whose last wave is the fullest, where that repays a second launch. `blocks` is their number
// without a split. H200, sum of bf16 2048x65536 over dim 0, 792 resident blocks: 3.35 TB/s with 3 chunks (768 blocks), 2.72 with 4
// (1024 blocks) (2026-12).
inline Split split_evenly(int64_t n, int64_t step, Rounds bounds, int64_t blocks, int64_t resident) {
  constexpr double kFirstGain = 1.3, kGain = 1.05;
  const int64_t rounds = divide_up(n, step);
  const int64_t least = divide_up(rounds, bounds.most);
  const int64_t most = std::max(least, std::min(rounds / bounds.least, 2 * divide_up(resident, blocks)));
  const auto fill = [&](int64_t count) {
    return static_cast<double>(blocks * count) / static_cast<double>(divide_up(blocks * count, resident) * resident);
  };
  int64_t best = least;
  for (int64_t count = least + 1; count <= most; ++count) {
    if (fill(count) > fill(best) * (best == 1 ? kFirstGain : kGain)) best = count;
  }
  const int64_t chunk = divide_up(rounds, best) * step;
  return {chunk, divide_up(n, chunk)};
}

// The first of an operator's policies, newest architecture first, that `architecture` is new enough for; the last one is for all.
template <class Policy, size_t n>
const Policy& newest_policy(const Policy (&policies)[n], int architecture) {
  return *std::find_if(std::begin(policies), std::end(policies),
                       [&](const Policy& policy) { return policy.architecture <= architecture; });
}

}  // namespace oprt::simt
