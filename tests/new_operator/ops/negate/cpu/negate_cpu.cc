// negate on the cpu. Threads share the elements of the canonical space; the loop over one row is what the compiler vectorises.
#include "backends/cpu/isa.h"
#include "backends/cpu/walk.h"
#include "core/dispatch.h"
#include "core/threads.h"
#include "ops/negate/negate.h"

namespace oprt::negate {
namespace {

template <class T>
void negate_row(T* out, int64_t out_stride, const T* in, int64_t in_stride, int64_t n) {
  if (out_stride == 1 && in_stride == 1) {
    OPRT_CPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = -in[i];
  } else {
    for (int64_t i = 0; i < n; ++i) out[i * out_stride] = -in[i * in_stride];
  }
}

template <class T>
class Rows final : public Plan {
 public:
  explicit Rows(const Problem& problem) : space_(cpu::at_least_2d(problem.space)) {}

  void execute(const Launch& launch) const override {
    T* out = static_cast<T*>(launch.out);
    const T* in = static_cast<const T*>(launch.in[0]);
    constexpr int64_t kElementsPerPiece = cpu::kPieceBytes / (2 * sizeof(T));
    parallel_for(space_.size(), kElementsPerPiece, [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        cpu::for_each_line(space_, begin, end, [&](const auto& at, const auto& strides, int64_t n) {
          negate_row(out + at[0], strides[0], in + at[1], strides[1], n);
        });
      });
    });
  }

 private:
  Space<2> space_;
};

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char**) {
  if (problem.dtype == OPRT_DTYPE_FLOAT32) return std::make_unique<Rows<float>>(problem);
  return std::make_unique<Rows<double>>(problem);
}

constexpr Implementation kImplementations[] = {implement<Problem, make_rows>("rows")};

}  // namespace

Implementations cpu_implementations() { return kImplementations; }

}  // namespace oprt::negate
