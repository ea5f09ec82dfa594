// One run in all three. Complex numbers are runs of twice as many reals.
#include "ops/vector_add/nvidia/implementations.h"
#include "ops/vector_add/nvidia/plan.h"

namespace oprt::vector_add::OPRT_VENDOR {
namespace {

struct Policy {
  int threads;
  int vectors;  // of a thread
};
// H200, 256 MB and more: more vectors a thread gain about 1% for add and lose 3-4% for copy (2026-12). Only sm_90 was measured.
// Loads and stores without cache hints: H200 f32, 256 MB: 189.0 vs 202.1 us with hints of single use (2026-12).
constexpr Policy kPolicy = {.threads = 256, .vectors = 1};

template <class T>
class ContiguousPlan final : public ElementPlan<T> {
 public:
  ContiguousPlan(const Space<3>& space, int64_t reals)
      : ElementPlan<T>(space, reals),
        size_(space.size() * reals),
        num_blocks_(simt::num_blocks(size_, int64_t{kPolicy.threads} * kPolicy.vectors * simt::Vector<T>::kSize)) {
    simt::prepare(add_contiguous<T, kPolicy.threads, kPolicy.vectors, false>);
    simt::prepare(add_contiguous<T, kPolicy.threads, kPolicy.vectors, true>);
  }

 private:
  void run(T* out, const T* a, const T* b, void* stream) const override {
    if (size_ == 0) return;
    constexpr int64_t kSize = sizeof(T);
    const auto split = simt::split_run<2>(out, {a, b}, size_ * kSize);
    const auto kernel = split.shifted ? add_contiguous<T, kPolicy.threads, kPolicy.vectors, true>
                                      : add_contiguous<T, kPolicy.threads, kPolicy.vectors, false>;
    simt::launch(kernel, num_blocks_, kPolicy.threads, 0, stream, out, a, b, split.head / kSize, split.vectors,
                 split.edge_bytes(size_ * kSize) / kSize, split.shift[0], split.shift[1]);
  }

  int64_t size_;
  unsigned num_blocks_;
};

}  // namespace

std::unique_ptr<const Plan> make_contiguous(const Problem& problem, const char** reason) {
  const auto& space = problem.space;
  const bool is_run = space.ndim == 1 && space.strides[0][0] == 1 && space.strides[1][0] == 1 && space.strides[2][0] == 1;
  OPRT_REQUIRE(space.size() == 0 || space.ndim == 0 || is_run, "out, a and b to be one contiguous run");
  return with_component(problem.dtype, [&](auto real) -> std::unique_ptr<const Plan> {
    return std::make_unique<ContiguousPlan<decltype(real)>>(space, is_complex(problem.dtype) ? 2 : 1);
  });
}

}  // namespace oprt::vector_add::OPRT_VENDOR
