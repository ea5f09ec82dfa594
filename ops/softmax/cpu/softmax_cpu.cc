// softmax on the cpu. "rows" takes one row at a time, contiguous or not; "columns" takes neighbouring rows side by side, which
// keeps loads contiguous where softmax runs over another dim than the last, and keeps short rows busy; "split_rows" shares one
// long row among threads. All compute in float (double for float64) and round once, when the result is stored.
#include <array>
#include <cstdlib>
#include <limits>

#include "backends/cpu/exp.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/sum.h"
#include "backends/cpu/walk.h"
#include "core/dispatch.h"
#include "core/error.h"
#include "core/threads.h"
#include "ops/softmax/softmax.h"

namespace oprt::softmax {
namespace {

using cpu::Compute;
using cpu::Offsets;

// Elements of the buffers, which stay in the first- and second-level cache.
constexpr int64_t kBuffer = 4096;
constexpr int64_t kPieceElements = 16384;
constexpr int64_t kColumns = 128;
constexpr int kLanes = 32;

template <class T>
constexpr T kLowest = -std::numeric_limits<T>::infinity();

// Never NaN: a NaN is no larger than anything, and comes back through exp.
template <class T>
inline T larger(T a, T b) {
  return b > a ? b : a;
}

template <class T>
void load_line(Compute<T>* buffer, const T* in, int64_t stride, int64_t n) {
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) buffer[i] = cpu::load(in[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) buffer[i] = cpu::load(in[i * stride]);
  }
}

template <class T>
void store_line(T* out, int64_t stride, const Compute<T>* buffer, Compute<T> divisor, int64_t n) {
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = cpu::store<T>(buffer[i] / divisor);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i * stride] = cpu::store<T>(buffer[i] / divisor);
  }
}

template <class C>
C max_line(const C* buffer, int64_t n) {
  C lanes[kLanes];
  std::fill_n(lanes, kLanes, kLowest<C>);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] = larger(lanes[j], buffer[i + j]);
  }
  C result = kLowest<C>;
  for (; i < n; ++i) result = larger(result, buffer[i]);
  for (int j = 0; j < kLanes; ++j) result = larger(result, lanes[j]);
  return result;
}

template <class C>
void exp_line(C* buffer, C max, int64_t n) {
  for (int64_t i = 0; i < n; ++i) buffer[i] = cpu::exp_nonpositive(buffer[i] - max);
}

// Part of a row: `n` neighbours from element `begin` of it.
template <class T>
struct Part {
  T* out;
  int64_t out_stride;
  const T* in;
  int64_t in_stride;
  int64_t n;
};

// A part that fits the buffer, max and sum included.
template <class T>
void softmax_short(const Part<T>& part) {
  Compute<T> buffer[kBuffer];
  load_line(buffer, part.in, part.in_stride, part.n);
  exp_line(buffer, max_line(buffer, part.n), part.n);
  store_line(part.out, part.out_stride, buffer, cpu::sum_line(buffer, 1, part.n), part.n);
}

// Calls body(buffer, begin, n) with each piece of `in`, loaded.
template <class T, class Body>
void for_each_chunk(const Part<T>& part, Body&& body) {
  Compute<T> buffer[kBuffer];
  for (int64_t begin = 0; begin < part.n; begin += kBuffer) {
    const int64_t n = std::min(kBuffer, part.n - begin);
    load_line(buffer, part.in + begin * part.in_stride, part.in_stride, n);
    body(buffer, begin, n);
  }
}

template <class T>
Compute<T> max_part(const Part<T>& part) {
  Compute<T> max = kLowest<Compute<T>>;
  for_each_chunk(part, [&](const Compute<T>* buffer, int64_t, int64_t n) { max = larger(max, max_line(buffer, n)); });
  return max;
}

template <class T>
Compute<T> sum_part(const Part<T>& part, Compute<T> max) {
  cpu::Cascade<Compute<T>, 1> cascade;
  for_each_chunk(part, [&](Compute<T>* buffer, int64_t, int64_t n) {
    exp_line(buffer, max, n);
    cpu::push_line(cascade, buffer, 1, n);
  });
  Compute<T> sum;
  cascade.finish(&sum, 1);
  return sum;
}

template <class T>
void store_part(const Part<T>& part, Compute<T> max, Compute<T> sum) {
  for_each_chunk(part, [&](Compute<T>* buffer, int64_t begin, int64_t n) {
    exp_line(buffer, max, n);
    store_line(part.out + begin * part.out_stride, part.out_stride, buffer, sum, n);
  });
}

template <class T>
class RowPlan : public Plan {
 public:
  explicit RowPlan(const Problem& problem) : problem_(problem), rows_(cpu::at_least_2d(problem.rows)) {}

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
    const C sum = cpu::sum_line(partial.data(), 1, kParts);
    for_each_part(row, [&](const Part<T>& part, int64_t) { store_part(part, max, sum); });
  }

  template <class Body>
  static void for_each_part(const Part<T>& row, const Body& body) {
    parallel_for(kParts, 1, [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t size = (row.n + kParts - 1) / kParts;
          const int64_t first = std::min(i * size, row.n);
          body({row.out + first * row.out_stride, row.out_stride, row.in + first * row.in_stride, row.in_stride,
                std::min(size, row.n - first)},
               i);
        }
      });
    });
  }
};

// `width` neighbouring rows; those of out are out_step elements apart, those of in in_step.
template <class T>
struct Block {
  Part<T> first;
  int64_t out_step;
  int64_t in_step;
  int64_t width;
};

// Lines across the rows lie one after the other in the buffer.
template <class T>
void softmax_block(const Block<T>& block) {
  using C = Compute<T>;
  const Part<T>& row = block.first;
  const int64_t width = block.width;
  C buffer[2 * kBuffer];
  C max[kColumns];
  C sum[kColumns] = {};
  std::fill_n(max, width, kLowest<C>);
  for (int64_t i = 0; i < row.n; ++i) {
    C* line = buffer + i * width;
    load_line(line, row.in + i * row.in_stride, block.in_step, width);
    for (int64_t j = 0; j < width; ++j) max[j] = larger(max[j], line[j]);
  }
  for (int64_t begin = 0; begin < row.n; begin += cpu::kMaxChain) {
    C chain[kColumns] = {};
    for (int64_t i = begin; i < std::min(begin + cpu::kMaxChain, row.n); ++i) {
      C* line = buffer + i * width;
      for (int64_t j = 0; j < width; ++j) {
        line[j] = cpu::exp_nonpositive(line[j] - max[j]);
        chain[j] += line[j];
      }
    }
    for (int64_t j = 0; j < width; ++j) sum[j] += chain[j];
  }
  for (int64_t i = 0; i < row.n; ++i) {
    T* out = row.out + i * row.out_stride;
    const C* line = buffer + i * width;
    if (block.out_step == 1) {
      for (int64_t j = 0; j < width; ++j) out[j] = cpu::store<T>(line[j] / sum[j]);
    } else {
      for (int64_t j = 0; j < width; ++j) out[j * block.out_step] = cpu::store<T>(line[j] / sum[j]);
    }
  }
}

// The same where the rows do not fit the buffer: three passes over in.
template <class T>
void softmax_tall_block(const Block<T>& block) {
  using C = Compute<T>;
  const Part<T>& row = block.first;
  const int64_t width = block.width;
  C line[kColumns];
  C max[kColumns];
  std::fill_n(max, width, kLowest<C>);
  for (int64_t i = 0; i < row.n; ++i) {
    load_line(line, row.in + i * row.in_stride, block.in_step, width);
    for (int64_t j = 0; j < width; ++j) max[j] = larger(max[j], line[j]);
  }
  const auto load_exp = [&](int64_t i) {
    load_line(line, row.in + i * row.in_stride, block.in_step, width);
    for (int64_t j = 0; j < width; ++j) line[j] = cpu::exp_nonpositive(line[j] - max[j]);
  };
  cpu::Cascade<C, kColumns> cascade;
  for (int64_t begin = 0; begin < row.n; begin += cpu::kMaxChain) {
    C chain[kColumns] = {};
    for (int64_t i = begin; i < std::min(begin + cpu::kMaxChain, row.n); ++i) {
      load_exp(i);
      for (int64_t j = 0; j < width; ++j) chain[j] += line[j];
    }
    cascade.push(chain, width);
  }
  C sum[kColumns];
  cascade.finish(sum, width);
  for (int64_t i = 0; i < row.n; ++i) {
    load_exp(i);
    T* out = row.out + i * row.out_stride;
    for (int64_t j = 0; j < width; ++j) out[j * block.out_step] = cpu::store<T>(line[j] / sum[j]);
  }
}

template <class T>
class Columns final : public RowPlan<T> {
 public:
  explicit Columns(const Problem& problem) : RowPlan<T>(problem) {
    constexpr int64_t kFewestInBuffer = 16;
    const int64_t in_buffer = 2 * kBuffer / problem.n;
    is_tall_ = in_buffer < std::min(kFewestInBuffer, this->rows_.shape[this->rows_.ndim - 1]);
    width_ = is_tall_ ? kColumns : std::min(in_buffer, kColumns);
    blocks_ = (this->rows_.shape[this->rows_.ndim - 1] + width_ - 1) / width_;
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

template <template <class> class ThePlan>
std::unique_ptr<const Plan> make_plan(const Problem& problem) {
  switch (problem.dtype) {
    case OPRT_DTYPE_FLOAT16:
      return std::make_unique<ThePlan<Float16>>(problem);
    case OPRT_DTYPE_BFLOAT16:
      return std::make_unique<ThePlan<BFloat16>>(problem);
    case OPRT_DTYPE_FLOAT32:
      return std::make_unique<ThePlan<float>>(problem);
    case OPRT_DTYPE_FLOAT64:
      return std::make_unique<ThePlan<double>>(problem);
    default:
      throw Error(OPRT_ERR_INTERNAL, "", "%s has no kernel", oprt_dtype_name(problem.dtype));
  }
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
  const Space<2>& rows = problem.rows;
  OPRT_REQUIRE(rows.ndim > 0 && problem.n > 0 && rows.shape[rows.ndim - 1] >= kFewest, "eight neighbouring rows or more");
  const int64_t step = std::abs(rows.strides[1][rows.ndim - 1]);
  OPRT_REQUIRE(problem.n <= kShortRow || step < std::abs(problem.in_stride), "short rows, or rows that lie side by side");
  return make_plan<Columns>(problem);
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
