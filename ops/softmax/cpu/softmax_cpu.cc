// softmax on the cpu. "rows" takes one row at a time, contiguous or not; "columns" takes neighbouring rows side by side, which
// keeps loads contiguous where softmax runs over another dim than the last, and keeps short rows busy; "split_rows" shares one
// long row among threads. All compute in float (double for float64) and round once, when the result is stored.
#include <array>
#include <cstdlib>

#include "backends/cpu/isa.h"
#include "backends/cpu/walk.h"
#include "core/dispatch.h"
#include "core/divide_up.h"
#include "core/threads.h"
#include "ops/softmax/cpu/softmax_lines.h"
#include "ops/softmax/softmax.h"

namespace oprt::softmax {
namespace {

using cpu::Offsets;

constexpr int64_t kPieceElements = 16384;

template <class T>
class RowPlan : public Plan {
 public:
  explicit RowPlan(const Problem& problem) : RowPlan(problem, cpu::at_least_2d(problem.rows)) {}
  RowPlan(const Problem& problem, const Space<2>& rows) : problem_(problem), rows_(rows) {}

 protected:
  Part<T> row_at(const Launch& launch, int64_t out_offset, int64_t in_offset) const {
    return {static_cast<T*>(launch.out) + out_offset, problem_.out_stride, static_cast<const T*>(launch.in[0]) + in_offset,
            problem_.in_stride, problem_.n};
  }

  Problem problem_;
  Space<2> rows_;
};

template <class T>
class Rows final : public RowPlan<T> {
 public:
  using RowPlan<T>::RowPlan;

  void execute(const Launch& launch) const override {
    const int64_t n = this->problem_.n;
    parallel_for(this->rows_.size(), kPieceElements / (n + 8) + 1, [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        cpu::for_each_line(this->rows_, begin, end, [&](const Offsets<2>& at, const Offsets<2>& stride, int64_t count) {
          for (int64_t i = 0; i < count; ++i) {
            const Part<T> row = this->row_at(launch, at[0] + i * stride[0], at[1] + i * stride[1]);
            if (n <= kBuffer) {
              softmax_short(row);
            } else {
              const Compute<T> max = max_part(row);
              store_part(row, max, sum_part(row, max));
            }
          }
        });
      });
    });
  }
};

template <class T>
class SplitRows final : public RowPlan<T> {
 public:
  using RowPlan<T>::RowPlan;

  void execute(const Launch& launch) const override {
    for (int64_t i = 0; i < this->rows_.size(); ++i) {
      const Offsets<2> at = cpu::locate(this->rows_, this->rows_.ndim, i);
      softmax_row(this->row_at(launch, at[0], at[1]));
    }
  }

 private:
  static constexpr int64_t kParts = 64;
  using C = Compute<T>;

  static void softmax_row(const Part<T>& row) {
    std::array<C, kParts> partial;
    for_each_part(row, [&](const Part<T>& part, int64_t i) { partial[i] = max_part(part); });
    const C max = max_line(partial.data(), kParts);
    for_each_part(row, [&](const Part<T>& part, int64_t i) { partial[i] = sum_part(part, max); });
    const C sum = sum_line(partial.data(), kParts);
    for_each_part(row, [&](const Part<T>& part, int64_t) { store_part(part, max, sum); });
  }

  template <class Body>
  static void for_each_part(const Part<T>& row, const Body& body) {
    parallel_for(kParts, 1, [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t size = divide_up(row.n, kParts);
          const int64_t first = std::min(i * size, row.n);
          body({row.out + first * row.out_stride, row.out_stride, row.in + first * row.in_stride, row.in_stride,
                std::min(size, row.n - first)},
               i);
        }
      });
    });
  }
};

template <class T>
class Columns final : public RowPlan<T> {
 public:
  Columns(const Problem& problem, const Space<2>& rows) : RowPlan<T>(problem, rows) {
    constexpr int64_t kFewestInBuffer = 16;
    const int64_t in_buffer = 2 * kBuffer / problem.n;
    is_tall_ = in_buffer < std::min(kFewestInBuffer, this->rows_.shape[this->rows_.ndim - 1]);
    width_ = is_tall_ ? kColumns : std::min(in_buffer, kColumns);
    blocks_ = divide_up(this->rows_.shape[this->rows_.ndim - 1], width_);
  }

  void execute(const Launch& launch) const override {
    const int last = this->rows_.ndim - 1;
    const int64_t num_columns = this->rows_.shape[last];
    const Offsets<2> step = cpu::strides_of(this->rows_, last);
    const int64_t grain = kPieceElements / (std::min(width_, num_columns) * this->problem_.n) + 1;
    parallel_for(this->rows_.size() / num_columns * blocks_, grain, [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t first = i % blocks_ * width_;
          const Offsets<2> at = cpu::locate(this->rows_, last, i / blocks_);
          const Block<T> block = {this->row_at(launch, at[0] + first * step[0], at[1] + first * step[1]), step[0], step[1],
                                  std::min(width_, num_columns - first)};
          if (is_tall_) {
            softmax_tall_block(block);
          } else {
            softmax_block(block);
          }
        }
      });
    });
  }

 private:
  bool is_tall_;
  int64_t width_;
  int64_t blocks_;
};

template <template <class> class ThePlan, class... More>
std::unique_ptr<const Plan> make_plan(const Problem& problem, const More&... more) {
  return with_float(problem.dtype,
                    [&]<class T>(T) -> std::unique_ptr<const Plan> { return std::make_unique<ThePlan<T>>(problem, more...); });
}

std::unique_ptr<const Plan> make_split_rows(const Problem& problem, const char** reason) {
  constexpr int64_t kLongRow = int64_t{1} << 18;
  constexpr int64_t kLongForFew = int64_t{1} << 16;
  OPRT_REQUIRE(problem.n >= kLongRow || (problem.n >= kLongForFew && problem.rows.size() <= 8), "long rows");
  return make_plan<SplitRows>(problem);
}

std::unique_ptr<const Plan> make_columns(const Problem& problem, const char** reason) {
  constexpr int64_t kShortRow = 32;
  constexpr int64_t kFewest = 8;
  const Space<2> rows = cpu::with_fast_dim_last(cpu::at_least_2d(problem.rows), 1);
  OPRT_REQUIRE(problem.n > 0 && rows.shape[rows.ndim - 1] >= kFewest, "eight neighbouring rows or more");
  const int64_t step = std::abs(rows.strides[1][rows.ndim - 1]);
  OPRT_REQUIRE(problem.n <= kShortRow || step < std::abs(problem.in_stride), "short rows, or rows that lie side by side");
  return make_plan<Columns>(problem, rows);
}

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char**) { return make_plan<Rows>(problem); }

constexpr Implementation kImplementations[] = {
    implement<Problem, make_split_rows>("split_rows"),
    implement<Problem, make_columns>("columns"),
    implement<Problem, make_rows>("rows"),
};

}  // namespace

Implementations cpu_implementations() { return kImplementations; }

}  // namespace oprt::softmax
