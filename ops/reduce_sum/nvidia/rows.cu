// Sums over a contiguous dim: short rows several to a warp, longer ones a warp or a block each; few long rows, and rows that go on
// over outer dims, in chunks whose partial sums are rows again.
#include "ops/reduce_sum/nvidia/plans.h"

namespace oprt::reduce_sum::OPRT_VENDOR {
namespace {

constexpr int64_t kMaxPackedRow = 64;   // elements
constexpr int64_t kMinInnerRow = 256;   // elements; shorter runs inside a sum over several dims are strided()'s
constexpr int kLargeThreads = 1024;     // where there are fewer rows than multiprocessors
constexpr int64_t kPackedPerLane = 16;  // elements of a packed row that one lane adds

bool is_packed(const Space<2>& rows, int64_t n) {
  if (n < 1 || n > kMaxPackedRow || rows.ndim > 1) return false;
  return rows.ndim == 0 || rows.strides[1][0] == n;
}

template <class T>
struct RowsLaunch {
  RowsArgs args;
  int64_t blocks;

  template <class... Params>
  Run operator()(void (*kernel)(Params...), int threads) const {
    simt::prepare(kernel);
    return [kernel, threads, args = args, grid = static_cast<unsigned>(blocks)](const void* in, void* out, void* stream) {
      if constexpr (sizeof...(Params) == 3) {
        simt::launch(kernel, dim3(grid), dim3(threads), 0, stream, static_cast<const T*>(in), out, args);
      } else {
        simt::launch(kernel, dim3(grid), dim3(threads), 0, stream, static_cast<const T*>(in), out, args, Contiguous{});
      }
    };
  }
};

// `rows` and the outer dims of `reduced` after them; operand 0 becomes a contiguous result.
Space<2> with_outer_dims(Space<2> rows, const Space<1>& reduced) {
  for (size_t d = 0; d + 1 < static_cast<size_t>(reduced.ndim); ++d) {
    const auto to = static_cast<size_t>(rows.ndim++);
    rows.shape[to] = reduced.shape[d];
    rows.strides[1][to] = reduced.strides[0][d];
  }
  int64_t stride = 1;
  rows.offset[0] = 0;
  for (int d = rows.ndim - 1; d >= 0; --d) {
    rows.strides[0][static_cast<size_t>(d)] = stride;
    stride *= rows.shape[static_cast<size_t>(d)];
  }
  return rows;
}

// Short rows, and longer ones where there are many. False if these are others.
template <class T>
bool add_small_rows(Steps& steps, Place place, oprt_dtype_t out, const Space<2>& rows, int64_t n) {
  constexpr int64_t kSize = Vector<T>::kSize;
  const int64_t num_rows = rows.size();
  const int64_t vectors = n / kSize;
  RowsLaunch<T> launch{{Walk<2>(rows), num_rows, n, 0, FastDivisor(1), 1, store_for(out)}, 0};
  if (is_packed(rows, n) && (n % kSize != 0 || rows.offset[1] % kSize != 0)) {
    launch.args.lanes = lanes_for(divide_up(n, kPackedPerLane), simt::kWarpSize);
    launch.args.chunk = static_cast<int>(kPackedBytes / sizeof(T) / static_cast<size_t>(n));
    launch.blocks = divide_up(num_rows, launch.args.chunk);
    steps.add(place.from, place.to, launch(sum_rows_packed<T>, kTileThreads));
  } else if (vectors <= simt::kWarpSize) {
    launch.args.lanes = lanes_for(divide_up(n, kSize), simt::kWarpSize);
    launch.blocks = divide_up(num_rows, int64_t{kGroupBlockThreads} / launch.args.lanes * kUnroll);
    steps.add(place.from, place.to, launch(sum_rows_short<T>, kGroupBlockThreads));
  } else if (vectors <= policy().group_row_vectors && num_rows >= policy().target_blocks) {
    launch.args.lanes = lanes_for(divide_up(vectors, kUnroll), simt::kWarpSize);
    launch.blocks = divide_up(num_rows, kGroupBlockThreads / launch.args.lanes);
    steps.add(place.from, place.to, launch(sum_rows_group<T, Contiguous>, kGroupBlockThreads));
  } else {
    return false;
  }
  return true;
}

// Threads for one round of loads, and few blocks to a multiprocessor for the chunks of long rows, which then have two rounds in
// flight. H200 f32 N=1024, 2048, 4096: 3.95, 3.95, 3.94 vs 3.16, 3.04, 3.77 TB/s with the next other size; 8x16M: 4.16 vs 3.91 TB/s
// with as many blocks as fit (2026-12).
template <class T>
Run launch_blocks(const RowsLaunch<T>& launch, int64_t vectors) {
  constexpr int64_t kWarp = simt::kWarpSize;
  if (vectors <= 2 * kWarp * kUnroll) return launch(sum_rows_block<T, 2 * kWarp, 16, Contiguous>, 2 * kWarp);
  if (vectors <= 4 * kWarp * kUnroll) return launch(sum_rows_block<T, 4 * kWarp, 8, Contiguous>, 4 * kWarp);
  if (vectors <= kBlockThreads * kUnroll) return launch(sum_rows_block<T, kBlockThreads, 4, Contiguous>, kBlockThreads);
  if (launch.blocks < policy().num_sms) return launch(sum_rows_block<T, kLargeThreads, 1, Contiguous>, kLargeThreads);
  return launch(sum_rows_block<T, kBlockThreads, 2, Contiguous>, kBlockThreads);
}

template <class T>
void add_typed_rows(Steps& steps, Place place, oprt_dtype_t in, oprt_dtype_t out, const Space<2>& rows, int64_t n) {
  if (rows.size() == 0 || add_small_rows<T>(steps, place, out, rows, n)) return;
  constexpr int64_t kSize = Vector<T>::kSize;
  const int64_t num_rows = rows.size();
  const Split split = split_row(divide_up(n, kSize), num_rows);
  const bool is_split = split.count > 1;
  const RowsLaunch<T> launch{{Walk<2>(rows), num_rows, n, static_cast<int>(split.chunk * kSize),
                              FastDivisor(static_cast<uint32_t>(split.count)), 1, is_split ? Store::kAcc : store_for(out)},
                             num_rows * split.count};
  const Run run = launch_blocks<T>(launch, split.chunk);
  if (!is_split) return steps.add(place.from, place.to, run);
  const int64_t partials = allocate_partials(steps, num_rows * split.count, in);
  steps.add(place.from, partials, run);
  add_rows(steps, {partials, place.to}, partial_dtype(in), out, over_partials(rows, split.count), split.count);
}

}  // namespace

Space<2> over_partials(Space<2> space, int64_t row_size) {
  space.offset[1] = 0;
  for (int d = space.ndim - 1; d >= 0; --d) {
    space.strides[1][static_cast<size_t>(d)] = row_size;
    row_size *= space.shape[static_cast<size_t>(d)];
  }
  return space;
}

bool rows_fit(const Space<2>& rows, int64_t n, oprt_dtype_t in) {
  bool fits = false;
  with_addend(in, [&](auto element) {
    const int64_t vectors = n / Vector<decltype(element)>::kSize;
    const int64_t per_block = vectors <= policy().group_row_vectors ? kGroupBlockThreads / simt::kWarpSize : 1;
    const Split split = split_row(vectors, rows.size());
    fits = rows.size() / per_block <= kMaxBlocks / split.count;
  });
  return fits;
}

void add_rows(Steps& steps, Place place, oprt_dtype_t in, oprt_dtype_t out, const Space<2>& rows, int64_t n) {
  with_addend(in, [&](auto element) { add_typed_rows<decltype(element)>(steps, place, in, out, rows, n); });
}

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char** reason) {
  const Space<1>& reduced = problem.reduced;
  const auto last = static_cast<size_t>(std::max(reduced.ndim - 1, 0));
  const bool is_single = reduced.ndim == 0 || reduced.size() == 0;
  OPRT_REQUIRE(is_single || reduced.strides[0][last] == 1, "a contiguous reduced dim");
  const int64_t n = reduced.ndim == 0 ? 1 : reduced.size() == 0 ? 0 : reduced.shape[last];
  const int64_t outer = is_single ? 1 : reduced.size() / n;
  OPRT_REQUIRE(outer == 1 || n >= kMinInnerRow, "one reduced dim, or 256 contiguous elements in the last of them");

  Space<2> rows = problem.kept;
  rows.offset[1] += is_single ? 0 : reduced.offset[0];
  if (outer > 1) rows = with_outer_dims(rows, reduced);
  OPRT_REQUIRE(rows_fit(rows, n, problem.in_dtype), "fewer than 2^31 blocks");
  Steps steps;
  if (outer == 1) {
    add_rows(steps, {}, problem.in_dtype, problem.out_dtype, rows, n);
  } else {
    const oprt_dtype_t partial = partial_dtype(problem.in_dtype);
    const int64_t partials = allocate_partials(steps, rows.size(), partial);
    add_rows(steps, {kTensor, partials}, problem.in_dtype, partial, rows, n);
    add_rows(steps, {partials, kTensor}, partial, problem.out_dtype, over_partials(problem.kept, outer), outer);
  }
  return std::make_unique<StepsPlan>(std::move(steps));
}

}  // namespace oprt::reduce_sum::OPRT_VENDOR
