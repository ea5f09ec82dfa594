// An operand that is contiguous along another dim than out, as in A + A.t(): its tiles turn in shared memory.
#include <utility>

#include "ops/vector_add/nvidia/implementations.h"
#include "ops/vector_add/nvidia/plan.h"

namespace oprt::vector_add::OPRT_VENDOR {
namespace {

// Smaller planes leave most of a block idle.
constexpr int kMinTileSize = 512;

// Along which dim operand i is contiguous where that is another than out's; else -1.
int turned_dim(const Space<3>& space, int i) {
  const int dim = simt::contiguous_dim(space, i);
  return dim == space.ndim - 1 || space.strides[static_cast<size_t>(i)][static_cast<size_t>(space.ndim - 1)] == 0 ? -1 : dim;
}

// Operand 2 of `space` is the one that is turned: the caller's b, or a where `swapped`.
template <class T>
class TransposePlan final : public ElementPlan<T> {
 public:
  TransposePlan(const Problem& problem, const Space<3>& space, bool swapped)
      : ElementPlan<T>(problem.space), swapped_(swapped), turn_a_(turned_dim(space, 1) == turned_dim(space, 2)) {
    const int rows_dim = turned_dim(space, 2);
    free_tile_ = simt::make_free_tile(space.shape[static_cast<size_t>(rows_dim)], space.shape[static_cast<size_t>(space.ndim - 1)],
                                      sizeof(T));
    free_tiles_ =
        simt::make_tiles(space, rows_dim, static_cast<int>(free_tile_.rows.divisor()), static_cast<int>(free_tile_.cols.divisor()));
    pack_tiles_ = simt::make_pack_tiles<T, 3>(space, rows_dim, {false, turn_a_, true});
    const size_t num_turned = turn_a_ ? 2 : 1;
    pack_bytes_ = num_turned * simt::PackTile<T>::kSharedBytes;
    free_bytes_ = num_turned * simt::shared_bytes<T>(free_tile_);
    if (pack_tiles_.num_tiles != 0) simt::prepare(add_packs<T>, pack_bytes_);
    simt::prepare(add_free<T>, free_bytes_);
  }

  bool is_worthwhile() const { return free_tiles_.num_tiles != 0 && free_tile_.size >= kMinTileSize; }

 private:
  void run(T* out, const T* a, const T* b, void* stream) const override {
    if (swapped_) std::swap(a, b);
    if (pack_tiles_.num_tiles != 0 && simt::is_pack_aligned<T>(out) && simt::is_pack_aligned<T>(a) && simt::is_pack_aligned<T>(b)) {
      simt::launch(add_packs<T>, pack_tiles_.num_tiles, kTileThreads, pack_bytes_, stream, out, a, b, pack_tiles_, turn_a_);
    } else {
      simt::launch(add_free<T>, free_tiles_.num_tiles, kTileThreads, free_bytes_, stream, out, a, b, free_tiles_, free_tile_,
                   turn_a_);
    }
  }

  bool swapped_;
  bool turn_a_;
  simt::Tiles<3> pack_tiles_;  // none where a side is short or not whole packs
  simt::Tiles<3> free_tiles_;
  simt::FreeTile free_tile_;
  size_t pack_bytes_;
  size_t free_bytes_;
};

}  // namespace

std::unique_ptr<const Plan> make_transpose(const Problem& problem, const char** reason) {
  Space<3> space = problem.space;
  const bool swapped = turned_dim(space, 2) < 0;
  OPRT_REQUIRE(!swapped || turned_dim(space, 1) >= 0, "a or b to be contiguous along another dim than out");
  if (swapped) std::swap(space.strides[1], space.strides[2]);
  return with_element(problem.dtype, [&](auto element) -> std::unique_ptr<const Plan> {
    auto plan = std::make_unique<TransposePlan<decltype(element)>>(problem, space, swapped);
    OPRT_REQUIRE(plan->is_worthwhile(), "a plane of 512 elements or more, and tiles within a grid");
    return plan;
  });
}

}  // namespace oprt::vector_add::OPRT_VENDOR
