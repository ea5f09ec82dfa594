#include "core/divide_up.h"

#include <gtest/gtest.h>

namespace oprt {
namespace {

TEST(DivideUp, RoundsUpAndIsExactForMultiples) {
  EXPECT_EQ(divide_up(0, 7), 0);
  EXPECT_EQ(divide_up(1, 7), 1);
  EXPECT_EQ(divide_up(7, 7), 1);
  EXPECT_EQ(divide_up(8, 7), 2);
}

TEST(DivideUp, TakesTheLargestNumbers) {
  EXPECT_EQ(divide_up(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(divide_up(INT64_MAX, 2), int64_t{1} << 62);
  EXPECT_EQ(divide_up(INT64_MAX - 1, INT64_MAX), 1);
  EXPECT_EQ(divide_up(INT64_MAX, INT64_MAX), 1);
}

}  // namespace
}  // namespace oprt
