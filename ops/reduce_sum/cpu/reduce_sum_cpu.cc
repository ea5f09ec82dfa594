// reduce_sum on the cpu. "columns" adds lines of neighbouring outputs, so that loads are contiguous where the kept dims run
// fastest; "rows" sums along the reduced dims. Where there are few outputs the reduced range is split into parts, whose sums lie in
// the workspace as [part][output] until they are added. Parts depend on the shape alone, so bits do not depend on the threads.
#include <array>
#include <cstdlib>

#include "backends/cpu/isa.h"
#include "backends/cpu/sum.h"
#include "backends/cpu/walk.h"
#include "core/dispatch.h"
#include "core/threads.h"
#include "ops/reduce_sum/cpu/column_sums.h"
#include "ops/reduce_sum/cpu/split_plan.h"
#include "ops/reduce_sum/reduce_sum.h"

namespace oprt::reduce_sum {
namespace {

using cpu::Offsets;

constexpr int64_t kShortRow = 16;  // elements; up to here rows side by side beat sums along a row

template <class T>
constexpr int64_t kPieceElements = cpu::kPieceBytes / static_cast<int64_t>(sizeof(T));

template <class T>
class Rows final : public SplitPlan<T> {
 public:
  explicit Rows(const Problem& problem) : SplitPlan<T>(problem, cpu::at_least_2d(problem.kept)) {
    this->split(this->num_outputs_);
    is_short_line_ = problem.reduced.ndim <= 1 && this->reduced_.strides[0][1] == 1 &&
                     this->row_size_ <= cpu::kMaxChain * cpu::kLanes && this->num_parts_ == 1;
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
            const T* row = in + at[1] + i * stride[1];
            const Total<T> sum = is_short_line_ ? cpu::sum_contiguous(row + this->reduced_.offset[0], this->row_size_)
                                                : sum_row(row, this->num_parts_ > 1 ? task / this->num_outputs_ : 0);
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

  Space<3> tasks_;      // operands 0 out, 1 in, 2 the position in the workspace
  bool is_short_line_;  // contiguous, and no longer than one chunk: no walk, no tree
};

template <class T>
class Columns final : public SplitPlan<T> {
 public:
  Columns(const Problem& problem, const Space<2>& kept) : SplitPlan<T>(problem, kept) {
    const int last = kept.ndim - 1;
    num_columns_ = kept.shape[last];
    blocks_ = divide_up(num_columns_, kColumns);
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
  return with_addend(problem.in_dtype,
                     [&]<class T>(T) -> std::unique_ptr<const Plan> { return std::make_unique<Columns<T>>(problem, kept); });
}

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char**) {
  return with_addend(problem.in_dtype,
                     [&]<class T>(T) -> std::unique_ptr<const Plan> { return std::make_unique<Rows<T>>(problem); });
}

constexpr Implementation kImplementations[] = {
    implement<Problem, make_columns>("columns"),
    implement<Problem, make_rows>("rows"),
};

}  // namespace

Implementations cpu_implementations() { return kImplementations; }

}  // namespace oprt::reduce_sum
