// Plans over rows: those that contiguous and strided rows share, and the one for short aligned rows.
#pragma once

#include "core/error.h"
#include "ops/softmax/kernels.cuh"
#include "ops/softmax/nvidia/plans.h"
#include "ops/softmax/packed_rows.cuh"
#include "ops/softmax/short_rows.cuh"

namespace oprt::softmax::OPRT_VENDOR {

constexpr size_t kStaticSharedBytes = 1024;  // set aside for the kernels' own

template <class T, template <class> class Stretch>
class RowPlans {
 public:
  explicit RowPlans(const Problem& problem)
      : args_{Walk<2>(problem.rows), problem.rows.size(), problem.n, 1, 0, 0, FastDivisor(1)} {
    if constexpr (std::is_same_v<Stretch<T>, Strided<T>>) strides_ = {problem.in_stride, problem.out_stride};
  }

  // At most kThreads * kPackets packets a row; kThreads 0 is `lanes` threads of a warp.
  template <int kThreads, int kPackets>
  std::unique_ptr<const Plan> in_registers(int lanes) {
    args_.lanes = lanes;
    const int64_t blocks = kThreads == 0 ? divide_up(args_.num_rows, kGroupBlockThreads / lanes) : args_.num_rows;
    return plan(softmax_rows<T, Stretch, kThreads, kPackets>, blocks, kThreads == 0 ? kGroupBlockThreads : kThreads, 0);
  }

  // At most kThreads * kPackets packets a row, contiguous.
  template <int kThreads, int kPackets, int kPerSm>
  std::unique_ptr<const Plan> packed() {
    const auto kernel = softmax_rows_packed<T, kThreads, kPackets, kPerSm>;
    simt::prepare(kernel);
    return std::make_unique<RunPlan>(
        [=, args = args_](const Launch& launch) {
          simt::launch(kernel, dim3(static_cast<unsigned>(args.num_rows)), dim3(kThreads), 0, launch.stream,
                       static_cast<const T*>(launch.in[0]), static_cast<T*>(launch.out), args);
        },
        0);
  }

  // Any length below 2^31.
  std::unique_ptr<const Plan> streamed() {
    constexpr int kSmall = 512, kLarge = 1024;
    const auto available = static_cast<int64_t>(oprt::OPRT_VENDOR::device_properties().shared_bytes_per_block);
    const int64_t half = available / 2 - static_cast<int64_t>(kStaticSharedBytes);
    if (divide_up(args_.n, kSize) * kPacketBytes <= half) return streamed<kSmall>(half);
    return streamed<kLarge>(available - static_cast<int64_t>(kStaticSharedBytes));
  }

  std::unique_ptr<const Plan> split() {
    const Split split = split_dim(divide_up(args_.n, kSize), int64_t{kSplitThreads} * 4, args_.num_rows);
    OPRT_CHECK(args_.num_rows <= kMaxBlocks / split.count, "out", OPRT_ERR_UNSUPPORTED,
               "%lld rows of %lld elements are more than a grid covers", static_cast<long long>(args_.num_rows),
               static_cast<long long>(args_.n));
    args_.chunk = static_cast<int>(split.chunk * kSize);
    args_.splits = FastDivisor(static_cast<uint32_t>(split.count));
    const auto stats = softmax_split_stats<T, Stretch>;
    const auto write = softmax_split_write<T, Stretch>;
    simt::prepare(stats);
    simt::prepare(write);
    const dim3 grid(static_cast<unsigned>(args_.num_rows * split.count));
    const size_t workspace_size = sizeof(Stats<Value<T>>) * grid.x;
    return std::make_unique<RunPlan>(
        [=, args = args_, strides = strides_](const Launch& launch) {
          const auto* in = static_cast<const T*>(launch.in[0]);
          auto* partials = static_cast<Stats<Value<T>>*>(launch.workspace);
          simt::launch(stats, grid, dim3(kSplitThreads), 0, launch.stream, in, partials, args, strides);
          simt::launch(write, grid, dim3(kSplitThreads), 0, launch.stream, in, static_cast<T*>(launch.out), partials, args,
                       strides);
        },
        workspace_size);
  }

 private:
  static constexpr int64_t kSize = Stretch<T>::kSize;
  static constexpr int64_t kPacketBytes = sizeof(typename Stretch<T>::Packet);

  template <int kThreads>
  std::unique_ptr<const Plan> streamed(int64_t shared_bytes) {
    const int64_t packets = divide_up(divide_up(args_.n, kSize), kThreads);
    args_.cached = static_cast<int>(std::min(packets, shared_bytes / (kThreads * kPacketBytes)));
    return plan(softmax_stream<T, Stretch, kThreads>, args_.num_rows, kThreads,
                static_cast<size_t>(args_.cached * kThreads * kPacketBytes));
  }

  template <class Kernel>
  std::unique_ptr<const Plan> plan(Kernel* kernel, int64_t blocks, int threads, size_t shared_bytes) {
    simt::prepare(kernel, shared_bytes);
    return std::make_unique<RunPlan>(
        [=, args = args_, strides = strides_](const Launch& launch) {
          simt::launch(kernel, dim3(static_cast<unsigned>(blocks)), dim3(static_cast<unsigned>(threads)), shared_bytes,
                       launch.stream, static_cast<const T*>(launch.in[0]), static_cast<T*>(launch.out), args, strides);
        },
        0);
  }

  RowsArgs args_;
  typename Stretch<T>::Strides strides_{};
};

// Rows of `kLanes` lanes with aligned vectors; `otherwise` runs where a tensor is not aligned.
template <class T, int kLanes>
class ShortRowsPlan final : public Plan {
 public:
  ShortRowsPlan(const Problem& problem, std::unique_ptr<const Plan> otherwise)
      : rows_(problem.rows), n_(problem.n), otherwise_(std::move(otherwise)) {
    simt::prepare(softmax_short_rows<T, kLanes>);
  }

  void execute(const Launch& launch) const override {
    const auto* in = static_cast<const T*>(launch.in[0]) + rows_.offset[1];
    auto* out = static_cast<T*>(launch.out) + rows_.offset[0];
    if (!simt::is_vector_aligned(in) || !simt::is_vector_aligned(out)) return otherwise_->execute(launch);
    const auto blocks = static_cast<unsigned>(divide_up(rows_.size(), kShortRowThreads / kLanes));
    simt::launch(softmax_short_rows<T, kLanes>, dim3(blocks), dim3(kShortRowThreads), 0, launch.stream, in, out,
                 rows_.strides[1][0], rows_.strides[0][0], static_cast<int>(n_ / Vector<T>::kSize), rows_.size());
  }

 private:
  Space<2> rows_;
  int64_t n_;
  std::unique_ptr<const Plan> otherwise_;
};

// Whether rows of aligned tensors are whole aligned vectors, few enough for softmax_short_rows.
template <class T>
bool has_short_rows(const Problem& problem) {
  constexpr int kSize = Vector<T>::kSize;
  const Space<2>& rows = problem.rows;
  return problem.in_stride == 1 && problem.out_stride == 1 && rows.ndim == 1 && rows.strides[0][0] % kSize == 0 &&
         rows.strides[1][0] % kSize == 0 && problem.n % kSize == 0 && problem.n / kSize <= kShortRowVectors * simt::kWarpSize;
}

template <class T, int kLanes = 1>
std::unique_ptr<const Plan> make_short_rows(const Problem& problem, std::unique_ptr<const Plan> otherwise) {
  if constexpr (kLanes < simt::kWarpSize) {
    if (problem.n / Vector<T>::kSize > kLanes * kShortRowVectors)
      return make_short_rows<T, 2 * kLanes>(problem, std::move(otherwise));
  }
  return std::make_unique<ShortRowsPlan<T, kLanes>>(problem, std::move(otherwise));
}

// Few long rows, or one that a block cannot count.
inline bool is_split(int64_t num_rows, int64_t packets, int64_t n) {
  return n > INT_MAX / 2 || (num_rows <= policy().max_split_rows && packets >= policy().min_split_packets);
}

}  // namespace oprt::softmax::OPRT_VENDOR
