// Sums on NVIDIA: what the implementations share. The policies hold here because stages of one implementation are launches of
// another.
#pragma once

#include <algorithm>
#include <climits>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "backends/nvidia/device.h"
#include "core/dispatch.h"
#include "ops/reduce_sum/kernels.cuh"
#include "ops/reduce_sum/reduce_sum.h"

namespace oprt::reduce_sum::nvidia {

// Launch shapes by architecture, newest first.
struct Policy {
  int architecture;
  int64_t num_sms;            // that dims are split for: by shape and architecture alone, so that GPUs of one kind agree
  int64_t target_blocks;      // blocks that fill a device; rows fewer than half of that are split
  int64_t group_row_vectors;  // rows of at most that many vectors take lanes of a warp
  int64_t split_rounds;       // rounds of loads in a chunk of a split row
};
// H200 bf16 rows of 128 vectors: 3.8 vs 2.8 TB/s with a block of 64; f32 sum of 2^28: 4.29 vs 4.12 TB/s with 32 rounds (2026-12).
// Only sm_90 was measured.
constexpr Policy kPolicies[] = {{90, 132, 1056, 128, 2}, {80, 108, 864, 128, 2}, {0, 64, 512, 128, 2}};

inline const Policy& policy() {
  const int architecture = oprt::nvidia::device_properties().architecture;
  return *std::find_if(std::begin(kPolicies), std::end(kPolicies), [&](const Policy& p) { return p.architecture <= architecture; });
}

constexpr int kBlockThreads = 256;
constexpr int64_t kMaxChain = 32;         // times that a thread adds to its accumulator
constexpr int64_t kMaxColumnsChain = 64;  // the same in columns, where a shorter chain may cost another launch
constexpr int64_t kMaxBlocks = INT_MAX;

constexpr int64_t divide_up(int64_t n, int64_t divisor) { return (n + divisor - 1) / divisor; }

// The smallest power of two that is at least n, within [1, most].
constexpr int lanes_for(int64_t n, int most) {
  int lanes = 1;
  while (lanes < most && lanes < n) lanes *= 2;
  return lanes;
}

// A dim of `n` loads cut into chunks for blocks that take `step` loads at a time, at least min_steps times.
struct Split {
  int64_t chunk;
  int64_t count;
};
inline Split split_dim(int64_t n, int64_t step, int64_t min_steps, int64_t blocks) {
  const int64_t target = policy().target_blocks;
  const int64_t wanted = blocks >= target / 2 ? 1 : divide_up(target, std::max<int64_t>(blocks, 1));
  const int64_t steps = std::clamp(divide_up(divide_up(n, wanted), step), std::min<int64_t>(min_steps, kMaxChain), kMaxChain);
  return {steps * step, std::max<int64_t>(divide_up(n, steps * step), 1)};
}

// A row for blocks of kBlockThreads. Whole where one block is quick enough.
inline Split split_row(int64_t vectors, int64_t num_rows) {
  constexpr int64_t kStep = int64_t{kBlockThreads} * kUnroll;
  constexpr int64_t kQuick = 2 * kStep;        // vectors of one row among several
  constexpr int64_t kQuickInAll = 16 * kStep;  // and of all rows
  const bool is_few = num_rows < policy().target_blocks / 2 && vectors > kQuick && num_rows * vectors > kQuickInAll;
  if (!is_few && vectors <= kMaxChain * kStep) return {vectors, 1};
  const int64_t chunk = kStep * (is_few ? policy().split_rounds : kMaxChain);
  return {chunk, divide_up(vectors, chunk)};
}

// The dtype in which partial sums are kept, and how a sum becomes an output.
inline oprt_dtype_t partial_dtype(oprt_dtype_t in) {
  switch (in) {
    case OPRT_DTYPE_FLOAT16:
    case OPRT_DTYPE_BFLOAT16:
    case OPRT_DTYPE_FLOAT32:
      return OPRT_DTYPE_FLOAT32;
    case OPRT_DTYPE_FLOAT64:
      return OPRT_DTYPE_FLOAT64;
    default:
      return OPRT_DTYPE_INT64;
  }
}
inline Store store_for(oprt_dtype_t out) {
  return out == OPRT_DTYPE_FLOAT16 ? Store::kFloat16 : out == OPRT_DTYPE_BFLOAT16 ? Store::kBFloat16 : Store::kAcc;
}
// Calls visit(T{}) with the element type of `dtype`.
template <class Visit>
void visit_dtype(oprt_dtype_t dtype, Visit&& visit) {
  switch (dtype) {
    case OPRT_DTYPE_BOOL:
      return visit(Bool{});
    case OPRT_DTYPE_INT8:
      return visit(int8_t{});
    case OPRT_DTYPE_UINT8:
      return visit(uint8_t{});
    case OPRT_DTYPE_INT16:
      return visit(int16_t{});
    case OPRT_DTYPE_UINT16:
      return visit(uint16_t{});
    case OPRT_DTYPE_INT32:
      return visit(int32_t{});
    case OPRT_DTYPE_UINT32:
      return visit(uint32_t{});
    case OPRT_DTYPE_FLOAT16:
      return visit(Float16{});
    case OPRT_DTYPE_BFLOAT16:
      return visit(BFloat16{});
    case OPRT_DTYPE_FLOAT32:
      return visit(float{});
    case OPRT_DTYPE_FLOAT64:
      return visit(double{});
    default:
      return visit(int64_t{});  // unsigned too: modulo 2^64
  }
}

// The launches of a plan, in order. Places are offsets into the workspace, or the caller's tensor.
constexpr int64_t kTensor = -1;
using Run = std::function<void(const void* in, void* out, void* stream)>;

class Steps {
 public:
  int64_t allocate(int64_t num_partials, oprt_dtype_t dtype);
  void add(int64_t from, int64_t to, Run run) { steps_.push_back({from, to, std::move(run)}); }
  void run(const Launch& launch) const;
  size_t workspace_size() const { return workspace_size_; }

 private:
  struct Step {
    int64_t from;
    int64_t to;
    Run run;
  };
  std::vector<Step> steps_;
  size_t workspace_size_ = 0;
};

// A plan whose launches do not depend on addresses.
class StepsPlan final : public Plan {
 public:
  explicit StepsPlan(Steps steps) : steps_(std::move(steps)) { workspace_size_ = steps_.workspace_size(); }
  void execute(const Launch& launch) const override { steps_.run(launch); }

 private:
  Steps steps_;
};

struct Place {
  int64_t from = kTensor;
  int64_t to = kTensor;
};

// Rows of n contiguous elements. `rows` has out and in as operands.
void add_rows(Steps& steps, Place place, oprt_dtype_t in, oprt_dtype_t out, const Space<2>& rows, int64_t n);
bool rows_fit(const Space<2>& rows, int64_t n, oprt_dtype_t in);

// `space`, with operand 1 a contiguous result of its shape, row_size elements a point.
Space<2> over_partials(Space<2> space, int64_t row_size);

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char** reason);
std::unique_ptr<const Plan> make_columns(const Problem& problem, const char** reason);
std::unique_ptr<const Plan> make_strided(const Problem& problem, const char** reason);

}  // namespace oprt::reduce_sum::nvidia
