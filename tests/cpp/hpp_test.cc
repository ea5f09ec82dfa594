// operator_runtime.hpp: ownership, views, exceptions, one-shot calls.
#include "operator_runtime/cpp/operator_runtime.hpp"

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace rt = operator_runtime;

namespace {

struct Half {
  uint16_t bits;
};

}  // namespace

template <>
struct operator_runtime::DTypeOf<Half> {
  static constexpr oprt_dtype_t value = OPRT_DTYPE_FLOAT16;
};

namespace {

static_assert(rt::DTypeOf<bool>::value == OPRT_DTYPE_BOOL);
static_assert(rt::DTypeOf<int8_t>::value == OPRT_DTYPE_INT8 && rt::DTypeOf<uint8_t>::value == OPRT_DTYPE_UINT8);
static_assert(rt::DTypeOf<int16_t>::value == OPRT_DTYPE_INT16 && rt::DTypeOf<uint16_t>::value == OPRT_DTYPE_UINT16);
static_assert(rt::DTypeOf<int32_t>::value == OPRT_DTYPE_INT32 && rt::DTypeOf<uint32_t>::value == OPRT_DTYPE_UINT32);
static_assert(rt::DTypeOf<int64_t>::value == OPRT_DTYPE_INT64 && rt::DTypeOf<uint64_t>::value == OPRT_DTYPE_UINT64);
static_assert(rt::DTypeOf<long long>::value == OPRT_DTYPE_INT64 && rt::DTypeOf<unsigned long>::value == OPRT_DTYPE_UINT64);
static_assert(rt::DTypeOf<float>::value == OPRT_DTYPE_FLOAT32 && rt::DTypeOf<double>::value == OPRT_DTYPE_FLOAT64);
static_assert(rt::DTypeOf<std::complex<float>>::value == OPRT_DTYPE_COMPLEX64);
static_assert(rt::DTypeOf<std::complex<double>>::value == OPRT_DTYPE_COMPLEX128);

using PreparedSoftmax = rt::Prepared<rt::Softmax>;
static_assert(!std::is_copy_constructible_v<PreparedSoftmax> && !std::is_copy_assignable_v<PreparedSoftmax>);
static_assert(std::is_nothrow_move_constructible_v<PreparedSoftmax> && std::is_nothrow_move_assignable_v<PreparedSoftmax>);
static_assert(!std::is_constructible_v<rt::View, rt::ConstView>, "what is read-only stays read-only");
static_assert(std::is_same_v<decltype(rt::contiguous(static_cast<const float*>(nullptr), {})), rt::ConstView>);
static_assert(std::is_same_v<decltype(rt::contiguous(static_cast<float*>(nullptr), {})), rt::View>);

TEST(Hpp, ContiguousViewsAreRowMajor) {
  std::vector<double> data(24);
  const rt::View view = rt::contiguous(data.data(), {2, 3, 4});
  EXPECT_EQ(view.data(), data.data());
  EXPECT_EQ(view.get()->dtype, OPRT_DTYPE_FLOAT64);
  EXPECT_EQ(view.get()->device.type, OPRT_DEVICE_CPU);
  ASSERT_EQ(view.get()->ndim, 3);
  EXPECT_EQ(view.get()->strides[0], 12);
  EXPECT_EQ(view.get()->strides[1], 4);
  EXPECT_EQ(view.get()->strides[2], 1);
}

TEST(Hpp, StridedViewsKeepTheirStrides) {
  std::array<Half, 6> data{};
  const rt::View view = rt::strided(data.data() + 5, {2, 3}, {-3, -1});
  EXPECT_EQ(view.get()->dtype, OPRT_DTYPE_FLOAT16);
  EXPECT_EQ(view.get()->strides[0], -3);
  EXPECT_EQ(view.get()->strides[1], -1);
}

TEST(Hpp, StridedRefusesAStrideTooFew) {
  float value = 0;
  EXPECT_THROW(rt::strided(&value, {1, 1}, {1}), rt::Error);
  EXPECT_THROW(rt::strided(&value, std::vector<int64_t>(9, 1), std::vector<int64_t>(9, 1)), rt::Error);
}

TEST(Hpp, CopyTransposes) {
  const std::vector<int> in = {1, 2, 3, 4, 5, 6};
  std::vector<int> out(6);
  rt::copy(rt::contiguous(out.data(), {3, 2}), rt::strided(in.data(), {3, 2}, {1, 3}));
  EXPECT_EQ(out, (std::vector<int>{1, 4, 2, 5, 3, 6}));
}

TEST(Hpp, VectorAddBroadcasts) {
  const std::vector<std::complex<float>> a = {{1, 1}, {2, 2}};
  const std::vector<std::complex<float>> b = {{10, 0}};
  std::vector<std::complex<float>> out(2);
  rt::vector_add(rt::contiguous(out.data(), {2}), rt::contiguous(a.data(), {2}), rt::contiguous(b.data(), {1}));
  EXPECT_EQ(out, (std::vector<std::complex<float>>{{11, 1}, {12, 2}}));
}

TEST(Hpp, ReduceSumTakesDimsAndKeepdim) {
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  std::vector<float> rows(2);
  float total = 0;
  rt::reduce_sum(rt::contiguous(rows.data(), {2, 1}), rt::contiguous(in.data(), {2, 3}), {-1}, true);
  EXPECT_EQ(rows, (std::vector<float>{6, 15}));
  rt::reduce_sum(rt::contiguous(&total, {}), rt::contiguous(in.data(), {2, 3}));
  EXPECT_EQ(total, 21);
}

TEST(Hpp, ReduceSumBringsItsWorkspace) {
  const std::vector<int32_t> in(1 << 20, 3);
  int64_t total = 0;
  rt::reduce_sum(rt::contiguous(&total, {}), rt::contiguous(in.data(), {1 << 20}));
  EXPECT_EQ(total, int64_t{3} << 20);
}

TEST(Hpp, SoftmaxRunsAlongTheDim) {
  std::vector<double> x(6, 1.0);
  std::vector<double> y(6);
  rt::softmax(rt::contiguous(y.data(), {2, 3}), rt::contiguous(x.data(), {2, 3}), 0);
  EXPECT_EQ(y, std::vector<double>(6, 0.5));
  rt::softmax(rt::contiguous(x.data(), {6}), rt::contiguous(x.data(), {6}));
  EXPECT_NEAR(std::accumulate(x.begin(), x.end(), 0.0), 1.0, 1e-15);
}

TEST(Hpp, ErrorsCarryStatusTextAndArgument) {
  std::vector<float> x(6);
  const rt::View view = rt::contiguous(x.data(), {2, 3});
  try {
    rt::softmax(view, view, 3);
    FAIL() << "dim 3 was taken";
  } catch (const rt::Error& error) {
    EXPECT_EQ(error.status(), OPRT_ERR_INVALID_ARGUMENT);
    EXPECT_STREQ(error.what(), "softmax: dim is 3, expected -2..1 for a 2-D input");
    EXPECT_EQ(error.argument(), "dim");
  }
}

TEST(Hpp, PreparedRunsOnOtherMemoryOfTheSameDescription) {
  std::vector<float> a = {1, 2}, b = {3, 4}, out(2);
  const rt::Prepared<rt::VectorAdd> op(OPRT_BACKEND_AUTO, rt::contiguous(out.data(), {2}), rt::contiguous(a.data(), {2}),
                                       rt::contiguous(b.data(), {2}));
  EXPECT_EQ(op.backend(), OPRT_BACKEND_CPU);
  EXPECT_STRNE(op.implementation(), "");
  EXPECT_EQ(op.workspace_size(), 0u);
  op.execute({}, out.data(), b.data(), b.data());
  EXPECT_EQ(out, (std::vector<float>{6, 8}));
  op.execute({}, a.data(), a.data(), b.data());
  EXPECT_EQ(a, (std::vector<float>{4, 6}));
}

TEST(Hpp, PreparedMovesItsDescriptor) {
  std::vector<float> x = {1, 2}, y(2);
  const rt::View out = rt::contiguous(y.data(), {2});
  rt::Prepared<rt::Copy> first(OPRT_BACKEND_CPU, out, rt::contiguous(x.data(), {2}));
  const oprt_descriptor_t* desc = first.get();
  rt::Prepared<rt::Copy> second = std::move(first);
  EXPECT_EQ(second.get(), desc);
  second.execute({}, y.data(), x.data());
  EXPECT_EQ(y, x);
  first = std::move(second);
  EXPECT_EQ(first.get(), desc);
}

TEST(Hpp, ExecuteWithoutItsWorkspaceThrows) {
  std::vector<float> in(1 << 20);
  float total = 0;
  const rt::Prepared<rt::ReduceSum> op(OPRT_BACKEND_CPU, rt::contiguous(&total, {}), rt::contiguous(in.data(), {1 << 20}),
                                       std::vector<int32_t>{}, false);
  ASSERT_GT(op.workspace_size(), 0u);
  try {
    op.execute({}, &total, in.data());
    FAIL() << "no workspace was needed";
  } catch (const rt::Error& error) {
    EXPECT_EQ(error.status(), OPRT_ERR_INSUFFICIENT_WORKSPACE);
    EXPECT_EQ(error.argument(), "workspace_size");
  }
}

TEST(Hpp, WorkspaceIsAlignedAndMayBeEmpty) {
  const rt::Workspace some(1000);
  EXPECT_EQ(some.size(), 1000u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(some.data()) % OPRT_WORKSPACE_ALIGNMENT, 0u);
  const rt::Workspace none(0);
  EXPECT_EQ(none.data(), nullptr);
}

}  // namespace
