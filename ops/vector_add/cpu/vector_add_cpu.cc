// vector_add on the cpu. The canonical space is walked line by line, with loops of their own for contiguous and for repeated
// inputs; an input that runs along another dim than out is turned in tiles first.
#include "backends/cpu/convert.h"
#include "backends/cpu/element.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/tile.h"
#include "backends/cpu/walk.h"
#include "core/dispatch.h"
#include "core/threads.h"
#include "ops/vector_add/vector_add.h"

namespace oprt::vector_add {
namespace {

using cpu::Offsets;

// Unsigned, so that integers wrap. Narrow ones are widened by the language and cut again.
template <class T>
T add(T a, T b) {
  return cpu::store<T>(static_cast<cpu::Compute<T>>(cpu::load(a) + cpu::load(b)));
}

template <class T>
Complex<T> add(Complex<T> a, Complex<T> b) {
  return {add(a.re, b.re), add(a.im, b.im)};
}

// Contiguous float16 to out; an input may repeat. Goes through float, a group of elements at a time.
inline void add_halves(Float16* out, const Float16* a, int64_t a_stride, const Float16* b, int64_t b_stride, int64_t n) {
  constexpr int64_t kGroup = 512;
  float sum[kGroup];
  float other[kGroup];
  const auto load = [](float* to, const Float16* from, int64_t stride, int64_t count) {
    if (stride == 0) {
      std::fill_n(to, count, to_float(*from));
    } else {
      cpu::load_line(to, from, count);
    }
  };
  for (int64_t i = 0; i < n; i += kGroup) {
    const int64_t count = std::min(kGroup, n - i);
    load(sum, a + i * a_stride, a_stride, count);
    load(other, b + i * b_stride, b_stride, count);
    for (int64_t j = 0; j < count; ++j) sum[j] += other[j];
    cpu::store_line(out + i, sum, count);
  }
}

template <class T>
void add_line(T* out, int64_t out_stride, const T* a, int64_t a_stride, const T* b, int64_t b_stride, int64_t n) {
  if constexpr (std::is_same_v<T, Float16>) {
    const auto is_line = [](int64_t stride) { return stride == 0 || stride == 1; };
    if (out_stride == 1 && is_line(a_stride) && is_line(b_stride)) return add_halves(out, a, a_stride, b, b_stride, n);
  } else if constexpr (std::is_same_v<T, Complex<Float16>>) {
    if (out_stride == 1 && a_stride == 1 && b_stride == 1) return add_halves(&out->re, &a->re, 1, &b->re, 1, 2 * n);
  }
  if (out_stride == 1 && a_stride == 1 && b_stride == 1) {
    OPRT_CPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = add(a[i], b[i]);
  } else if (out_stride == 1 && a_stride == 1 && b_stride == 0) {
    const T repeated = *b;
    OPRT_CPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = add(a[i], repeated);
  } else if (out_stride == 1 && a_stride == 0 && b_stride == 1) {
    const T repeated = *a;
    OPRT_CPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i] = add(repeated, b[i]);
  } else {
    OPRT_CPU_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) out[i * out_stride] = add(a[i * a_stride], b[i * b_stride]);
  }
}

// Out, a and b at element 0 of the walk.
template <class T>
struct Pointers {
  explicit Pointers(const Launch& launch)
      : out(static_cast<T*>(launch.out)), a(static_cast<const T*>(launch.in[0])), b(static_cast<const T*>(launch.in[1])) {}

  T* out;
  const T* a;
  const T* b;
};

template <class T>
class Lines final : public Plan {
 public:
  explicit Lines(const Problem& problem) : space_(cpu::at_least_2d(problem.space)) {}

  void execute(const Launch& launch) const override {
    const Pointers<T> data(launch);
    parallel_for(space_.size(), cpu::kPieceBytes / static_cast<int64_t>(3 * sizeof(T)), [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        cpu::for_each_line(space_, begin, end, [&](const Offsets<3>& at, const Offsets<3>& stride, int64_t n) {
          add_line(data.out + at[0], stride[0], data.a + at[1], stride[1], data.b + at[2], stride[2], n);
        });
      });
    });
  }

 private:
  Space<3> space_;
};

// Whichever inputs run faster along the second last dim are turned.
template <class T>
class Tiles final : public Plan {
 public:
  Tiles(const Problem& problem, int fast_dim)
      : space_(cpu::with_second_last(problem.space, fast_dim)), tiling_(space_, cpu::kTileSide<T>, cpu::kTileElements<T>) {
    for (size_t k = 0; k < 3; ++k) turn_[k] = cpu::transposed_dim(space_, static_cast<int>(k), sizeof(T)) == space_.ndim - 2;
  }

  void execute(const Launch& launch) const override {
    const Pointers<T> data(launch);
    const int64_t grain = cpu::kPieceBytes / (tiling_.tile_elements() * static_cast<int64_t>(3 * sizeof(T))) + 1;
    parallel_for(tiling_.num_tiles(), grain, [&](int64_t begin, int64_t end) {
      cpu::vectorized([&] {
        for (int64_t tile = begin; tile < end; ++tile) {
          tiling_.visit(tile, [&](const Offsets<3>& at, int64_t rows, int64_t n) {
            add_tile(data.out + at[0], data.a + at[1], data.b + at[2], rows, n);
          });
        }
      });
    });
  }

 private:
  void add_tile(T* out, const T* a, const T* b, int64_t rows, int64_t n) const {
    Offsets<3> down = cpu::strides_of(space_, space_.ndim - 2);
    Offsets<3> across = cpu::strides_of(space_, space_.ndim - 1);
    T buffer[2][cpu::kTileElements<T>];
    const T* in[] = {a, b};
    for (size_t k = 0; k < 2; ++k) {
      if (!turn_[k + 1]) continue;
      cpu::gather_tile(buffer[k], in[k], down[k + 1], across[k + 1], rows, n);
      in[k] = buffer[k];
      down[k + 1] = n;
      across[k + 1] = 1;
    }
    for (int64_t row = 0; row < rows; ++row) {
      add_line(out + row * down[0], across[0], in[0] + row * down[1], across[1], in[1] + row * down[2], across[2], n);
    }
  }

  Space<3> space_;
  cpu::Tiling<3> tiling_;
  std::array<bool, 3> turn_;
};

std::unique_ptr<const Plan> make_tiles(const Problem& problem, const char** reason) {
  return with_element(problem.dtype, [&]<class T>(T) -> std::unique_ptr<const Plan> {
    const int a_dim = cpu::transposed_dim(problem.space, 1, sizeof(T));
    const int fast_dim = a_dim >= 0 ? a_dim : cpu::transposed_dim(problem.space, 2, sizeof(T));
    OPRT_REQUIRE(fast_dim >= 0, "an input that runs along another dim than out");
    return std::make_unique<Tiles<T>>(problem, fast_dim);
  });
}

std::unique_ptr<const Plan> make_lines(const Problem& problem, const char**) {
  return with_element(problem.dtype,
                      [&]<class T>(T) -> std::unique_ptr<const Plan> { return std::make_unique<Lines<T>>(problem); });
}

constexpr Implementation kImplementations[] = {
    implement<Problem, make_tiles>("tiles"),
    implement<Problem, make_lines>("lines"),
};

}  // namespace

Implementations cpu_implementations() { return kImplementations; }

}  // namespace oprt::vector_add
