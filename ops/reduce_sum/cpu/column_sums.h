// Sums of neighbouring columns, side by side.
#pragma once

#include <algorithm>

#include "backends/cpu/isa.h"
#include "backends/cpu/sum.h"

namespace oprt::reduce_sum {

constexpr int64_t kColumns = 128;

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

  void finish(cpu::Total<T>* sums) {
    if (!pushed_) {
      for (int64_t j = 0; j < width_; ++j) sums[j] = cpu::total<cpu::Total<T>>(partial_[j]);
      return;
    }
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
    pushed_ = true;
  }

  Stride stride_;
  int64_t width_;
  int64_t chain_ = 0;
  bool pushed_ = false;
  cpu::Partial<T> partial_[kColumns];
  cpu::Cascade<cpu::Total<T>, kColumns> cascade_;
};

}  // namespace oprt::reduce_sum
