// reduce_sum on the cpu. "columns" adds lines of neighbouring outputs, so that loads are contiguous where the kept dims run
// fastest; "rows" sums along the reduced dims. Where there are few outputs the reduced range is split into parts, whose sums lie in
// the workspace as [part][output] until they are added. Parts depend on the shape alone, so bits do not depend on the threads.
#include <array>
#include <cstdlib>

#include "backends/cpu/isa.h"
#include "backends/cpu/sum.h"
#include "backends/cpu/walk.h"
#include "core/dispatch.h"
#include "core/error.h"
#include "core/threads.h"
#include "ops/reduce_sum/cpu/column_sums.h"
#include "ops/reduce_sum/reduce_sum.h"

namespace oprt::reduce_sum {
namespace {

using cpu::Bool;
using cpu::Offsets;
using cpu::Total;

constexpr int64_t kShortRow = 16;  // elements; up to here rows side by side beat sums along a row

template <class T>
constexpr int64_t kPieceElements = cpu::kPieceBytes / static_cast<int64_t>(sizeof(T));

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
    part_size_ = std::max<int64_t>(1, (row_size_ + parts - 1) / parts);
    num_parts_ = std::max<int64_t>(1, (row_size_ + part_size_ - 1) / part_size_);
    if (num_parts_ > 1) workspace_size_ = static_cast<size_t>(num_parts_ * num_outputs_) * sizeof(Total<T>);
  }

  // Elements of a row that are in part `part`, as [begin, end).
  std::array<int64_t, 2> part_range(int64_t part) const {
    return {part * part_size_, std::min((part + 1) * part_size_, row_size_)};
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

template <class T>
class Rows final : public SplitPlan<T> {
 public:
  explicit Rows(const Problem& problem) : SplitPlan<T>(problem, cpu::at_least_2d(problem.kept)) {
    this->split(this->num_outputs_);
    // A split has at least one reduced dimension, so the parts find place in front of the kept ones.
    const int added = this->num_parts_ > 1 ? std::max(1, 2 - problem.kept.ndim) : std::max(0, 2 - problem.kept.ndim);
    tasks_.ndim = problem.kept.ndim + added;
    tasks_.offset = {problem.kept.offset[0], problem.kept.offset[1], 0};
    int64_t step = 1;
    for (int d = tasks_.ndim - 1; d >= 0; --d) {
      const bool is_kept = d >= added;
      tasks_.shape[d] = is_kept ? problem.kept.shape[d - added] : d == 0 ? this->num_parts_ : 1;
      for (int k = 0; k < 2; ++k) tasks_.strides[k][d] = is_kept ? problem.kept.strides[k][d - added] : 0;
      tasks_.strides[2][d] = step;
      step *= tasks_.shape[d];
    }
  }

  void execute(const Launch& launch) const override {
    const T* in = static_cast<const T*>(launch.in[0]);
    parallel_for(tasks_.size(), kPieceElements<T> / (this->part_size_ + 8) + 1, [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        cpu::for_each_line(tasks_, begin, end, [&](const Offsets<3>& at, const Offsets<3>& stride, int64_t n) {
          for (int64_t i = 0; i < n; ++i) {
            const int64_t task = at[2] + i * stride[2];
            const Total<T> sum = sum_row(in + at[1] + i * stride[1], task / this->num_outputs_);
            this->keep(launch, task, at[0] + i * stride[0], 0, &sum, 1);
          }
        });
      });
    });
    if (this->num_parts_ > 1) this->combine(launch);
  }

 private:
  Total<T> sum_row(const T* in, int64_t part) const {
    cpu::Cascade<Total<T>, 1> cascade;
    const auto [begin, end] = this->part_range(part);
    cpu::for_each_line(this->reduced_, begin, end, [&](const Offsets<1>& at, const Offsets<1>& stride, int64_t n) {
      cpu::push_line(cascade, in + at[0], stride[0], n);
    });
    Total<T> sum;
    cascade.finish(&sum, 1);
    return sum;
  }

  Space<3> tasks_;  // operands 0 out, 1 in, 2 the position in the workspace
};

template <class T>
class Columns final : public SplitPlan<T> {
 public:
  Columns(const Problem& problem, const Space<2>& kept) : SplitPlan<T>(problem, kept) {
    const int last = kept.ndim - 1;
    num_columns_ = kept.shape[last];
    blocks_ = (num_columns_ + kColumns - 1) / kColumns;
    num_tasks_ = this->num_outputs_ / num_columns_ * blocks_;
    this->split(num_tasks_);
    // Few dense columns: lines that follow one another in memory are taken as one.
    const bool dense = problem.reduced.ndim == 1 && problem.reduced.strides[0][0] == num_columns_ && kept.strides[1][last] == 1;
    while (dense && num_columns_ * fused_lines_ * 2 <= kColumns) fused_lines_ *= 2;
  }

  void execute(const Launch& launch) const override {
    const T* in = static_cast<const T*>(launch.in[0]);
    const int64_t work = std::min(num_columns_, kColumns) * this->part_size_;
    parallel_for(num_tasks_ * this->num_parts_, kPieceElements<T> / work + 1, [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        for (int64_t i = begin; i < end; ++i) run_task(launch, in, i % num_tasks_, i / num_tasks_);
      });
    });
    if (this->num_parts_ > 1) this->combine(launch);
  }

 private:
  void run_task(const Launch& launch, const T* in, int64_t task, int64_t part) const {
    const int last = this->kept_.ndim - 1;
    const int64_t outer = task / blocks_;
    const int64_t first = task % blocks_ * kColumns;
    const int64_t width = std::min(kColumns, num_columns_ - first);
    const Offsets<2> at = cpu::locate(this->kept_, last, outer);
    const Offsets<2> stride = cpu::strides_of(this->kept_, last);
    const T* start = in + at[1] + first * stride[1];
    Total<T> sums[kColumns];
    if (stride[1] == 1) {
      sum_dense(start, width, this->part_range(part), sums);
    } else {
      sum_columns(start, stride[1], {this->reduced_, width, this->part_range(part)}, sums);
    }
    const int64_t output = outer * num_columns_ + first;
    this->keep(launch, part * this->num_outputs_ + output, at[0] + first * stride[0], stride[0], sums, width);
  }

  // Elements [range) of `lines`, each of `width` columns.
  struct Lines {
    Space<1> lines;
    int64_t width;
    std::array<int64_t, 2> range;
  };

  template <class Stride>
  static void sum_columns(const T* in, Stride stride, const Lines& work, Total<T>* sums) {
    ColumnSums<T, Stride> columns(stride, work.width);
    const int64_t across = work.lines.strides[0][work.lines.ndim - 2];
    const int64_t along = work.lines.strides[0][work.lines.ndim - 1];
    cpu::for_each_block(work.lines, work.range[0], work.range[1], [&](const Offsets<1>& at, int64_t rows, int64_t n) {
      for (int64_t row = 0; row < rows; ++row) columns.add_lines(in + at[0] + row * across, along, n);
    });
    columns.finish(sums);
  }

  // Columns one step apart. Fused lines have a rest, whose sums are added at the end.
  void sum_dense(const T* in, int64_t width, const std::array<int64_t, 2>& range, Total<T>* sums) const {
    const int64_t num_fused = (range[1] - range[0]) / fused_lines_;
    const int64_t rest = range[0] + num_fused * fused_lines_;
    Lines passes[2] = {{this->reduced_, width, range}, {this->reduced_, width, {rest, range[1]}}};
    if (fused_lines_ > 1) {
      Lines& fused = passes[0];
      fused.width = width * fused_lines_;
      fused.lines.offset[0] += range[0] * width;
      fused.lines.shape[1] = num_fused;
      fused.lines.strides[0][1] = fused.width;
      fused.range = {0, num_fused};
    }
    Total<T> rest_sums[kColumns];
    for (int pass = 0; pass < (rest < range[1] ? 2 : 1); ++pass) {
      sum_columns(in, std::integral_constant<int64_t, 1>{}, passes[pass], pass == 0 ? sums : rest_sums);
    }
    for (int64_t left = passes[0].width / 2; left >= width; left /= 2) {
      for (int64_t j = 0; j < left; ++j) sums[j] += sums[j + left];
    }
    for (int64_t j = 0; rest < range[1] && j < width; ++j) sums[j] += rest_sums[j];
  }

  int64_t num_columns_;
  int64_t blocks_;
  int64_t num_tasks_;
  int64_t fused_lines_ = 1;
};

// Calls make(T{}) with the type that stores `dtype`.
template <class Make>
std::unique_ptr<const Plan> with_type(oprt_dtype_t dtype, Make&& make) {
  switch (dtype) {
    case OPRT_DTYPE_BOOL:
      return make(Bool{});
    case OPRT_DTYPE_INT8:
      return make(int8_t{});
    case OPRT_DTYPE_INT16:
      return make(int16_t{});
    case OPRT_DTYPE_INT32:
      return make(int32_t{});
    case OPRT_DTYPE_UINT8:
      return make(uint8_t{});
    case OPRT_DTYPE_UINT16:
      return make(uint16_t{});
    case OPRT_DTYPE_UINT32:
      return make(uint32_t{});
    case OPRT_DTYPE_INT64:
    case OPRT_DTYPE_UINT64:
      return make(uint64_t{});
    case OPRT_DTYPE_FLOAT16:
      return make(Float16{});
    case OPRT_DTYPE_BFLOAT16:
      return make(BFloat16{});
    case OPRT_DTYPE_FLOAT32:
      return make(float{});
    case OPRT_DTYPE_FLOAT64:
      return make(double{});
    default:
      throw Error(OPRT_ERR_INTERNAL, "", "%s has no kernel", oprt_dtype_name(dtype));
  }
}

bool prefers_columns(const Space<2>& kept, const Space<1>& reduced) {
  constexpr int64_t kFewest = 8;
  const int last = kept.ndim - 1;
  const int64_t row_size = reduced.size();
  if (kept.size() == 0 || row_size <= 1) return false;
  if (row_size <= kShortRow || reduced.shape[reduced.ndim - 1] <= kShortRow) return kept.shape[last] >= kFewest;
  const int64_t column_stride = std::abs(kept.strides[1][last]);
  const int64_t row_stride = std::abs(reduced.strides[0][reduced.ndim - 1]);
  const bool dense = reduced.ndim == 1 && column_stride == 1 && row_stride == kept.shape[last];
  return column_stride != 0 && column_stride < row_stride && (dense || kept.shape[last] >= kFewest);
}

std::unique_ptr<const Plan> make_columns(const Problem& problem, const char** reason) {
  const Space<2> kept = cpu::with_fast_dim_last(cpu::at_least_2d(problem.kept), 1);
  OPRT_REQUIRE(prefers_columns(kept, problem.reduced), "kept dimensions that run faster than the reduced ones, or short rows");
  return with_type(problem.in_dtype,
                   [&]<class T>(T) -> std::unique_ptr<const Plan> { return std::make_unique<Columns<T>>(problem, kept); });
}

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char**) {
  return with_type(problem.in_dtype, [&]<class T>(T) -> std::unique_ptr<const Plan> { return std::make_unique<Rows<T>>(problem); });
}

constexpr Implementation kImplementations[] = {
    implement<Problem, make_columns>("columns"),
    implement<Problem, make_rows>("rows"),
};

}  // namespace

Implementations cpu_implementations() { return kImplementations; }

}  // namespace oprt::reduce_sum
