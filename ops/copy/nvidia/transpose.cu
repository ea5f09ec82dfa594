// Transposes and permutes: in is contiguous along another dim than out, and tiles of the two dims turn in shared memory.
#include "ops/copy/nvidia/implementations.h"
#include "ops/copy/nvidia/plan.h"

namespace oprt::copy::OPRT_VENDOR {
namespace {

// Smaller planes leave most of a block idle.
constexpr int kMinTileSize = 512;

template <class T>
class TransposePlan final : public WordPlan<T> {
 public:
  TransposePlan(const Space<2>& space, int rows_dim)
      : WordPlan<T>(space), pack_tiles_(simt::make_pack_tiles<T, 2>(space, rows_dim, {false, true})) {
    const auto shape = simt::make_free_tile(space.shape[static_cast<size_t>(rows_dim)],
                                            space.shape[static_cast<size_t>(space.ndim - 1)], sizeof(T));
    free_tile_ = shape;
    free_tiles_ = simt::make_tiles(space, rows_dim, static_cast<int>(shape.rows.divisor()), static_cast<int>(shape.cols.divisor()));
    if (pack_tiles_.num_tiles != 0) simt::prepare(copy_packs<T>);
    simt::prepare(copy_free<T>, simt::shared_bytes<T>(shape));
  }

  bool is_worthwhile() const { return free_tiles_.num_tiles != 0 && free_tile_.size >= kMinTileSize; }

 private:
  void run(T* out, const T* in, void* stream) const override {
    if (pack_tiles_.num_tiles != 0 && simt::is_pack_aligned<T>(out) && simt::is_pack_aligned<T>(in)) {
      simt::launch(copy_packs<T>, pack_tiles_.num_tiles, kTileThreads, 0, stream, out, in, pack_tiles_);
    } else {
      simt::launch(copy_free<T>, free_tiles_.num_tiles, kTileThreads, simt::shared_bytes<T>(free_tile_), stream, out, in,
                   free_tiles_, free_tile_);
    }
  }

  simt::Tiles<2> pack_tiles_;  // none where a side is short or not whole packs
  simt::Tiles<2> free_tiles_;
  simt::FreeTile free_tile_;
};

}  // namespace

std::unique_ptr<const Plan> make_transpose(const Problem& problem, const char** reason) {
  const auto& space = problem.space;
  const int rows_dim = simt::contiguous_dim(space, 1);
  OPRT_REQUIRE(rows_dim >= 0 && rows_dim != space.ndim - 1 && space.strides[1][static_cast<size_t>(space.ndim - 1)] != 0,
               "in to be contiguous along another dim than out");
  return with_word(problem.element_size, [&](auto word) -> std::unique_ptr<const Plan> {
    auto plan = std::make_unique<TransposePlan<decltype(word)>>(space, rows_dim);
    OPRT_REQUIRE(plan->is_worthwhile(), "a plane of 512 elements or more, and tiles within a grid");
    return plan;
  });
}

}  // namespace oprt::copy::OPRT_VENDOR
