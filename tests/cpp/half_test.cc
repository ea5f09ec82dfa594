#include "core/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace oprt {
namespace {

// How a 16-bit float is laid out.
struct Format {
  int exponent_bits;
  int mantissa_bits;
};
constexpr Format kFloat16{5, 10};
constexpr Format kBFloat16{8, 7};

// The value of `bits`, from the definition of the format.
double value_of(uint16_t bits, Format format) {
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const int exponent = (bits >> format.mantissa_bits) & ((1 << format.exponent_bits) - 1);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == (1 << format.exponent_bits) - 1) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  const double scale = std::ldexp(1.0, std::max(exponent, 1) - bias - format.mantissa_bits);
  return sign * scale * (mantissa + (exponent > 0 ? 1 << format.mantissa_bits : 0));
}

template <class T>
void check_every_value(Format format) {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const T half{static_cast<uint16_t>(bits)};
    const double expected = value_of(half.bits, format);
    const float actual = to_float(half);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(actual)) << bits;
      ASSERT_TRUE(std::isnan(to_float(from_float<T>(actual)))) << bits;
      continue;
    }
    ASSERT_EQ(actual, expected) << bits;
    ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << bits;
    ASSERT_EQ(from_float<T>(actual).bits, half.bits);
  }
}

// Rounds at the middle between every two neighbours, just below and just above it.
template <class T>
void check_every_tie(Format format) {
  const int infinity = ((1 << format.exponent_bits) - 1) << format.mantissa_bits;
  for (int sign : {0, 0x8000}) {
    for (int low = 0; low < infinity; ++low) {
      const double a = std::abs(value_of(static_cast<uint16_t>(low), format));
      // Past the largest finite value the next step counts as if the exponent went on.
      const double b = low + 1 < infinity ? std::abs(value_of(static_cast<uint16_t>(low + 1), format))
                                          : a + (a - std::abs(value_of(static_cast<uint16_t>(low - 1), format)));
      const auto middle = static_cast<float>((a + b) / 2);
      const int even = low % 2 == 0 ? low : low + 1;
      const float s = sign != 0 ? -1.0f : 1.0f;
      ASSERT_EQ(from_float<T>(s * middle).bits, even | sign) << low;
      ASSERT_EQ(from_float<T>(s * std::nextafter(middle, 0.0f)).bits, low | sign) << low;
      ASSERT_EQ(from_float<T>(s * std::nextafter(middle, INFINITY)).bits, (low + 1) | sign) << low;
    }
  }
}

template <class T>
void check_ends(uint16_t infinity) {
  EXPECT_EQ(from_float<T>(INFINITY).bits, infinity);
  EXPECT_EQ(from_float<T>(-INFINITY).bits, infinity | 0x8000);
  EXPECT_EQ(from_float<T>(std::numeric_limits<float>::max()).bits, infinity);
  EXPECT_EQ(from_float<T>(0.0f).bits, 0);
  EXPECT_EQ(from_float<T>(-0.0f).bits, 0x8000);
  for (const uint32_t bits : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0x7fc00000u}) {
    EXPECT_TRUE(std::isnan(to_float(from_float<T>(std::bit_cast<float>(bits))))) << std::hex << bits;
  }
}

TEST(Float16, HoldsEveryValueOfTheFormat) { check_every_value<Float16>(kFloat16); }
TEST(BFloat16, HoldsEveryValueOfTheFormat) { check_every_value<BFloat16>(kBFloat16); }
TEST(Float16, RoundsToNearestEven) { check_every_tie<Float16>(kFloat16); }
TEST(BFloat16, RoundsToNearestEven) { check_every_tie<BFloat16>(kBFloat16); }
TEST(Float16, OverflowsToInfinityAndKeepsNaN) { check_ends<Float16>(0x7c00); }
TEST(BFloat16, OverflowsToInfinityAndKeepsNaN) { check_ends<BFloat16>(0x7f80); }

TEST(Float16, FlushesNothingAboveHalfItsSmallestValue) {
  EXPECT_EQ(from_float<Float16>(0x1p-25f).bits, 0);
  EXPECT_EQ(from_float<Float16>(std::nextafter(0x1p-25f, 1.0f)).bits, 1);
  EXPECT_EQ(from_float<Float16>(std::numeric_limits<float>::denorm_min()).bits, 0);
}

}  // namespace
}  // namespace oprt
