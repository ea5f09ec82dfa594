// Softmax over a contiguous dim: rows in the registers of a few lanes, of a warp or of a block, then in shared memory as far as
// they fit; few long rows are split over blocks.
#include "ops/softmax/nvidia/row_plans.h"

namespace oprt::softmax::OPRT_VENDOR {
namespace {

template <class T>
std::unique_ptr<const Plan> make_typed_rows(const Problem& problem) {
  constexpr int kWarp = simt::kWarpSize;
  constexpr int kSize = Vector<T>::kSize;
  const int64_t packets = problem.n / kSize;
  RowPlans<T, Contiguous> plans(problem);
  if (is_split(problem.rows.size(), packets, problem.n)) return plans.split();
  // A lane may hold one edge element besides its packets: rows of whole vectors have kSize or none, others up to 2 (kSize - 1).
  const int edge_lanes = lanes_for(problem.n, std::min(problem.n % kSize == 0 ? kSize : 2 * kSize, kWarp));
  // H200 32768x256 with an edge: bf16 2.41 vs 1.74 TB/s with 1 packet a lane, f32 3.09 vs 2.87 with 2; 32768x64: f32 1.83 vs 1.64
  // with 4 (2026-12).
  const int lanes = std::max(lanes_for(divide_up(packets, packets <= 16 ? 2 : 4), kWarp), edge_lanes);
  if (packets <= lanes) return plans.template in_registers<0, 1>(lanes);
  if (packets <= lanes * 2) return plans.template in_registers<0, 2>(lanes);
  if (packets <= kWarp * 2) return plans.template in_registers<0, 4>(lanes);
  // Blocks of as many threads as 4 packets each ask for. H200 bf16 N=1024, 2048, 4096: 3.93, 3.91, 3.72 vs 3.86, 3.82, 3.52 TB/s
  // with the next other size; f32 N=1024: 3.90 vs 3.77 (2026-12).
  if (packets <= kWarp * 4) return plans.template in_registers<kWarp, 4>(1);
  if (packets <= 256) return plans.template in_registers<64, 4>(1);
  if (packets <= 512) return plans.template in_registers<128, 4>(1);
  if (packets <= 1024) return plans.template in_registers<256, 4>(1);
  // Floats kept or packets kept: H200 bf16 N=16384: 3.84 vs 3.97 TB/s, N=32768: 3.25 vs 3.97; f32 N=8192: no difference (2026-12).
  if constexpr (sizeof(T) == 2) {
    if (packets <= 2048) return plans.template packed<512, 4, 3>();
  }
  if (packets <= 2048) return plans.template in_registers<512, 4>(1);
  if constexpr (sizeof(T) <= 4) {
    if (packets <= 4096) return plans.template packed<512, 8, 2>();
    if (packets <= 8192) return plans.template packed<1024, 8, 1>();
  } else {
    if (packets <= 4096) return plans.template in_registers<1024, 4>(1);
  }
  return plans.streamed();
}

}  // namespace

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char** reason) {
  OPRT_REQUIRE(problem.n == 1 || (problem.in_stride == 1 && problem.out_stride == 1), "rows that are contiguous in both tensors");
  OPRT_REQUIRE(problem.rows.size() <= kMaxBlocks, "fewer than 2^31 rows");
  if (problem.rows.size() == 0) return std::make_unique<RunPlan>([](const Launch&) {}, 0);
  return with_float(problem.dtype, [&](auto element) {
    using T = decltype(element);
    std::unique_ptr<const Plan> plan = make_typed_rows<T>(problem);
    return has_short_rows<T>(problem) ? make_short_rows<T>(problem, std::move(plan)) : std::move(plan);
  });
}

}  // namespace oprt::softmax::OPRT_VENDOR
