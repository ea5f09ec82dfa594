// Sums over any layout, element by element; and the table of the implementations, fastest first.
#include "ops/reduce_sum/nvidia/plans.h"

namespace oprt::reduce_sum {
namespace OPRT_VENDOR {

constexpr int64_t kGroupElements = 1024;  // sums of at most that many elements take a warp or less

std::unique_ptr<const Plan> make_strided(const Problem& problem, const char** reason) {
  const Space<2>& rows = problem.kept;
  const int64_t n = problem.reduced.size();
  const int64_t num_rows = rows.size();
  if (num_rows == 0) return std::make_unique<StepsPlan>(Steps());
  const bool is_group = n <= kGroupElements;
  const int lanes = lanes_for(divide_up(n, kUnroll), simt::kWarpSize);
  const Split split = is_group ? Split{n, 1} : split_dim(n, int64_t{kBlockThreads} * kUnroll, 1, num_rows);
  const int64_t blocks = is_group ? divide_up(num_rows, kGroupBlockThreads / lanes) : num_rows * split.count;
  OPRT_REQUIRE(blocks <= kMaxBlocks, "fewer than 2^31 blocks");

  const bool is_split = split.count > 1;
  const RowsArgs args{Walk<2>(rows),
                      num_rows,
                      n,
                      static_cast<int>(split.chunk),
                      FastDivisor(static_cast<uint32_t>(split.count)),
                      lanes,
                      is_split ? Store::kAcc : store_for(problem.out_dtype)};
  Run run;
  with_addend(problem.in_dtype, [&](auto element) {
    using T = decltype(element);
    const auto kernel = is_group ? sum_rows_group<T, Walk<1>> : sum_rows_block<T, kBlockThreads, 2, Walk<1>>;
    simt::prepare(kernel);
    run = [=, grid = static_cast<unsigned>(blocks), reduced = Walk<1>(problem.reduced)](const void* in, void* out, void* stream) {
      simt::launch(kernel, dim3(grid), dim3(is_group ? kGroupBlockThreads : kBlockThreads), 0, stream, static_cast<const T*>(in),
                   out, args, reduced);
    };
  });
  Steps steps;
  if (!is_split) {
    steps.add(kTensor, kTensor, run);
  } else {
    const oprt_dtype_t partial = partial_dtype(problem.in_dtype);
    const int64_t partials = allocate_partials(steps, num_rows * split.count, partial);
    steps.add(kTensor, partials, run);
    add_rows(steps, {partials, kTensor}, partial, problem.out_dtype, over_partials(rows, split.count), split.count);
  }
  return std::make_unique<StepsPlan>(std::move(steps));
}

}  // namespace OPRT_VENDOR

Implementations OPRT_VENDOR_IMPLEMENTATIONS() {
  static constexpr Implementation kImplementations[] = {implement<Problem, OPRT_VENDOR::make_rows>("rows"),
                                                        implement<Problem, OPRT_VENDOR::make_columns>("columns"),
                                                        implement<Problem, OPRT_VENDOR::make_strided>("strided")};
  return kImplementations;
}

}  // namespace oprt::reduce_sum
