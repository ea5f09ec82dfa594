// Softmax over rows of any strides, element by element; and the table of the implementations, fastest first.
#include "ops/softmax/nvidia/row_plans.h"

namespace oprt::softmax {
namespace OPRT_VENDOR {
namespace {

template <class T>
std::unique_ptr<const Plan> make_typed_strided(const Problem& problem) {
  RowPlans<T, Strided> plans(problem);
  if (is_split(problem.rows.size(), problem.n, problem.n)) return plans.split();
  if (problem.n <= simt::kWarpSize * 4) {
    return plans.template in_registers<0, 4>(lanes_for(divide_up(problem.n, 4), simt::kWarpSize));
  }
  if (problem.n <= 1024) return plans.template in_registers<128, 8>(1);
  return plans.streamed();
}

}  // namespace

std::unique_ptr<const Plan> make_strided(const Problem& problem, const char** reason) {
  const int64_t rows_per_block = problem.n > simt::kWarpSize * 4 ? 1 : kGroupBlockThreads / simt::kWarpSize;
  OPRT_REQUIRE(problem.rows.size() / rows_per_block <= kMaxBlocks, "fewer than 2^31 blocks");
  if (problem.rows.size() == 0) return std::make_unique<RunPlan>([](const Launch&) {}, 0);
  return with_float(problem.dtype, [&](auto element) { return make_typed_strided<decltype(element)>(problem); });
}

}  // namespace OPRT_VENDOR

Implementations OPRT_VENDOR_IMPLEMENTATIONS() {
  static constexpr Implementation kImplementations[] = {implement<Problem, OPRT_VENDOR::make_rows>("rows"),
                                                        implement<Problem, OPRT_VENDOR::make_columns>("columns"),
                                                        implement<Problem, OPRT_VENDOR::make_strided>("strided")};
  return kImplementations;
}

}  // namespace oprt::softmax
