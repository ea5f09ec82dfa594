#include "core/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/error.h"

namespace oprt {
namespace {

using Walk = std::vector<std::array<int64_t, 2>>;

// The offsets of both operands at every index, in any order.
Walk walk(int ndim, const int64_t* shape, const std::array<const int64_t*, 2>& strides, std::array<int64_t, 2> start) {
  Walk offsets{start};
  for (int d = 0; d < ndim; ++d) {
    Walk grown;
    for (const auto& offset : offsets) {
      for (int64_t i = 0; i < shape[d]; ++i) grown.push_back({offset[0] + i * strides[0][d], offset[1] + i * strides[1][d]});
    }
    offsets = grown;
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

TEST(Canonicalize, VisitsTheSamePairsOfElements) {
  std::mt19937 random(20261201);
  const auto between = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  for (int round = 0; round < 5000; ++round) {
    const auto ndim = static_cast<int>(between(0, 5));
    std::array<int64_t, OPRT_MAX_DIMS> shape{};
    std::array<int64_t, OPRT_MAX_DIMS> out{};
    std::array<int64_t, OPRT_MAX_DIMS> in{};
    for (size_t d = 0; d < static_cast<size_t>(ndim); ++d) {
      shape[d] = between(between(0, 9) == 0 ? 0 : 1, 4);
      out[d] = between(-9, 9);
      in[d] = between(-9, 9);
    }
    const Space<2> space = canonicalize<2>(ndim, shape.data(), {out.data(), in.data()});
    ASSERT_EQ(walk(space.ndim, space.shape.data(), {space.strides[0].data(), space.strides[1].data()}, space.offset),
              walk(ndim, shape.data(), {out.data(), in.data()}, {0, 0}))
        << "round " << round;
    for (size_t d = 0; d < static_cast<size_t>(space.ndim); ++d) {
      EXPECT_GE(space.strides[0][d], 0);
      if (d > 0) {
        EXPECT_LE(space.strides[0][d], space.strides[0][d - 1]);
      }
      if (space.size() > 0) {
        EXPECT_GT(space.shape[d], 1);
      }
    }
  }
}

Space<2> space_of(const std::vector<int64_t>& shape, const std::vector<int64_t>& out, const std::vector<int64_t>& in) {
  return canonicalize<2>(static_cast<int>(shape.size()), shape.data(), {out.data(), in.data()});
}

TEST(Canonicalize, MergesAContiguousTensorIntoOneDim) {
  const Space<2> space = space_of({2, 3, 4}, {12, 4, 1}, {12, 4, 1});
  EXPECT_EQ(space.ndim, 1);
  EXPECT_EQ(space.shape[0], 24);
}

TEST(Canonicalize, MergesAPermutationThatBothOperandsShare) {
  const Space<2> space = space_of({4, 2, 3}, {1, 12, 4}, {1, 12, 4});
  EXPECT_EQ(space.ndim, 1);
  EXPECT_EQ(space.shape[0], 24);
}

TEST(Canonicalize, KeepsTheTwoDimsOfATranspose) {
  const Space<2> space = space_of({5, 7}, {7, 1}, {1, 5});
  EXPECT_EQ(space.ndim, 2);
  EXPECT_EQ(space.strides[0][1], 1);
  EXPECT_EQ(space.strides[1][1], 5);
}

TEST(Canonicalize, FlipsNegativeStridesOfTheOutput) {
  const Space<2> space = space_of({6}, {-1}, {-1});
  EXPECT_EQ(space.strides[0][0], 1);
  EXPECT_EQ(space.strides[1][0], 1);
  EXPECT_EQ(space.offset[0], -5);
  EXPECT_EQ(space.offset[1], -5);
}

TEST(Canonicalize, GivesOneElementNoDims) { EXPECT_EQ(space_of({1, 1}, {77, -3}, {INT64_MIN, INT64_MAX}).ndim, 0); }

TEST(Canonicalize, GivesAnEmptyTensorOneDimOfSizeZero) {
  const Space<2> space = space_of({3, 0, 5}, {1, 1, 1}, {1, 1, 1});
  EXPECT_EQ(space.ndim, 1);
  EXPECT_EQ(space.shape[0], 0);
}

oprt_tensor_view_t column(int64_t rows) {
  oprt_tensor_view_t view{};
  view.ndim = 2;
  view.shape[0] = rows;
  view.shape[1] = 1;
  view.strides[0] = 8;
  view.strides[1] = 99;
  return view;
}

TEST(BroadcastStrides, AreZeroWhereTheInputRepeats) {
  const int64_t shape[] = {2, 3, 4};
  const auto strides = broadcast_strides("a", column(3), 3, shape);
  EXPECT_EQ(strides[0], 0);
  EXPECT_EQ(strides[1], 8);
  EXPECT_EQ(strides[2], 0);
}

TEST(BroadcastStrides, RefuseAShapeThatDoesNotBroadcast) {
  const int64_t shape[] = {2, 3, 4};
  try {
    broadcast_strides("a", column(2), 3, shape);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), OPRT_ERR_INVALID_ARGUMENT);
    EXPECT_STREQ(error.argument(), "a");
    EXPECT_STREQ(error.what(), "a has shape (2, 1), which does not broadcast to (2, 3, 4)");
  }
}

}  // namespace
}  // namespace oprt
