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
#include "ops/reduce_sum/reduce_sum.h"

namespace oprt::reduce_sum {
namespace {

using cpu::Bool;
using cpu::Offsets;
using cpu::Total;

constexpr int64_t kColumns = 128;  // outputs that are summed side by side
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
    // A row that is one line needs no walk.
    is_line_ = problem.reduced.ndim <= 1 && this->row_size_ > 0;
  }

  void execute(const Launch& launch) const override {
    const T* in = static_cast<const T*>(launch.in[0]) + this->reduced_.offset[0];
    if (this->num_parts_ > 1) {
      auto* sums = static_cast<Total<T>*>(launch.workspace);
      parallel_for(this->num_parts_ * this->num_outputs_, 1, [&](int64_t begin, int64_t end) {
        cpu::vectorized([&] {
          for (int64_t i = begin; i < end; ++i) {
            const int64_t start = cpu::locate(this->kept_, this->kept_.ndim, i % this->num_outputs_)[1];
            sums[i] = sum_row(in + start, this->part_range(i / this->num_outputs_));
          }
        });
      });
      this->combine(launch);
      return;
    }
    parallel_for(this->num_outputs_, kPieceElements<T> / (this->row_size_ + 8) + 1, [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        cpu::for_each_line(this->kept_, begin, end, [&](const Offsets<2>& at, const Offsets<2>& stride, int64_t n) {
          for (int64_t i = 0; i < n; ++i) {
            const Total<T> sum = sum_row(in + at[1] + i * stride[1], {0, this->row_size_});
            this->store_(launch.out, at[0] + i * stride[0], 0, &sum, 1);
          }
        });
      });
    });
  }

 private:
  Total<T> sum_row(const T* in, const std::array<int64_t, 2>& range) const {
    if (is_line_) {
      const int64_t stride = this->reduced_.strides[0][1];
      return cpu::sum_line(in + range[0] * stride, stride, range[1] - range[0]);
    }
    // Offsets of the walk are counted from element 0, and `in` already contains the reduced space's own.
    cpu::Cascade<Total<T>, 1> cascade;
    cpu::for_each_line(this->reduced_, range[0], range[1], [&](const Offsets<1>& at, const Offsets<1>& stride, int64_t n) {
      cpu::push_line(cascade, in + at[0] - this->reduced_.offset[0], stride[0], n);
    });
    Total<T> sum;
    cascade.finish(&sum, 1);
    return sum;
  }

  bool is_line_;
};

// Sums of `width` neighbouring columns, `stride` elements apart; lines of the reduced space come one after the other.
template <class T, class Stride>
class ColumnSums {
 public:
  ColumnSums(Stride stride, int64_t width) : stride_(stride), width_(width) { clear(); }

  void add_lines(const T* in, int64_t line_stride, int64_t num_lines) {
    int64_t i = 0;
    for (; i + 4 <= num_lines; i += 4) {
      const T* lines = in + i * line_stride;
      OPRT_CPU_INDEPENDENT
      for (int64_t j = 0; j < width_; ++j) {
        const T* at = lines + j * stride_;
        partial_[j] += (cpu::addend(at[0]) + cpu::addend(at[line_stride])) +
                       (cpu::addend(at[2 * line_stride]) + cpu::addend(at[3 * line_stride]));
      }
      count();
    }
    for (; i < num_lines; ++i) {
      const T* line = in + i * line_stride;
      OPRT_CPU_INDEPENDENT
      for (int64_t j = 0; j < width_; ++j) partial_[j] += cpu::addend(line[j * stride_]);
      count();
    }
  }

  void finish(Total<T>* sums) {
    cascade_.push(partial_, width_);
    cascade_.finish(sums, width_);
  }

 private:
  void clear() { std::fill_n(partial_, width_, cpu::Partial<T>{}); }

  // A chain of additions ends 2 below the limit: four lines are added among themselves first.
  void count() {
    if (++chain_ < cpu::kMaxChain - 2) return;
    cascade_.push(partial_, width_);
    clear();
    chain_ = 0;
  }

  Stride stride_;
  int64_t width_;
  int64_t chain_ = 0;
  cpu::Partial<T> partial_[kColumns];
  cpu::Cascade<Total<T>, kColumns> cascade_;
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
    if (fused_lines_ > 1) {
      sum_fused(start, this->part_range(part), sums);
    } else if (stride[1] == 1) {
      sum_columns(start, std::integral_constant<int64_t, 1>{}, width, this->part_range(part), sums);
    } else {
      sum_columns(start, stride[1], width, this->part_range(part), sums);
    }
    if (this->num_parts_ > 1) {
      auto* parts = static_cast<Total<T>*>(launch.workspace) + part * this->num_outputs_;
      std::copy_n(sums, width, parts + outer * num_columns_ + first);
    } else {
      this->store_(launch.out, at[0] + first * stride[0], stride[0], sums, width);
    }
  }

  template <class Stride>
  void sum_columns(const T* in, Stride stride, int64_t width, const std::array<int64_t, 2>& range, Total<T>* sums) const {
    ColumnSums<T, Stride> columns(stride, width);
    const int64_t across = this->reduced_.strides[0][this->reduced_.ndim - 2];
    const int64_t along = this->reduced_.strides[0][this->reduced_.ndim - 1];
    cpu::for_each_block(this->reduced_, range[0], range[1], [&](const Offsets<1>& at, int64_t rows, int64_t n) {
      for (int64_t row = 0; row < rows; ++row) columns.add_lines(in + at[0] + row * across, along, n);
    });
    columns.finish(sums);
  }

  // The reduced space is one dim here, and its lines are contiguous.
  void sum_fused(const T* in, const std::array<int64_t, 2>& range, Total<T>* sums) const {
    using One = std::integral_constant<int64_t, 1>;
    const T* start = in + this->reduced_.offset[0] + range[0] * num_columns_;
    const int64_t num_fused = (range[1] - range[0]) / fused_lines_;
    int64_t width = num_columns_ * fused_lines_;
    ColumnSums<T, One> fused(One{}, width);
    fused.add_lines(start, width, num_fused);
    fused.finish(sums);
    ColumnSums<T, One> rest(One{}, num_columns_);
    rest.add_lines(start + num_fused * width, num_columns_, range[1] - range[0] - num_fused * fused_lines_);
    Total<T> rest_sums[kColumns];
    rest.finish(rest_sums);
    for (width /= 2; width >= num_columns_; width /= 2) {
      for (int64_t j = 0; j < width; ++j) sums[j] += sums[j + width];
    }
    for (int64_t j = 0; j < num_columns_; ++j) sums[j] += rest_sums[j];
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

// The kept space with its fastest dim of some width last, as the input sees it.
Space<2> columns_last(const Space<2>& kept) {
  constexpr int64_t kWide = 8;
  Space<2> result = cpu::at_least_2d(kept);
  const auto stride = [&](int d) { return std::abs(result.strides[1][d]); };
  int best = result.ndim - 1;
  for (int d = 0; d < result.ndim; ++d) {
    const bool wide = result.shape[d] >= kWide && stride(d) != 0;
    if (wide && (result.shape[best] < kWide || stride(best) == 0 || stride(d) < stride(best))) best = d;
  }
  std::swap(result.shape[best], result.shape[result.ndim - 1]);
  for (auto& strides : result.strides) std::swap(strides[best], strides[result.ndim - 1]);
  return result;
}

bool prefers_columns(const Space<2>& kept, const Space<1>& reduced) {
  const int last = kept.ndim - 1;
  const int64_t row_size = reduced.size();
  if (kept.size() == 0 || row_size <= 1) return false;
  if (row_size <= kShortRow) return kept.shape[last] >= 8;
  const int64_t column_stride = std::abs(kept.strides[1][last]);
  const int64_t row_stride = std::abs(reduced.strides[0][reduced.ndim - 1]);
  const bool dense = reduced.ndim == 1 && column_stride == 1 && row_stride == kept.shape[last];
  return column_stride != 0 && column_stride < row_stride && (dense || kept.shape[last] >= 8);
}

std::unique_ptr<const Plan> make_columns(const Problem& problem, const char** reason) {
  const Space<2> kept = columns_last(problem.kept);
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
