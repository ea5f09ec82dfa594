// Sums over dims beside a contiguous kept dim: vectors of columns per thread. Few tiles split the reduced dim, and their partial
// sums are columns again. Where the rows of a matrix are no whole vectors, several rows are taken as one, wide enough to be.
#include <numeric>

#include "ops/reduce_sum/nvidia/plans.h"

namespace oprt::reduce_sum::OPRT_VENDOR {
namespace {

constexpr int64_t kMinSteps = 4;       // loads of a block before a split is worth its second launch, in rounds
constexpr int64_t kShrinkRounds = 16;  // rounds up to which narrow tiles on more blocks beat a split
constexpr int kMinTileLanes = 8;       // 128 bytes: whole pairs of sectors
constexpr int64_t kMinFoldedRows = 64;

struct Columns {
  Space<2> outer;  // kept dims without the columns
  int64_t columns;
  int64_t out_stride;
  Space<1> reduced;
};

bool is_multiple(int64_t value, int64_t size) { return value % size == 0; }

// Whether every vector of columns starts on a vector boundary when element 0 does.
bool is_vector_layout(const Columns& c, int64_t size) {
  bool fits = is_multiple(c.columns, size) && is_multiple(c.outer.offset[1], size) && is_multiple(c.reduced.offset[0], size);
  for (size_t d = 0; d < static_cast<size_t>(c.outer.ndim); ++d) fits = fits && is_multiple(c.outer.strides[1][d], size);
  for (size_t d = 0; d < static_cast<size_t>(c.reduced.ndim); ++d) fits = fits && is_multiple(c.reduced.strides[0][d], size);
  return fits;
}

struct Tiling {
  int lanes;
  int depth;
  int64_t tiles;
  int64_t outer_blocks;
  Split split;
  int64_t blocks() const { return tiles * outer_blocks * split.count; }
};

template <class T, int V>
Tiling tile(const Columns& c) {
  constexpr int64_t kLoads = kColumnLoads<V>;
  const int64_t across = divide_up(c.columns, V);
  const int64_t n = c.reduced.size();
  const int least_depth = lanes_for(divide_up(n, kLoads), kTileThreads / simt::kWarpSize);
  Tiling t{};
  t.lanes = lanes_for(across, kTileThreads / least_depth);
  t.depth = lanes_for(divide_up(n, kLoads), kTileThreads / t.lanes);
  const auto blocks = [&] { return divide_up(across, t.lanes) * divide_up(c.outer.size(), kTileThreads / (t.lanes * t.depth)); };
  while (t.lanes > kMinTileLanes && blocks() < policy().target_blocks / 4 && n > kLoads * t.depth &&
         n <= kLoads * t.depth * kShrinkRounds) {
    t.lanes /= 2;
    t.depth *= 2;
  }
  t.tiles = divide_up(across, t.lanes);
  t.outer_blocks = divide_up(c.outer.size(), kTileThreads / (t.lanes * t.depth));
  t.split = simt::split_evenly(n, kLoads * t.depth, {kMinSteps, kMaxColumnsChain}, blocks(),
                               policy().num_sms * std::max(kColumnBlocksPerSm<T, V>, 4));
  return t;
}

ReducedDims reduced_dims(const Space<1>& reduced) {
  if (reduced.ndim < 2) return {reduced.offset[0], reduced.strides[0][0], 0, {}, false};
  return {reduced.offset[0], reduced.strides[0][1], reduced.strides[0][0], FastDivisor(static_cast<uint32_t>(reduced.shape[1])),
          true};
}

template <class T, int V>
Run launch_columns(const Columns& c, const Tiling& t, Store store) {
  simt::prepare(sum_columns<T, V>);
  const ColumnsArgs args{Walk<2>(c.outer),
                         reduced_dims(c.reduced),
                         c.outer.size(),
                         c.columns,
                         c.out_stride,
                         c.reduced.size(),
                         static_cast<int>(t.split.chunk),
                         FastDivisor(static_cast<uint32_t>(t.tiles)),
                         FastDivisor(static_cast<uint32_t>(t.split.count)),
                         t.lanes,
                         t.depth,
                         store};
  return [args, grid = static_cast<unsigned>(t.blocks())](const void* in, void* out, void* stream) {
    simt::launch(sum_columns<T, V>, dim3(grid), dim3(kTileThreads), 0, stream, static_cast<const T*>(in), out, args);
  };
}

// `rows` partial results, one after the other, each a contiguous image of the kept dims.
Columns of_partials(Columns c, int64_t rows) {
  c.outer = over_partials(c.outer, c.columns);
  c.reduced = {};
  if (rows > 1) {
    c.reduced.ndim = 1;
    c.reduced.shape[0] = rows;
    c.reduced.strides[0][0] = c.outer.size() * c.columns;
  }
  return c;
}

// False when it would take 2^31 blocks or more.
template <class T, int V>
bool add_typed_columns(Steps& steps, int64_t from, oprt_dtype_t in, oprt_dtype_t out, const Columns& c);

bool add_partials(Steps& steps, int64_t from, oprt_dtype_t in, oprt_dtype_t out, const Columns& c) {
  bool fits = false;
  with_addend(in, [&](auto element) {
    using T = decltype(element);
    fits = is_vector_layout(c, Vector<T>::kSize) ? add_typed_columns<T, Vector<T>::kSize>(steps, from, in, out, c)
                                                 : add_typed_columns<T, 1>(steps, from, in, out, c);
  });
  return fits;
}

template <class T, int V>
bool add_typed_columns(Steps& steps, int64_t from, oprt_dtype_t in, oprt_dtype_t out, const Columns& c) {
  const Tiling t = tile<T, V>(c);
  if (t.blocks() > kMaxBlocks) return false;
  if (t.split.count == 1) {
    steps.add(from, kTensor, launch_columns<T, V>(c, t, store_for(out)));
    return true;
  }
  const int64_t partials = allocate_partials(steps, c.outer.size() * c.columns * t.split.count, in);
  steps.add(from, partials, launch_columns<T, V>(c, t, Store::kAcc));
  return add_partials(steps, partials, partial_dtype(in), out, of_partials(c, t.split.count));
}

// A matrix without gaps whose rows are no whole vectors: `fold` rows as one, and the rest of them as one more partial result.
template <class T>
bool add_folded_columns(Steps& steps, oprt_dtype_t in, oprt_dtype_t out, const Columns& c) {
  constexpr int V = Vector<T>::kSize;
  const int64_t fold = V / std::gcd(c.columns, int64_t{V});
  const int64_t n = c.reduced.size();
  Columns wide = c;
  wide.columns = c.columns * fold;
  wide.out_stride = 1;
  wide.outer.offset[0] = 0;
  wide.reduced.shape[0] = n / fold;
  wide.reduced.strides[0][0] = wide.columns;
  const Tiling t = tile<T, V>(wide);
  const int64_t left = n % fold;
  const int64_t rows = t.split.count * fold + (left > 0 ? 1 : 0);
  if (t.blocks() > kMaxBlocks) return false;
  const int64_t partials = allocate_partials(steps, rows * c.columns, in);
  steps.add(kTensor, partials, launch_columns<T, V>(wide, t, Store::kAcc));
  if (left > 0) {
    Columns rest = c;
    rest.out_stride = 1;
    rest.outer.offset[0] = t.split.count * wide.columns;
    rest.reduced.shape[0] = left;
    rest.reduced.offset[0] += (n - left) * c.columns;
    Tiling rest_tiling = tile<T, 1>(rest);
    steps.add(kTensor, partials, launch_columns<T, 1>(rest, rest_tiling, Store::kAcc));
  }
  return add_partials(steps, partials, partial_dtype(in), out, of_partials(c, rows));
}

// Vectors of columns where the input's element 0 is aligned, one column a thread where it is not.
class ColumnsPlan final : public Plan {
 public:
  ColumnsPlan(Steps vectors, Steps scalars) : vectors_(std::move(vectors)), scalars_(std::move(scalars)) {
    workspace_size_ = std::max(vectors_.workspace_size(), scalars_.workspace_size());
  }
  void execute(const Launch& launch) const override { (simt::is_vector_aligned(launch.in[0]) ? vectors_ : scalars_).run(launch); }

 private:
  Steps vectors_;
  Steps scalars_;
};

bool is_foldable(const Columns& c) {
  return c.outer.ndim == 0 && c.reduced.ndim == 1 && c.reduced.strides[0][0] == c.columns && c.outer.offset[1] == 0 &&
         c.reduced.offset[0] == 0 && c.reduced.size() >= kMinFoldedRows;
}

}  // namespace

std::unique_ptr<const Plan> make_columns(const Problem& problem, const char** reason) {
  const Space<2>& kept = problem.kept;
  OPRT_REQUIRE(problem.reduced.ndim > 0 && problem.reduced.size() > 0 && kept.size() > 0, "elements to reduce");
  OPRT_REQUIRE(problem.reduced.ndim == 1 || (problem.reduced.ndim == 2 && problem.reduced.size() <= INT_MAX),
               "one reduced dim, or two with fewer than 2^31 elements");
  size_t at = 0;
  while (at < static_cast<size_t>(kept.ndim) && kept.strides[1][at] != 1) ++at;
  OPRT_REQUIRE(at < static_cast<size_t>(kept.ndim), "a contiguous kept dim");

  Columns c{kept, kept.shape[at], kept.strides[0][at], problem.reduced};
  --c.outer.ndim;
  for (size_t d = at; d < static_cast<size_t>(c.outer.ndim); ++d) {
    c.outer.shape[d] = kept.shape[d + 1];
    for (size_t k = 0; k < 2; ++k) c.outer.strides[k][d] = kept.strides[k][d + 1];
  }
  Steps vectors, scalars;
  bool fits = false;
  with_addend(problem.in_dtype, [&](auto element) {
    using T = decltype(element);
    constexpr int V = Vector<T>::kSize;
    fits = add_typed_columns<T, 1>(scalars, kTensor, problem.in_dtype, problem.out_dtype, c);
    if (!fits) return;
    if (is_vector_layout(c, V)) {
      fits = add_typed_columns<T, V>(vectors, kTensor, problem.in_dtype, problem.out_dtype, c);
    } else if (is_foldable(c)) {
      fits = add_folded_columns<T>(vectors, problem.in_dtype, problem.out_dtype, c);
    } else {
      vectors = scalars;
    }
  });
  OPRT_REQUIRE(fits, "fewer than 2^31 blocks");
  return std::make_unique<ColumnsPlan>(std::move(vectors), std::move(scalars));
}

}  // namespace oprt::reduce_sum::OPRT_VENDOR
