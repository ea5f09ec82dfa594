#include "ops/vector_add/vector_add.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "tests/planted/planted.h"

namespace oprt::vector_add {
namespace {

using namespace planted_faults;

template <class T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (planted("saturates_integers") && std::is_signed_v<T>) {
      if (b > 0 && a > std::numeric_limits<T>::max() - b) return std::numeric_limits<T>::max();
      if (b < 0 && a < std::numeric_limits<T>::min() - b) return std::numeric_limits<T>::min();
    }
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(static_cast<Bits>(a) + static_cast<Bits>(b)));
  } else {
    if (planted("drops_nan") && std::isnan(a)) return b;
    const T sum = a + b;
    if (planted("flushes_subnormals") && std::fabs(sum) < std::numeric_limits<T>::min()) return T(0);
    return sum;
  }
}

// A complex element is two components, added one by one.
template <class T>
void run_as(const Space<3>& space, const Launch& launch, int64_t components) {
  const int64_t size = space.size();
  const int64_t written = planted("drops_tail_past_1024") && size > 1024 ? size / 8 * 8 : size;
  const int64_t shift = planted("off_by_one_backwards") && has_negative_stride(space, 2) ? 1 : 0;
  const bool dense = planted("ignores_out_strides");
  walk(space, [&](const Offsets<3>& at, int64_t position) {
    if (position >= written) return;
    const int64_t target = dense ? space.offset[0] + position : at[0];
    for (int64_t c = 0; c < components; ++c) {
      const auto a = load<T>(launch.in[0], at[1] * components + c);
      const auto b = load<T>(launch.in[1], (at[2] + shift) * components + c);
      auto sum = add(a, b);
      if constexpr (std::is_same_v<T, BFloat16>) {
        if (planted("truncates_bfloat16")) sum = std::bit_cast<float>(std::bit_cast<uint32_t>(sum) & 0xffff0000u);
      }
      store<T>(launch.out, target * components + c, sum);
    }
  });
}

void run(const Problem& problem, const Launch& launch) {
  switch (problem.dtype) {
    case OPRT_DTYPE_INT8:
      return run_as<int8_t>(problem.space, launch, 1);
    case OPRT_DTYPE_INT16:
      return run_as<int16_t>(problem.space, launch, 1);
    case OPRT_DTYPE_INT32:
      return run_as<int32_t>(problem.space, launch, 1);
    case OPRT_DTYPE_INT64:
      return run_as<int64_t>(problem.space, launch, 1);
    case OPRT_DTYPE_UINT8:
      return run_as<uint8_t>(problem.space, launch, 1);
    case OPRT_DTYPE_UINT16:
      return run_as<uint16_t>(problem.space, launch, 1);
    case OPRT_DTYPE_UINT32:
      return run_as<uint32_t>(problem.space, launch, 1);
    case OPRT_DTYPE_UINT64:
      return run_as<uint64_t>(problem.space, launch, 1);
    case OPRT_DTYPE_FLOAT16:
      return run_as<Float16>(problem.space, launch, 1);
    case OPRT_DTYPE_BFLOAT16:
      return run_as<BFloat16>(problem.space, launch, 1);
    case OPRT_DTYPE_FLOAT32:
      return run_as<float>(problem.space, launch, 1);
    case OPRT_DTYPE_FLOAT64:
      return run_as<double>(problem.space, launch, 1);
    case OPRT_DTYPE_COMPLEX32:
      return run_as<Float16>(problem.space, launch, 2);
    case OPRT_DTYPE_COMPLEX64:
      return run_as<float>(problem.space, launch, 2);
    default:
      return run_as<double>(problem.space, launch, 2);
  }
}

constexpr Implementation kImplementations[] = {
    implement<Problem, make_plain<Problem, run>>("planted"),
};

}  // namespace

Implementations cpu_implementations() { return kImplementations; }

}  // namespace oprt::vector_add
