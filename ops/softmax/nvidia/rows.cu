// Softmax over a contiguous dim: rows in the registers of a few lanes, of a warp or of a block, then in shared memory as far as
// they fit; few long rows are split over blocks.
#include "ops/softmax/nvidia/row_plans.h"

namespace oprt::softmax::nvidia {
namespace {

template <class T>
std::unique_ptr<const Plan> make_typed_rows(const Problem& problem) {
  constexpr int kWarp = simt::kWarpSize;
  constexpr int kSize = Vector<T>::kSize;
  const int64_t packets = problem.n / kSize;
  RowPlans<T, Contiguous> plans(problem);
  if (is_split(problem.rows.size(), packets, problem.n)) return plans.split();
  // Each lane may hold one edge element besides its packets: rows have at most 2 (kSize - 1) of them.
  const int edge_lanes = lanes_for(problem.n, std::min(2 * kSize, kWarp));
  const int lanes = std::max(lanes_for(packets, kWarp), edge_lanes);
  if (packets <= kWarp) return plans.template in_registers<0, 1>(lanes);
  if (packets <= kWarp * 2) return plans.template in_registers<0, 2>(kWarp);
  if (packets <= kWarp * 4) return plans.template in_registers<0, 4>(kWarp);
  if (packets <= 512) return plans.template in_registers<128, 4>(1);
  if (packets <= 1024) return plans.template in_registers<256, 4>(1);
  if (packets <= 2048) return plans.template in_registers<512, 4>(1);
  if (packets <= 4096) return plans.template in_registers<1024, 4>(1);
  return plans.streamed();
}

}  // namespace

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char** reason) {
  OPRT_REQUIRE(problem.n == 1 || (problem.in_stride == 1 && problem.out_stride == 1), "rows that are contiguous in both tensors");
  OPRT_REQUIRE(problem.rows.size() <= kMaxBlocks, "fewer than 2^31 rows");
  if (problem.rows.size() == 0) return std::make_unique<RunPlan>([](const Launch&) {}, 0);
  return visit_dtype(problem.dtype, [&](auto element) { return make_typed_rows<decltype(element)>(problem); });
}

}  // namespace oprt::softmax::nvidia
