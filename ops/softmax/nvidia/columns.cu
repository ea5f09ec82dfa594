// Softmax over a dim beside which another is contiguous: tiles of whole vectors of columns. Few tiles split the dim over blocks.
#include "ops/softmax/columns.cuh"

#include "ops/softmax/nvidia/plans.h"

namespace oprt::softmax::OPRT_VENDOR {
namespace {

constexpr int kMinSplitRounds = 2;  // rounds of loads in a tile before a split is worth a second launch

struct Columns {
  Space<2> outer;  // the other dims
  int64_t columns;
};

template <class T, int V>
class ColumnsLaunch {
 public:
  ColumnsLaunch(const Problem& problem, const Columns& c)
      : args_{Walk<2>(c.outer), c.outer.size(), c.columns, problem.n, problem.in_stride, problem.out_stride, 0, {}, {}, 1, 1, 0} {
    constexpr int64_t kLoads = kColumnBatch<T, V>;
    const int64_t n = problem.n;
    const int64_t across = divide_up(c.columns, V);
    const int least_depth = lanes_for(divide_up(n, kLoads), kTileThreads / simt::kWarpSize);
    args_.lanes = lanes_for(across, kTileThreads / least_depth);
    args_.depth = lanes_for(divide_up(n, kLoads), kTileThreads / args_.lanes);
    const int64_t tiles = divide_up(across, args_.lanes);
    const int64_t blocks = tiles * divide_up(c.outer.size(), kTileThreads / (args_.lanes * args_.depth));
    const int64_t step = kLoads * args_.depth;
    const bool is_few = blocks < policy().target_blocks / 4 && n >= step * kMinSplitRounds;
    const Split split = is_few || n > INT_MAX / 2 ? split_dim(n, step, blocks) : Split{n, 1};
    blocks_ = blocks * split.count;
    if (!fits()) return;
    args_.chunk = static_cast<int>(split.chunk);
    args_.tiles = FastDivisor(static_cast<uint32_t>(tiles));
    args_.splits = FastDivisor(static_cast<uint32_t>(split.count));
    if (split.count > 1) {
      workspace_size_ = sizeof(Stats<Value<T>>) * static_cast<size_t>(split.count * c.outer.size() * c.columns);
      simt::prepare(softmax_columns<T, V, Pass::kStats>);
      simt::prepare(softmax_columns<T, V, Pass::kWrite>);
    } else {
      constexpr int64_t kSlotBytes = kTileThreads * static_cast<int64_t>(sizeof(Packet<T, V>));
      args_.cached =
          static_cast<int>(std::min(divide_up(n, args_.depth), static_cast<int64_t>(policy().columns_cached_bytes) / kSlotBytes));
      shared_bytes_ = static_cast<size_t>(args_.cached * kSlotBytes);
      simt::prepare(softmax_columns<T, V, Pass::kWhole>, shared_bytes_);
    }
  }

  bool fits() const { return blocks_ <= kMaxBlocks; }
  size_t workspace_size() const { return workspace_size_; }

  void operator()(const Launch& launch) const {
    if (workspace_size_ == 0) return run<Pass::kWhole>(launch);
    run<Pass::kStats>(launch);
    run<Pass::kWrite>(launch);
  }

 private:
  template <Pass pass>
  void run(const Launch& launch) const {
    simt::launch(softmax_columns<T, V, pass>, dim3(static_cast<unsigned>(blocks_)), dim3(kTileThreads), shared_bytes_,
                 launch.stream, static_cast<const T*>(launch.in[0]), static_cast<T*>(launch.out),
                 static_cast<Stats<Value<T>>*>(launch.workspace), args_);
  }

  ColumnsArgs args_;
  int64_t blocks_ = 0;
  size_t shared_bytes_ = 0;
  size_t workspace_size_ = 0;
};

// Whether every packet of columns starts on a vector boundary when element 0 of both tensors does.
bool is_vector_layout(const Problem& problem, const Columns& c, int64_t size) {
  const auto fits = [&](int64_t value) { return value % size == 0; };
  bool all = fits(c.columns) && fits(problem.in_stride) && fits(problem.out_stride);
  for (size_t k = 0; k < 2; ++k) {
    all = all && fits(c.outer.offset[k]);
    for (size_t d = 0; d < static_cast<size_t>(c.outer.ndim); ++d) all = all && fits(c.outer.strides[k][d]);
  }
  return all;
}

template <class T>
std::unique_ptr<const Plan> make_typed_columns(const Problem& problem, const Columns& c, const char** reason) {
  const ColumnsLaunch<T, 1> scalar(problem, c);
  OPRT_REQUIRE(scalar.fits(), "fewer than 2^31 blocks");
  if (!is_vector_layout(problem, c, Vector<T>::kSize)) {
    return std::make_unique<RunPlan>([scalar](const Launch& launch) { scalar(launch); }, scalar.workspace_size());
  }
  const ColumnsLaunch<T, Vector<T>::kSize> vectors(problem, c);
  return std::make_unique<RunPlan>(
      [scalar, vectors](const Launch& launch) {
        const bool is_aligned = simt::is_vector_aligned(launch.in[0]) && simt::is_vector_aligned(launch.out);
        is_aligned ? vectors(launch) : scalar(launch);
      },
      std::max(scalar.workspace_size(), vectors.workspace_size()));
}

}  // namespace

std::unique_ptr<const Plan> make_columns(const Problem& problem, const char** reason) {
  const Space<2>& rows = problem.rows;
  OPRT_REQUIRE(rows.size() > 0, "elements");
  size_t at = 0;
  while (at < static_cast<size_t>(rows.ndim) && (rows.strides[0][at] != 1 || rows.strides[1][at] != 1)) ++at;
  OPRT_REQUIRE(at < static_cast<size_t>(rows.ndim), "another dim that is contiguous in both tensors");
  Columns c{rows, rows.shape[at]};
  --c.outer.ndim;
  for (size_t d = at; d < static_cast<size_t>(c.outer.ndim); ++d) {
    c.outer.shape[d] = rows.shape[d + 1];
    for (size_t k = 0; k < 2; ++k) c.outer.strides[k][d] = rows.strides[k][d + 1];
  }
  return with_float(problem.dtype, [&](auto element) { return make_typed_columns<decltype(element)>(problem, c, reason); });
}

}  // namespace oprt::softmax::OPRT_VENDOR
