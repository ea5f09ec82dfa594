// The frame of both implementations: outputs, the reduced range and its parts, and where sums go.
#pragma once

#include <algorithm>
#include <array>

#include "backends/cpu/sum.h"
#include "backends/cpu/walk.h"
#include "core/dispatch.h"
#include "core/divide_up.h"
#include "ops/reduce_sum/reduce_sum.h"

namespace oprt::reduce_sum {

using cpu::Total;

// Writes n totals to out, `stride` elements apart.
template <class Sum>
using Store = void (*)(void* out, int64_t offset, int64_t stride, const Sum* sums, int64_t n);

template <class Out, class Sum>
void store_sums(void* out, int64_t offset, int64_t stride, const Sum* sums, int64_t n) {
  Out* first = static_cast<Out*>(out) + offset;
  for (int64_t i = 0; i < n; ++i) first[i * stride] = cpu::store<Out>(static_cast<cpu::Compute<Out>>(sums[i]));
}

template <class Sum>
Store<Sum> find_store(oprt_dtype_t dtype) {
  if constexpr (std::is_same_v<Sum, uint64_t>) {
    return store_sums<int64_t, Sum>;
  } else if constexpr (std::is_same_v<Sum, double>) {
    return store_sums<double, Sum>;
  } else {
    if (dtype == OPRT_DTYPE_FLOAT16) return store_sums<Float16, Sum>;
    if (dtype == OPRT_DTYPE_BFLOAT16) return store_sums<BFloat16, Sum>;
    return store_sums<float, Sum>;
  }
}

// What both implementations share: the spaces, and the parts of the reduced range.
template <class T>
class SplitPlan : public Plan {
 protected:
  SplitPlan(const Problem& problem, const Space<2>& kept)
      : kept_(kept),
        reduced_(cpu::at_least_2d(problem.reduced)),
        num_outputs_(kept.size()),
        row_size_(reduced_.size()),
        part_size_(std::max<int64_t>(row_size_, 1)),
        store_(find_store<Total<T>>(problem.out_dtype)) {}

  // `num_tasks` tasks without a split.
  void split(int64_t num_tasks) {
    constexpr int64_t kEnoughTasks = 64;
    constexpr int64_t kWorthATask = 32768;  // elements
    const int64_t by_size = num_outputs_ > 0 ? row_size_ / (kWorthATask / std::min(kWorthATask, num_outputs_) + 1) : 0;
    const int64_t parts = std::max<int64_t>(1, std::min(kEnoughTasks / std::max<int64_t>(num_tasks, 1), by_size));
    part_size_ = std::max<int64_t>(1, divide_up(row_size_, parts));
    num_parts_ = std::max<int64_t>(1, divide_up(row_size_, part_size_));
    if (num_parts_ > 1) workspace_size_ = static_cast<size_t>(num_parts_ * num_outputs_) * sizeof(Total<T>);
  }

  // Elements of a row that are in part `part`, as [begin, end).
  std::array<int64_t, 2> part_range(int64_t part) const {
    const int64_t begin = part * part_size_;
    return {begin, begin + std::min(part_size_, row_size_ - begin)};
  }

  // Keeps the sums of n tasks: in the workspace from `task` on where there are parts, else in out.
  void keep(const Launch& launch, int64_t task, int64_t offset, int64_t stride, const Total<T>* sums, int64_t n) const {
    if (num_parts_ > 1) {
      std::copy_n(sums, n, static_cast<Total<T>*>(launch.workspace) + task);
    } else {
      store_(launch.out, offset, stride, sums, n);
    }
  }

  // Adds the parts of every output.
  void combine(const Launch& launch) const {
    const auto* sums = static_cast<const Total<T>*>(launch.workspace);
    for (int64_t output = 0; output < num_outputs_; ++output) {
      cpu::Cascade<Total<T>, 1> cascade;
      for (int64_t part = 0; part < num_parts_; ++part) cascade.push(sums + part * num_outputs_ + output, 1);
      Total<T> sum;
      cascade.finish(&sum, 1);
      store_(launch.out, cpu::locate(kept_, kept_.ndim, output)[0], 0, &sum, 1);
    }
  }

  Space<2> kept_;
  Space<1> reduced_;
  int64_t num_outputs_;
  int64_t row_size_;
  int64_t part_size_;
  int64_t num_parts_ = 1;
  Store<Total<T>> store_;
};

}  // namespace oprt::reduce_sum
