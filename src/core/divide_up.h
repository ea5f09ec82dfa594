#pragma once

#include <cstdint>

namespace oprt {

// n / divisor rounded up, for n >= 0 and divisor > 0: of any n, because views without data may have up to 2^63 - 1 elements.
constexpr int64_t divide_up(int64_t n, int64_t divisor) { return n / divisor + (n % divisor != 0 ? 1 : 0); }

}  // namespace oprt
