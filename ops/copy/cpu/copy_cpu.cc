// copy on the cpu. Bits move as unsigned integers of the element's size. Contiguous data goes through memcpy; lines with strides
// through loops; an input that runs along another dim than out through tiles in the first-level cache.
#include <cstring>

#include "backends/cpu/isa.h"
#include "backends/cpu/tile.h"
#include "backends/cpu/walk.h"
#include "core/dispatch.h"
#include "core/threads.h"
#include "ops/copy/copy.h"

namespace oprt::copy {
namespace {

using cpu::Offsets;

// complex128, which may be aligned to 8 bytes only.
struct Pair {
  uint64_t low;
  uint64_t high;
};

// Out and in at element 0 of the walk.
template <class T>
struct Pointers {
  explicit Pointers(const Launch& launch) : out(static_cast<T*>(launch.out)), in(static_cast<const T*>(launch.in[0])) {}
  bool same() const { return out == in; }  // execute lets only the very same view through: nothing to do

  T* out;
  const T* in;
};

class Contiguous final : public Plan {
 public:
  explicit Contiguous(const Problem& problem)
      : bytes_(problem.space.size() * static_cast<int64_t>(problem.element_size)),
        out_offset_(problem.space.offset[0] * static_cast<int64_t>(problem.element_size)),
        in_offset_(problem.space.offset[1] * static_cast<int64_t>(problem.element_size)) {}

  void execute(const Launch& launch) const override {
    const Pointers<char> data(launch);
    if (data.same()) return;
    parallel_for(bytes_, cpu::kPieceBytes, [&](int64_t begin, int64_t end) {
      std::memcpy(data.out + out_offset_ + begin, data.in + in_offset_ + begin, static_cast<size_t>(end - begin));
    });
  }

 private:
  int64_t bytes_;
  int64_t out_offset_;
  int64_t in_offset_;
};

template <class T>
void copy_line(T* out, int64_t out_stride, const T* in, int64_t in_stride, int64_t n) {
  constexpr int64_t kWorthACall = 256 / static_cast<int64_t>(sizeof(T));
  if (out_stride == 1 && in_stride == 1) {
    if (n >= kWorthACall) {
      std::memcpy(out, in, static_cast<size_t>(n) * sizeof(T));
      return;
    }
    OPRT_CPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = in[i];
  } else if (out_stride == 1 && in_stride == 0) {
    std::fill_n(out, n, *in);
  } else if (out_stride == 1) {
    OPRT_CPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = in[i * in_stride];
  } else {
    OPRT_CPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i * out_stride] = in[i * in_stride];
  }
}

template <class T>
class Lines final : public Plan {
 public:
  explicit Lines(const Problem& problem) : space_(cpu::at_least_2d(problem.space)) {}

  void execute(const Launch& launch) const override {
    const Pointers<T> data(launch);
    if (data.same()) return;
    parallel_for(space_.size(), cpu::kPieceBytes / static_cast<int64_t>(2 * sizeof(T)), [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        cpu::for_each_line(space_, begin, end, [&](const Offsets<2>& at, const Offsets<2>& stride, int64_t n) {
          copy_line(data.out + at[0], stride[0], data.in + at[1], stride[1], n);
        });
      });
    });
  }

 private:
  Space<2> space_;
};

template <class T>
class Tiles final : public Plan {
 public:
  Tiles(const Problem& problem, int fast_dim)
      : space_(cpu::with_second_last(problem.space, fast_dim)), tiling_(space_, cpu::kTileSide<T>, cpu::kTileElements<T>) {}

  void execute(const Launch& launch) const override {
    const Pointers<T> data(launch);
    if (data.same()) return;
    const int64_t grain = cpu::kPieceBytes / (tiling_.tile_elements() * static_cast<int64_t>(2 * sizeof(T))) + 1;
    parallel_for(tiling_.num_tiles(), grain, [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        for (int64_t tile = begin; tile < end; ++tile) {
          tiling_.visit(
              tile, [&](const Offsets<2>& at, int64_t rows, int64_t n) { copy_tile(data.out + at[0], data.in + at[1], rows, n); });
        }
      });
    });
  }

 private:
  void copy_tile(T* out, const T* in, int64_t rows, int64_t n) const {
    const Offsets<2> down = cpu::strides_of(space_, space_.ndim - 2);
    const Offsets<2> across = cpu::strides_of(space_, space_.ndim - 1);
    T buffer[cpu::kTileElements<T>];
    cpu::gather_tile(buffer, in, down[1], across[1], rows, n);
    for (int64_t row = 0; row < rows; ++row) copy_line(out + row * down[0], across[0], buffer + row * n, 1, n);
  }

  Space<2> space_;
  cpu::Tiling<2> tiling_;
};

std::unique_ptr<const Plan> make_contiguous(const Problem& problem, const char** reason) {
  const Space<2>& space = problem.space;
  OPRT_REQUIRE(space.ndim == 0 || (space.ndim == 1 && space.strides[0][0] == 1 && space.strides[1][0] == 1),
               "out and in that are contiguous in the same order");
  return std::make_unique<Contiguous>(problem);
}

template <class T>
std::unique_ptr<const Plan> tiles(const Problem& problem, const char** reason) {
  const int fast_dim = cpu::transposed_dim(problem.space, 1, sizeof(T));
  OPRT_REQUIRE(fast_dim >= 0, "an input that runs along another dim than out");
  return std::make_unique<Tiles<T>>(problem, fast_dim);
}

std::unique_ptr<const Plan> make_tiles(const Problem& problem, const char** reason) {
  switch (problem.element_size) {
    case 1:
      return tiles<uint8_t>(problem, reason);
    case 2:
      return tiles<uint16_t>(problem, reason);
    case 4:
      return tiles<uint32_t>(problem, reason);
    case 8:
      return tiles<uint64_t>(problem, reason);
    default:
      return tiles<Pair>(problem, reason);
  }
}

std::unique_ptr<const Plan> make_lines(const Problem& problem, const char**) {
  switch (problem.element_size) {
    case 1:
      return std::make_unique<Lines<uint8_t>>(problem);
    case 2:
      return std::make_unique<Lines<uint16_t>>(problem);
    case 4:
      return std::make_unique<Lines<uint32_t>>(problem);
    case 8:
      return std::make_unique<Lines<uint64_t>>(problem);
    default:
      return std::make_unique<Lines<Pair>>(problem);
  }
}

constexpr Implementation kImplementations[] = {
    implement<Problem, make_contiguous>("contiguous"),
    implement<Problem, make_tiles>("tiles"),
    implement<Problem, make_lines>("lines"),
};

}  // namespace

Implementations cpu_implementations() { return kImplementations; }

}  // namespace oprt::copy
