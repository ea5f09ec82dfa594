#include "core/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/error.h"

namespace oprt {
namespace {

constexpr unsigned kSeed = 20261201;

template <size_t N>
using Offsets = std::array<int64_t, N>;

// The offsets of all operands at every index, sorted.
template <size_t N>
std::vector<Offsets<N>> walk(int ndim, const int64_t* shape, const std::array<const int64_t*, N>& strides, Offsets<N> start) {
  std::vector<Offsets<N>> offsets{start};
  for (int d = 0; d < ndim; ++d) {
    std::vector<Offsets<N>> grown;
    for (Offsets<N> offset : offsets) {
      for (int64_t i = 0; i < shape[d]; ++i) {
        grown.push_back(offset);
        for (size_t k = 0; k < N; ++k) offset[k] += strides[k][d];
      }
    }
    offsets = grown;
  }
  std::sort(offsets.begin(), offsets.end());
  return offsets;
}

template <size_t N>
bool one_step(const Space<int{N}>& space, size_t outer) {
  for (size_t k = 0; k < N; ++k) {
    if (space.strides[k][outer] != space.strides[k][outer + 1] * space.shape[outer + 1]) return false;
  }
  return true;
}

template <size_t N>
void check_random_layouts() {
  std::mt19937 random(kSeed);
  const auto between = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", round " << round);
    const auto ndim = static_cast<int>(between(0, 5));
    std::array<int64_t, OPRT_MAX_DIMS> shape{};
    std::array<std::array<int64_t, OPRT_MAX_DIMS>, N> values{};
    for (size_t d = 0; d < static_cast<size_t>(ndim); ++d) {
      shape[d] = between(between(0, 9) == 0 ? 0 : 1, 4);
      for (auto& strides : values) strides[d] = between(-9, 9);
    }
    std::array<const int64_t*, N> strides;
    for (size_t k = 0; k < N; ++k) strides[k] = values[k].data();
    const auto space = canonicalize<int{N}>(ndim, shape.data(), strides);
    std::array<const int64_t*, N> made;
    for (size_t k = 0; k < N; ++k) made[k] = space.strides[k].data();
    ASSERT_EQ(walk<N>(space.ndim, space.shape.data(), made, space.offset), walk<N>(ndim, shape.data(), strides, {}));
    for (size_t d = 0; d < static_cast<size_t>(space.ndim); ++d) {
      ASSERT_GE(space.strides[0][d], 0);
      ASSERT_TRUE(space.shape[d] > 1 || space.size() == 0);
      if (d == 0) continue;
      ASSERT_LE(space.strides[0][d], space.strides[0][d - 1]);
      ASSERT_FALSE(one_step<N>(space, d - 1)) << "two dims that are one";
    }
  }
}

TEST(Canonicalize, VisitsTheSameElementsOfOneOperand) { check_random_layouts<1>(); }
TEST(Canonicalize, VisitsTheSameElementsOfTwoOperands) { check_random_layouts<2>(); }
TEST(Canonicalize, VisitsTheSameElementsOfThreeOperands) { check_random_layouts<3>(); }

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

TEST(Canonicalize, TakesAnyStridesWhereNothingIsThere) {
  const Space<2> space = space_of({INT64_MAX, 7, 0}, {INT64_MIN, -1, 1}, {INT64_MIN, INT64_MIN, 1});
  EXPECT_EQ(space.ndim, 1);
  EXPECT_EQ(space.size(), 0);
  EXPECT_EQ(space.offset[0], 0);
  // Some of the dims of a tensor without elements, as a reduction over the others sees it.
  EXPECT_EQ(space_of({5}, {-1}, {INT64_MIN}).shape[0], 5);
  EXPECT_EQ(space_of({5}, {INT64_MIN}, {INT64_MIN}).shape[0], 5);
}

TEST(Canonicalize, MergesNoDimsWhoseProductIsNoInt64) {
  constexpr int64_t kSize = int64_t{1} << 40;
  const Space<2> space = space_of({kSize, kSize}, {kSize, 1}, {kSize, 1});
  EXPECT_EQ(space.ndim, 2);
  EXPECT_EQ(space.shape[0], kSize);
}

TEST(Canonicalize, TakesTheFurthestStridesThatAViewMayHave) {
  const Space<2> space = space_of({2}, {-(INT64_MAX - 1)}, {INT64_MAX - 1});
  EXPECT_EQ(space.strides[0][0], INT64_MAX - 1);
  EXPECT_EQ(space.offset[0], -(INT64_MAX - 1));
  EXPECT_EQ(space.strides[1][0], -(INT64_MAX - 1));
  EXPECT_EQ(space.offset[1], INT64_MAX - 1);
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
