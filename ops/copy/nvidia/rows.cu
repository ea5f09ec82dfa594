// Rows that out holds contiguously, in 16-byte pieces: pitched and sliced rows, repeated ones, and inputs that must be gathered.
#include "ops/copy/nvidia/implementations.h"
#include "ops/copy/nvidia/plan.h"

namespace oprt::copy::OPRT_VENDOR {
namespace {

// Shorter rows leave more than half of a piece's lanes without work; element by element is faster.
constexpr int64_t kMinRowBytes = 32;

template <class T, class Index>
class RowsPlan final : public WordPlan<T> {
 public:
  explicit RowsPlan(const Space<2>& space)
      : WordPlan<T>(space),
        rows_(simt::make_rows<Index>(space, simt::kPieceSize<T>, false)),
        aligned_rows_(simt::make_rows<Index>(space, simt::kPieceSize<T>, true)),
        start_alike_(simt::rows_start_alike(space, simt::kPieceSize<T>)) {
    simt::num_blocks(static_cast<int64_t>(rows_.num_pieces), kRowsThreads);
    simt::prepare(copy_rows<T, Index>);
  }

 private:
  void run(T* out, const T* in, void* stream) const override {
    const auto& rows = start_alike_ && simt::is_vector_aligned(out) ? aligned_rows_ : rows_;
    const unsigned blocks = simt::num_blocks(static_cast<int64_t>(rows.num_pieces), kRowsThreads);
    simt::launch(copy_rows<T, Index>, blocks, kRowsThreads, 0, stream, out, in, rows);
  }

  simt::Rows<2, Index> rows_;
  simt::Rows<2, Index> aligned_rows_;  // for an out whose rows all start aligned
  bool start_alike_;
};

std::unique_ptr<const Plan> make_plan(const Problem& problem) {
  return with_word(problem.element_size, [&](auto word) -> std::unique_ptr<const Plan> {
    using T = decltype(word);
    if (simt::count_pieces(problem.space, simt::kPieceSize<T>, false) <= simt::kMaxIndex32) {
      return std::make_unique<RowsPlan<T, uint32_t>>(problem.space);
    }
    return std::make_unique<RowsPlan<T, uint64_t>>(problem.space);
  });
}

bool has_rows(const Problem& problem) {
  const auto& space = problem.space;
  const auto inner = static_cast<size_t>(space.ndim - 1);
  return space.strides[0][inner] == 1 && space.shape[inner] * static_cast<int64_t>(problem.element_size) >= kMinRowBytes;
}

}  // namespace

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char** reason) {
  const auto inner = static_cast<size_t>(problem.space.ndim - 1);
  const int64_t in_stride = problem.space.strides[1][inner];
  OPRT_REQUIRE(has_rows(problem) && (in_stride == 1 || in_stride == 0),
               "rows of 32 bytes or more that out holds contiguously and in holds contiguously or repeats");
  return make_plan(problem);
}

std::unique_ptr<const Plan> make_gather(const Problem& problem, const char** reason) {
  OPRT_REQUIRE(has_rows(problem), "rows of 32 bytes or more that out holds contiguously");
  return make_plan(problem);
}

}  // namespace oprt::copy::OPRT_VENDOR
