// Any layout, element by element.
#include "ops/copy/nvidia/implementations.h"
#include "ops/copy/nvidia/plan.h"

namespace oprt::copy::OPRT_VENDOR {
namespace {

template <class T, class Index>
class StridedPlan final : public WordPlan<T> {
 public:
  explicit StridedPlan(const Space<2>& space)
      : WordPlan<T>(space),
        dims_(simt::dims_without<Index>(space)),
        size_(static_cast<Index>(space.size())),
        num_blocks_(simt::num_blocks(space.size(), kStridedThreads * kStridedItems<T>)) {
    simt::prepare(copy_strided<T, Index>);
  }

 private:
  void run(T* out, const T* in, void* stream) const override {
    simt::launch(copy_strided<T, Index>, num_blocks_, kStridedThreads, 0, stream, out, in, dims_, size_);
  }

  simt::Dims<2, Index> dims_;
  Index size_;
  unsigned num_blocks_;
};

}  // namespace

std::unique_ptr<const Plan> make_strided(const Problem& problem, const char** /*reason*/) {
  return with_word(problem.element_size, [&](auto word) -> std::unique_ptr<const Plan> {
    using T = decltype(word);
    if (problem.space.size() <= simt::kMaxIndex32) {
      return std::make_unique<StridedPlan<T, uint32_t>>(problem.space);
    }
    return std::make_unique<StridedPlan<T, uint64_t>>(problem.space);
  });
}

}  // namespace oprt::copy::OPRT_VENDOR
