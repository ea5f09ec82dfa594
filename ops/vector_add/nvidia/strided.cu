// Any layout, element by element.
#include "ops/vector_add/nvidia/implementations.h"
#include "ops/vector_add/nvidia/plan.h"

namespace oprt::vector_add::OPRT_VENDOR {
namespace {

template <class T, class Index>
class StridedPlan final : public ElementPlan<T> {
 public:
  explicit StridedPlan(const Space<3>& space)
      : ElementPlan<T>(space),
        dims_(simt::dims_without<Index>(space)),
        size_(static_cast<Index>(space.size())),
        num_blocks_(simt::num_blocks(space.size(), kStridedThreads * kStridedItems<T>)) {
    simt::prepare(add_strided<T, Index>);
  }

 private:
  void run(T* out, const T* a, const T* b, void* stream) const override {
    simt::launch(add_strided<T, Index>, num_blocks_, kStridedThreads, 0, stream, out, a, b, dims_, size_);
  }

  simt::Dims<3, Index> dims_;
  Index size_;
  unsigned num_blocks_;
};

}  // namespace

std::unique_ptr<const Plan> make_strided(const Problem& problem, const char** /*reason*/) {
  return with_element(problem.dtype, [&](auto element) -> std::unique_ptr<const Plan> {
    using T = decltype(element);
    if (problem.space.size() <= simt::kMaxIndex32) {
      return std::make_unique<StridedPlan<T, uint32_t>>(problem.space);
    }
    return std::make_unique<StridedPlan<T, uint64_t>>(problem.space);
  });
}

}  // namespace oprt::vector_add::OPRT_VENDOR
