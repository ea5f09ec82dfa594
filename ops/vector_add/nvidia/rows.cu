// Rows that out holds contiguously, in 16-byte pieces: pitched and sliced rows, broadcast operands, and operands that must be
// gathered.
#include "ops/vector_add/nvidia/implementations.h"
#include "ops/vector_add/nvidia/plan.h"

namespace oprt::vector_add::OPRT_VENDOR {
namespace {

// Shorter rows leave more than half of a piece's lanes without work; element by element is faster.
constexpr int64_t kMinRowBytes = 32;

template <class T, class Index>
class RowsPlan final : public ElementPlan<T> {
 public:
  explicit RowsPlan(const Space<3>& space)
      : ElementPlan<T>(space),
        rows_(simt::make_rows<Index>(space, simt::kPieceSize<T>, false)),
        aligned_rows_(simt::make_rows<Index>(space, simt::kPieceSize<T>, true)),
        start_alike_(simt::rows_start_alike(space, simt::kPieceSize<T>)) {
    simt::num_blocks(static_cast<int64_t>(rows_.num_pieces), kRowsThreads);
    simt::prepare(add_rows<T, Index>);
  }

 private:
  void run(T* out, const T* a, const T* b, void* stream) const override {
    const auto& rows = start_alike_ && simt::is_vector_aligned(out) ? aligned_rows_ : rows_;
    const unsigned blocks = simt::num_blocks(static_cast<int64_t>(rows.num_pieces), kRowsThreads);
    simt::launch(add_rows<T, Index>, blocks, kRowsThreads, 0, stream, out, a, b, rows);
  }

  simt::Rows<3, Index> rows_;
  simt::Rows<3, Index> aligned_rows_;  // for an out whose rows all start aligned
  bool start_alike_;
};

std::unique_ptr<const Plan> make_plan(const Problem& problem) {
  return with_element(problem.dtype, [&](auto element) -> std::unique_ptr<const Plan> {
    using T = decltype(element);
    if (simt::count_pieces(problem.space, simt::kPieceSize<T>, false) <= simt::kMaxIndex32) {
      return std::make_unique<RowsPlan<T, uint32_t>>(problem.space);
    }
    return std::make_unique<RowsPlan<T, uint64_t>>(problem.space);
  });
}

bool has_rows(const Problem& problem) {
  const auto& space = problem.space;
  const auto inner = static_cast<size_t>(space.ndim - 1);
  return space.strides[0][inner] == 1 && space.shape[inner] * static_cast<int64_t>(oprt_dtype_size(problem.dtype)) >= kMinRowBytes;
}

}  // namespace

std::unique_ptr<const Plan> make_rows(const Problem& problem, const char** reason) {
  const auto inner = static_cast<size_t>(problem.space.ndim - 1);
  const auto is_row = [&](size_t i) { return problem.space.strides[i][inner] == 1 || problem.space.strides[i][inner] == 0; };
  OPRT_REQUIRE(has_rows(problem) && is_row(1) && is_row(2),
               "rows of 32 bytes or more that out holds contiguously, and a and b hold contiguously or repeat");
  return make_plan(problem);
}

std::unique_ptr<const Plan> make_gather(const Problem& problem, const char** reason) {
  OPRT_REQUIRE(has_rows(problem), "rows of 32 bytes or more that out holds contiguously");
  return make_plan(problem);
}

}  // namespace oprt::vector_add::OPRT_VENDOR
