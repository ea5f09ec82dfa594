// Sums on NVIDIA: what the implementations share. The policies hold here because stages of one implementation are launches of
// another.
#pragma once

#include <algorithm>
#include <memory>

#include "core/dispatch.h"
#include "ops/reduce_sum/kernels.cuh"
#include "ops/reduce_sum/reduce_sum.h"
#include "simt/device.h"
#include "simt/launch_shape.h"
#include "simt/steps.h"

namespace oprt::reduce_sum::OPRT_VENDOR {

using simt::divide_up;
using simt::kMaxBlocks;
using simt::kTensor;
using simt::lanes_for;
using simt::Run;
using simt::Split;
using simt::Steps;
using simt::StepsPlan;

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

inline const Policy& policy() { return simt::newest_policy(kPolicies, oprt::OPRT_VENDOR::device_properties().architecture); }

constexpr int kBlockThreads = 256;
constexpr int64_t kMaxChain = 32;         // times that a thread adds to its accumulator
constexpr int64_t kMaxColumnsChain = 64;  // the same in columns, where a shorter chain may cost another launch

// A dim of `n` loads cut into chunks for blocks that take `step` loads at a time, at least min_steps times.
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
// A place for partial sums of that dtype's elements.
inline int64_t allocate_partials(Steps& steps, int64_t count, oprt_dtype_t dtype) {
  return steps.allocate(static_cast<size_t>(count) * oprt_dtype_size(partial_dtype(dtype)));
}

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

}  // namespace oprt::reduce_sum::OPRT_VENDOR
