#include "ops/copy/copy.h"

#include "tests/planted/planted.h"

namespace oprt::copy {
namespace {

using namespace planted_faults;

void run(const Problem& problem, const Launch& launch) {
  const auto bytes = static_cast<int64_t>(problem.element_size);
  auto* out = static_cast<char*>(launch.out);
  const auto* in = static_cast<const char*>(launch.in[0]);
  const Space<2>& space = problem.space;
  const int64_t size = space.size();
  const bool dense_out = planted("ignores_out_strides");
  const bool dense_rows = planted("takes_inner_stride_for_one") && space.ndim > 0;
  const int64_t written = planted("drops_tail_past_1024") && size > 1024 ? size / 4 * 4 : size;
  const int64_t shift = planted("off_by_one_backwards") && has_negative_stride(space, 1) ? 1 : 0;
  const size_t inner = space.ndim > 0 ? static_cast<size_t>(space.ndim - 1) : 0;
  walk(space, [&](const Offsets<2>& at, int64_t position) {
    if (position >= written) return;
    int64_t source = at[1] + shift;
    if (dense_rows && space.strides[1][inner] > 1) source -= position % space.shape[inner] * (space.strides[1][inner] - 1);
    const int64_t target = dense_out ? space.offset[0] + position : at[0];
    std::memcpy(out + target * bytes, in + source * bytes, problem.element_size);
    if (planted("quiets_nan") && bytes == 4) {
      float value = 0;
      std::memcpy(&value, out + target * bytes, sizeof value);
      if (value != value) {
        const uint32_t nan = 0x7fc00000u;
        std::memcpy(out + target * bytes, &nan, sizeof nan);
      }
    }
  });
  if (planted("writes_past_the_end") && size > 0) std::memcpy(out + size * bytes, in, problem.element_size);
  if (planted("clears_its_input") && size > 0 && out != in) std::memset(const_cast<char*>(in), 0, problem.element_size);
}

constexpr Implementation kImplementations[] = {
    implement<Problem, make_plain<Problem, run>>("planted"),
};

}  // namespace

Implementations cpu_implementations() { return kImplementations; }

}  // namespace oprt::copy
