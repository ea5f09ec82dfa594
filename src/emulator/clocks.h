// Which accesses of a block are ordered: by barriers of the block, and by barriers of a warp. A shuffle or a vote orders none.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "emulator/shadow.h"

namespace oprt::emulator {

struct Thread;

class Clocks {
 public:
  void start_block(size_t num_warps);
  void sync_block();
  // The lanes of `lanes` have met.
  void sync_warp(unsigned warp, uint64_t lanes);

  uint32_t epoch() const { return epoch_; }
  uint32_t clock(const Thread& thread) const;
  // Whether `record`, of the same block, comes before what `thread` does now; `other` is the record's thread.
  bool is_ordered(const Record& record, const Thread& other, const Thread& thread) const;

 private:
  // Of each lane: the latest clock of each other lane that came before what it does now. Its own clock is seen[lane][lane].
  struct Warp {
    uint32_t epoch = 0;  // in which it was last brought up to date
    std::array<std::array<uint32_t, 64>, 64> seen;
  };

  uint32_t epoch_ = 1;  // never goes back: what an earlier block's barriers left is old
  std::vector<Warp> warps_;
};

}  // namespace oprt::emulator
