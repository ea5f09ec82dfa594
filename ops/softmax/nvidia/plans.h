// Softmax on NVIDIA: what the implementations share.
#pragma once

#include <algorithm>
#include <climits>
#include <functional>
#include <memory>

#include "core/dispatch.h"
#include "ops/softmax/softmax.h"
#include "simt/device.h"
#include "simt/launch_shape.h"
#include "simt/simt.h"

namespace oprt::softmax::OPRT_VENDOR {

using simt::divide_up;
using simt::kMaxBlocks;
using simt::lanes_for;
using simt::Split;

// Launch shapes by architecture, newest first.
struct Policy {
  int architecture;
  int64_t target_blocks;        // blocks that fill a device; few rows or tiles are split into about that many, by shape alone
  int64_t max_split_rows;       // with more rows than this, a block a row keeps the device busy
  int64_t min_split_packets;    // shorter rows are not worth a second launch
  size_t columns_cached_bytes;  // shared memory for what a tile keeps
};
constexpr Policy kPolicies[] = {{90, 1056, 96, 4096, 49152}, {80, 864, 80, 4096, 24576}, {0, 512, 64, 4096, 16384}};

inline const Policy& policy() { return simt::newest_policy(kPolicies, oprt::OPRT_VENDOR::device_properties().architecture); }

constexpr int64_t kMaxSteps = 64;  // rounds of loads in one chunk of a split row

// A dim of n points for blocks that take `step` points a round, when there are `blocks` of them without a split.
inline Split split_dim(int64_t n, int64_t step, int64_t blocks) {
  const int64_t wanted = divide_up(policy().target_blocks, std::max<int64_t>(blocks, 1));
  const int64_t steps = std::clamp(divide_up(divide_up(n, wanted), step), int64_t{1}, kMaxSteps);
  return {steps * step, std::max<int64_t>(divide_up(n, steps * step), 1)};
}

using Run = std::function<void(const Launch& launch)>;

class RunPlan final : public Plan {
 public:
  RunPlan(Run run, size_t workspace_size) : run_(std::move(run)) { workspace_size_ = workspace_size; }
  void execute(const Launch& launch) const override { run_(launch); }

 private:
  Run run_;
};

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char** reason);
std::unique_ptr<const Plan> make_columns(const Problem& problem, const char** reason);
std::unique_ptr<const Plan> make_strided(const Problem& problem, const char** reason);

}  // namespace oprt::softmax::OPRT_VENDOR
