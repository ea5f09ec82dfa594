#include "core/overlap.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace oprt {
namespace {

oprt_tensor_view_t make_view(oprt_dtype_t dtype, const std::vector<int64_t>& shape, const std::vector<int64_t>& strides) {
  oprt_tensor_view_t view{};
  view.dtype = dtype;
  view.device = {OPRT_DEVICE_CPU, 0};
  view.ndim = static_cast<int32_t>(shape.size());
  std::copy(shape.begin(), shape.end(), view.shape);
  std::copy(strides.begin(), strides.end(), view.strides);
  return view;
}

// The byte offset, from element 0, of each element.
std::vector<int64_t> element_offsets(const oprt_tensor_view_t& view) {
  std::vector<int64_t> offsets{0};
  for (int d = 0; d < view.ndim; ++d) {
    std::vector<int64_t> grown;
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < view.shape[d]; ++i) {
        grown.push_back(offset + i * view.strides[d] * static_cast<int64_t>(oprt_dtype_size(view.dtype)));
      }
    }
    offsets = grown;
  }
  return offsets;
}

// How many elements cover each byte.
std::map<int64_t, int> bytes_of(const oprt_tensor_view_t& view, int64_t start) {
  std::map<int64_t, int> bytes;
  for (const int64_t offset : element_offsets(view)) {
    for (size_t i = 0; i < oprt_dtype_size(view.dtype); ++i) ++bytes[start + offset + static_cast<int64_t>(i)];
  }
  return bytes;
}

const void* address(int64_t value) { return reinterpret_cast<const void*>(value); }

constexpr unsigned kSeed = 20261201;

class RandomViews {
 public:
  oprt_tensor_view_t draw() {
    const auto ndim = static_cast<size_t>(between(0, 4));
    std::vector<int64_t> shape(ndim);
    std::vector<int64_t> strides(ndim);
    for (size_t d = 0; d < ndim; ++d) {
      shape[d] = between(between(0, 9) == 0 ? 0 : 1, 5);
      strides[d] = between(-13, 13);
    }
    constexpr oprt_dtype_t kDTypes[] = {OPRT_DTYPE_INT8, OPRT_DTYPE_FLOAT16, OPRT_DTYPE_FLOAT32, OPRT_DTYPE_COMPLEX128};
    return make_view(kDTypes[between(0, 3)], shape, strides);
  }
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random_); }

 private:
  std::mt19937 random_{kSeed};
};

TEST(Overlap, AgreesWithAListOfAllBytes) {
  RandomViews random;
  int num_overlaps = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    const oprt_tensor_view_t a = random.draw();
    const oprt_tensor_view_t b = random.draw();
    const int64_t a_start = 1 << 20;
    const int64_t b_start = a_start + random.between(-150, 150);
    const auto a_bytes = bytes_of(a, a_start);
    bool expected = false;
    for (const auto& [byte, count] : bytes_of(b, b_start)) expected = expected || a_bytes.count(byte) > 0;
    num_overlaps += expected ? 1 : 0;
    ASSERT_EQ(views_overlap(a, address(a_start), b, address(b_start)), expected ? Overlap::kYes : Overlap::kNo)
        << "seed " << kSeed << ", round " << round;
  }
  EXPECT_GT(num_overlaps, kRounds / 10);
  EXPECT_LT(num_overlaps, kRounds * 9 / 10);
}

TEST(WritesTwice, AgreesWithAListOfAllBytes) {
  RandomViews random;
  int num_twice = 0;
  constexpr int kRounds = 20000;
  for (int round = 0; round < kRounds; ++round) {
    const oprt_tensor_view_t view = random.draw();
    bool expected = false;
    for (const auto& [byte, count] : bytes_of(view, 0)) expected = expected || count > 1;
    num_twice += expected ? 1 : 0;
    ASSERT_EQ(writes_twice(view), expected ? Overlap::kYes : Overlap::kNo) << "seed " << kSeed << ", round " << round;
  }
  EXPECT_GT(num_twice, kRounds / 10);
  EXPECT_LT(num_twice, kRounds * 9 / 10);
}

TEST(ByteSpan, AgreesWithAListOfAllBytes) {
  RandomViews random;
  for (int round = 0; round < 2000; ++round) {
    const oprt_tensor_view_t view = random.draw();
    const auto bytes = bytes_of(view, 0);
    const ByteSpan span = byte_span(view);
    ASSERT_EQ(span.low, bytes.empty() ? 0 : bytes.begin()->first);
    ASSERT_EQ(span.high, bytes.empty() ? 0 : bytes.rbegin()->first + 1);
  }
}

TEST(Overlap, EvenAndOddElementsAreDisjoint) {
  const auto half = make_view(OPRT_DTYPE_FLOAT32, {int64_t{1} << 40}, {2});
  EXPECT_EQ(views_overlap(half, address(4096), half, address(4100)), Overlap::kNo);
  EXPECT_EQ(views_overlap(half, address(4096), half, address(4104)), Overlap::kYes);
  EXPECT_EQ(views_overlap(half, address(4096), half, address(4098)), Overlap::kYes) << "elements that start inside another";
}

TEST(Overlap, ColumnSlicesOfOneMatrixAreDisjoint) {
  const auto left = make_view(OPRT_DTYPE_FLOAT16, {100000, 300}, {1000, 1});
  const auto right = make_view(OPRT_DTYPE_FLOAT16, {100000, 700}, {1000, 1});
  EXPECT_EQ(views_overlap(left, address(4096), right, address(4096 + 600)), Overlap::kNo);
  EXPECT_EQ(views_overlap(left, address(4096), right, address(4096 + 598)), Overlap::kYes);
}

TEST(Overlap, ReversedAndTransposedViewsOfOneBufferOverlap) {
  const auto forward = make_view(OPRT_DTYPE_FLOAT32, {1000, 1000}, {1000, 1});
  const auto transposed = make_view(OPRT_DTYPE_FLOAT32, {1000, 1000}, {1, 1000});
  const auto backward = make_view(OPRT_DTYPE_FLOAT32, {1000, 1000}, {-1000, -1});
  EXPECT_EQ(views_overlap(forward, address(4096), transposed, address(4096)), Overlap::kYes);
  EXPECT_EQ(views_overlap(forward, address(4096), backward, address(4096 + 4 * 999999)), Overlap::kYes);
}

TEST(Overlap, AnswersAtTheEndsOfTheAddressSpace) {
  const auto low = make_view(OPRT_DTYPE_INT8, {2}, {INT64_MAX - 1});
  EXPECT_EQ(views_overlap(low, address(1), low, address(2)), Overlap::kNo);
  EXPECT_EQ(views_overlap(low, address(1), low, address(INT64_MAX)), Overlap::kYes);
}

TEST(Overlap, WindowsOfOneImageBatchAreDisjoint) {
  // x[:, :, 10:60, 20:70] and, beside it, x[:, :, 10:60, 70:120] of (64, 32, 200, 200), the second one flipped both ways.
  const auto left = make_view(OPRT_DTYPE_FLOAT32, {64, 32, 50, 50}, {32 * 40000, 40000, 200, 1});
  const auto right = make_view(OPRT_DTYPE_FLOAT32, {64, 32, 50, 50}, {32 * 40000, 40000, -200, -1});
  const int64_t left_start = 4096 + 4 * (10 * 200 + 20);
  const int64_t right_end = 4096 + 4 * (59 * 200 + 119);
  EXPECT_EQ(views_overlap(left, address(left_start), right, address(right_end)), Overlap::kNo);
  EXPECT_EQ(views_overlap(left, address(left_start), right, address(right_end - 4 * 50)), Overlap::kYes);
  EXPECT_EQ(views_overlap(left, address(left_start), right, address(right_end - 4)), Overlap::kYes) << "one column is shared";
}

TEST(Overlap, RealAndImaginaryPartsAreDisjoint) {
  const auto part = make_view(OPRT_DTYPE_FLOAT32, {1 << 20, 1 << 10}, {2 << 10, 2});
  const auto whole = make_view(OPRT_DTYPE_COMPLEX64, {1 << 20, 1 << 10}, {1 << 10, 1});
  EXPECT_EQ(views_overlap(part, address(4096), part, address(4100)), Overlap::kNo);
  EXPECT_EQ(views_overlap(part, address(4100), whole, address(4096)), Overlap::kYes);
}

TEST(Overlap, GivesUpOnWhatABoundedSearchCannotDecide) {
  // A subset-sum problem: sixteen strides of like size without a common divisor, few sums, and a distance among them.
  std::mt19937_64 random(kSeed);
  std::vector<int64_t> strides;
  for (int d = 0; d < 16; ++d) strides.push_back(1000000000000 + static_cast<int64_t>(random() % 1000000000));
  const std::vector<int64_t> shape(8, 3);
  const auto a = make_view(OPRT_DTYPE_INT8, shape, {strides.begin(), strides.begin() + 8});
  const auto b = make_view(OPRT_DTYPE_INT8, shape, {strides.begin() + 8, strides.end()});
  const int64_t start = int64_t{1} << 44;
  EXPECT_EQ(views_overlap(a, address(start), b, address(start + 123457)), Overlap::kUndecided);
}

TEST(WritesTwice, AcceptsPermutedAndPaddedLayoutsAtOnce) {
  EXPECT_EQ(writes_twice(make_view(OPRT_DTYPE_FLOAT32, {64, 80, 224, 224}, {1, 64, 64 * 80, 64 * 80 * 224})), Overlap::kNo);
  EXPECT_EQ(writes_twice(make_view(OPRT_DTYPE_FLOAT32, {1 << 20, 1 << 20}, {-(1 << 21), 2})), Overlap::kNo);
}

TEST(WritesTwice, RefusesExpandedAndFoldedLayouts) {
  EXPECT_EQ(writes_twice(make_view(OPRT_DTYPE_FLOAT32, {3, 4}, {0, 1})), Overlap::kYes);
  EXPECT_EQ(writes_twice(make_view(OPRT_DTYPE_FLOAT32, {3, 4}, {3, 1})), Overlap::kYes);
  EXPECT_EQ(writes_twice(make_view(OPRT_DTYPE_FLOAT32, {1, 4}, {0, 1})), Overlap::kNo) << "a stride of a size of 1 does not count";
}

}  // namespace
}  // namespace oprt
