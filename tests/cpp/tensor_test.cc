#include "core/tensor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "core/error.h"
#include "operator_runtime/dlpack.h"

namespace oprt {
namespace {

constexpr oprt_device_t kCpu{OPRT_DEVICE_CPU, 0};

oprt_tensor_view_t make_view() {
  const int64_t shape[] = {2, 3};
  oprt_tensor_view_t view;
  oprt_make_contiguous_view(&view, nullptr, OPRT_DTYPE_FLOAT32, kCpu, 2, shape);
  return view;
}

// The text and status of what check_view throws for a changed view; "" and OPRT_OK where it accepts.
struct Verdict {
  oprt_status_t status = OPRT_OK;
  std::string text;
};
Verdict check(const std::function<void(oprt_tensor_view_t&)>& change) {
  oprt_tensor_view_t view = make_view();
  change(view);
  try {
    check_view("in", &view);
  } catch (const Error& error) {
    EXPECT_STREQ(error.argument(), "in");
    return {error.status(), error.what()};
  }
  return {};
}

TEST(CheckView, RefusesWhatIsMalformedAndSaysWhatCame) {
  const auto refuses = [](const char* text, const std::function<void(oprt_tensor_view_t&)>& change) {
    const Verdict verdict = check(change);
    EXPECT_EQ(verdict.status, OPRT_ERR_INVALID_ARGUMENT) << text;
    EXPECT_EQ(verdict.text, text);
  };
  refuses("in has dtype 16, expected one of OPRT_DTYPE_* (0..15)", [](auto& view) { view.dtype = 16; });
  refuses("in has dtype -1, expected one of OPRT_DTYPE_* (0..15)", [](auto& view) { view.dtype = -1; });
  refuses("in has 9 dimensions, expected 0..8", [](auto& view) { view.ndim = 9; });
  refuses("in has -1 dimensions, expected 0..8", [](auto& view) { view.ndim = -1; });
  refuses("in has size -3 in dim 1, expected 0 or more", [](auto& view) { view.shape[1] = -3; });
  refuses("in has shape (3037000500, 3037000500), which is more than 2^63 - 1 bytes",
          [](auto& view) { view.shape[0] = view.shape[1] = 3037000500; });
  refuses("in has shape (2, 3) and strides (2305843009213693951, 1), which reach further than 2^63 - 1 bytes",
          [](auto& view) { view.strides[0] = INT64_MAX / 4; });
  refuses("in has shape (2, 3) and strides (-9223372036854775808, 1), which reach further than 2^63 - 1 bytes",
          [](auto& view) { view.strides[0] = INT64_MIN; });
  refuses("in has shape (2, 3) and strides (1152921504606846975, -576460752303423488), which reach further than 2^63 - 1 bytes",
          [](auto& view) {
            view.strides[0] = INT64_MAX / 8;
            view.strides[1] = INT64_MIN / 16;
          });
}

TEST(CheckView, RefusesNull) { EXPECT_THROW(check_view("in", nullptr), Error); }

TEST(CheckView, CallsAnUnknownDeviceUnsupported) {
  const Verdict verdict = check([](auto& view) { view.device.type = 10; });
  EXPECT_EQ(verdict.status, OPRT_ERR_UNSUPPORTED);
  EXPECT_EQ(verdict.text, "in is on a device of type 10, expected 1 (cpu) or 2 (cuda)");
}

TEST(CheckView, IgnoresStridesWhereASizeIsOneOrNothingIsThere) {
  EXPECT_EQ(check([](auto& view) {
              view.shape[0] = 1;
              view.strides[0] = INT64_MIN;
            }).text,
            "");
  EXPECT_EQ(check([](auto& view) {
              view.shape[0] = 0;
              view.shape[1] = INT64_MAX;
              view.strides[1] = INT64_MIN;
            }).text,
            "");
}

TEST(CheckView, AcceptsTheFurthestReach) {
  EXPECT_EQ(check([](auto& view) {
              view.shape[0] = 2;
              view.shape[1] = 1;
              view.strides[0] = INT64_MAX / 4 - 1;
            }).text,
            "");
}

TEST(NormalizeDim, CountsFromTheEnd) {
  EXPECT_EQ(normalize_dim("dim", -1, 3), 2);
  EXPECT_EQ(normalize_dim("dim", 0, 3), 0);
  EXPECT_EQ(normalize_dim("dim", -3, 3), 0);
  EXPECT_EQ(normalize_dim("dim", 0, 0), 0);
  EXPECT_EQ(normalize_dim("dim", -1, 0), 0);
}

TEST(NormalizeDim, NamesTheRange) {
  try {
    normalize_dim("dim", 3, 2);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "dim is 3, expected -2..1 for a 2-D input");
    EXPECT_STREQ(error.argument(), "dim");
  }
  EXPECT_THROW(normalize_dim("dim", 1, 0), Error);
  EXPECT_THROW(normalize_dim("dim", INT32_MIN, 8), Error);
}

TEST(ShapeText, ReadsAsAPythonTuple) {
  const int64_t shape[] = {2, 3};
  EXPECT_EQ(shape_text(shape, 2), "(2, 3)");
  EXPECT_EQ(shape_text(shape, 1), "(2,)");
  EXPECT_EQ(shape_text(shape, 0), "()");
}

TEST(DType, KnowsSizesAndNames) {
  EXPECT_EQ(oprt_dtype_size(OPRT_DTYPE_BOOL), 1u);
  EXPECT_EQ(oprt_dtype_size(OPRT_DTYPE_COMPLEX32), 4u);
  EXPECT_EQ(oprt_dtype_size(OPRT_DTYPE_COMPLEX128), 16u);
  EXPECT_STREQ(oprt_dtype_name(OPRT_DTYPE_BFLOAT16), "bfloat16");
  EXPECT_EQ(oprt_dtype_size(16), 0u);
  EXPECT_EQ(oprt_dtype_size(-1), 0u);
  EXPECT_STREQ(oprt_dtype_name(99), "unknown");
}

TEST(MakeContiguousView, IsRowMajor) {
  const oprt_tensor_view_t view = make_view();
  EXPECT_EQ(view.strides[0], 3);
  EXPECT_EQ(view.strides[1], 1);
}

TEST(MakeContiguousView, TakesTheViewsOwnShape) {
  oprt_tensor_view_t view = make_view();
  view.strides[0] = 77;
  ASSERT_EQ(oprt_make_contiguous_view(&view, nullptr, OPRT_DTYPE_FLOAT16, kCpu, view.ndim, view.shape), OPRT_OK);
  EXPECT_EQ(shape_text(view), "(2, 3)");
  EXPECT_EQ(view.strides[0], 3);
}

TEST(MakeContiguousView, GivesAnEmptyTensorOfHugeSizesStridesToo) {
  oprt_tensor_view_t view;
  const int64_t shape[] = {INT64_MAX, INT64_MAX, 0};
  ASSERT_EQ(oprt_make_contiguous_view(&view, nullptr, OPRT_DTYPE_FLOAT64, kCpu, 3, shape), OPRT_OK);
  EXPECT_EQ(num_elements(view), 0);
  EXPECT_NO_THROW(check_view("in", &view));
}

TEST(MakeContiguousView, LeavesTheViewAloneWhenItRefuses) {
  oprt_tensor_view_t view = make_view();
  const oprt_tensor_view_t before = view;
  const int64_t shape[] = {2, -1};
  EXPECT_EQ(oprt_make_contiguous_view(&view, nullptr, OPRT_DTYPE_FLOAT32, kCpu, 2, shape), OPRT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(oprt_make_contiguous_view(&view, nullptr, OPRT_DTYPE_FLOAT32, kCpu, 2, nullptr), OPRT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(oprt_make_contiguous_view(nullptr, nullptr, OPRT_DTYPE_FLOAT32, kCpu, 2, shape), OPRT_ERR_INVALID_ARGUMENT);
  EXPECT_EQ(std::memcmp(&view, &before, sizeof view), 0);
}

// A DLPack tensor of float32, 2 x 3.
struct Tensor {
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {1, 2};
  float storage[8] = {};
  oprt_dltensor_t dl{storage, {OPRT_DEVICE_CPU, 0}, 2, {2, 32, 1}, shape, strides, 8};
};

TEST(ViewFromDLTensor, AddsTheByteOffsetAndKeepsStrides) {
  Tensor tensor;
  oprt_tensor_view_t view;
  ASSERT_EQ(oprt_view_from_dltensor(&view, &tensor.dl), OPRT_OK);
  EXPECT_EQ(view.data, tensor.storage + 2);
  EXPECT_EQ(view.dtype, OPRT_DTYPE_FLOAT32);
  EXPECT_EQ(view.strides[0], 1);
  EXPECT_EQ(view.strides[1], 2);
}

TEST(ViewFromDLTensor, ReadsNoStridesAsRowMajor) {
  Tensor tensor;
  tensor.dl.strides = nullptr;
  oprt_tensor_view_t view;
  ASSERT_EQ(oprt_view_from_dltensor(&view, &tensor.dl), OPRT_OK);
  EXPECT_EQ(view.strides[0], 3);
}

TEST(ViewFromDLTensor, TakesPageLockedAndManagedMemoryForItsDevice) {
  Tensor tensor;
  oprt_tensor_view_t view;
  tensor.dl.device = {3, 0};
  ASSERT_EQ(oprt_view_from_dltensor(&view, &tensor.dl), OPRT_OK);
  EXPECT_EQ(view.device.type, OPRT_DEVICE_CPU);
  tensor.dl.device = {13, 1};
  ASSERT_EQ(oprt_view_from_dltensor(&view, &tensor.dl), OPRT_OK);
  EXPECT_EQ(view.device.type, OPRT_DEVICE_CUDA);
  EXPECT_EQ(view.device.id, 1);
}

TEST(ViewFromDLTensor, RefusesWhatIsNoViewOfOurs) {
  const auto refuses = [](oprt_status_t status, const std::string& text, const std::function<void(oprt_dltensor_t&)>& change) {
    Tensor tensor;
    change(tensor.dl);
    oprt_tensor_view_t view;
    EXPECT_EQ(oprt_view_from_dltensor(&view, &tensor.dl), status) << text;
    EXPECT_EQ(oprt_last_error(), "oprt_view_from_dltensor: dltensor " + text);
    EXPECT_STREQ(oprt_last_error_argument(), "dltensor");
  };
  refuses(OPRT_ERR_INVALID_ARGUMENT, "has 9 dimensions, expected 0..8", [](auto& dl) { dl.ndim = 9; });
  refuses(OPRT_ERR_INVALID_ARGUMENT, "has no shape, expected 2 sizes", [](auto& dl) { dl.shape = nullptr; });
  refuses(OPRT_ERR_INVALID_ARGUMENT, "has size -1 in dim 0, expected 0 or more", [](auto& dl) { dl.shape[0] = -1; });
  refuses(OPRT_ERR_UNSUPPORTED, "has a dtype of 4 lanes, expected 1", [](auto& dl) { dl.dtype.lanes = 4; });
  refuses(OPRT_ERR_UNSUPPORTED, "has DLPack type code 2 of 8 bits, expected a bool, integer, float or complex type of OPRT_DTYPE_*",
          [](auto& dl) { dl.dtype.bits = 8; });
  refuses(OPRT_ERR_UNSUPPORTED, "is on a device of DLPack type 8, expected cpu or cuda", [](auto& dl) { dl.device.type = 8; });
}

TEST(ViewFromDLTensor, RefusesNull) {
  Tensor tensor;
  oprt_tensor_view_t view;
  EXPECT_EQ(oprt_view_from_dltensor(nullptr, &tensor.dl), OPRT_ERR_INVALID_ARGUMENT);
  EXPECT_STREQ(oprt_last_error(), "oprt_view_from_dltensor: view is NULL");
  EXPECT_EQ(oprt_view_from_dltensor(&view, nullptr), OPRT_ERR_INVALID_ARGUMENT);
  EXPECT_STREQ(oprt_last_error(), "oprt_view_from_dltensor: dltensor is NULL");
}

}  // namespace
}  // namespace oprt
