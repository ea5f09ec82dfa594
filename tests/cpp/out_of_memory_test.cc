// Host memory that cannot be had: every allocation of a create, failed one after the other.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "operator_runtime/operator_runtime.h"

namespace {

// Allocations that still succeed on this thread; negative means any number.
thread_local int allocations_left = -1;

void* allocate(std::size_t size) noexcept {
  if (allocations_left == 0) return nullptr;
  if (allocations_left > 0) --allocations_left;
  return std::malloc(size > 0 ? size : 1);
}

}  // namespace

// Not inlined: seen together, free of what came from new looks like a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = allocate(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

TEST(OutOfMemory, CreateReportsItAndKeepsNothing) {
  const int64_t shape[] = {4, 5};
  oprt_tensor_view_t view;
  ASSERT_EQ(oprt_make_contiguous_view(&view, nullptr, OPRT_DTYPE_FLOAT32, {OPRT_DEVICE_CPU, 0}, 2, shape), OPRT_OK);
  int num_refused = 0;
  for (int budget = 0; budget < 100; ++budget) {
    oprt_descriptor_t* desc = nullptr;
    allocations_left = budget;
    const oprt_status_t status = oprt_create_softmax_descriptor(&desc, OPRT_BACKEND_CPU, &view, &view, 1);
    allocations_left = -1;
    if (status == OPRT_OK) {
      EXPECT_EQ(oprt_destroy_softmax_descriptor(desc), OPRT_OK);
      break;
    }
    ++num_refused;
    EXPECT_EQ(status, OPRT_ERR_OUT_OF_MEMORY);
    EXPECT_EQ(desc, nullptr);
    EXPECT_STREQ(oprt_last_error(), "softmax: out of host memory");
    EXPECT_STREQ(oprt_last_error_argument(), "");
  }
  EXPECT_GE(num_refused, 2) << "the descriptor and its plan";
  EXPECT_LT(num_refused, 100);
}

TEST(OutOfMemory, ExecuteNeedsNone) {
  // Interleaved views: the overlap of out and in takes a search.
  const int64_t shape[] = {64};
  oprt_tensor_view_t view;
  ASSERT_EQ(oprt_make_contiguous_view(&view, nullptr, OPRT_DTYPE_FLOAT32, {OPRT_DEVICE_CPU, 0}, 1, shape), OPRT_OK);
  view.strides[0] = 2;
  float data[128] = {};
  oprt_descriptor_t* desc = nullptr;
  ASSERT_EQ(oprt_create_copy_descriptor(&desc, OPRT_BACKEND_CPU, &view, &view), OPRT_OK);
  allocations_left = 0;
  const oprt_status_t status = oprt_execute_copy(desc, nullptr, 0, data, data + 1, nullptr);
  allocations_left = -1;
  EXPECT_EQ(status, OPRT_OK);
  EXPECT_EQ(oprt_destroy_copy_descriptor(desc), OPRT_OK);
}

TEST(OutOfMemory, ExecuteOnManyThreadsNeedsNone) {
  const int64_t shape[] = {int64_t{1} << 20};
  oprt_tensor_view_t in;
  oprt_tensor_view_t out;
  ASSERT_EQ(oprt_make_contiguous_view(&in, nullptr, OPRT_DTYPE_FLOAT32, {OPRT_DEVICE_CPU, 0}, 1, shape), OPRT_OK);
  ASSERT_EQ(oprt_make_contiguous_view(&out, nullptr, OPRT_DTYPE_FLOAT32, {OPRT_DEVICE_CPU, 0}, 0, nullptr), OPRT_OK);
  oprt_descriptor_t* desc = nullptr;
  ASSERT_EQ(oprt_create_reduce_sum_descriptor(&desc, OPRT_BACKEND_CPU, &out, &in, nullptr, 0, 0), OPRT_OK);
  size_t workspace_size = 0;
  ASSERT_EQ(oprt_get_reduce_sum_workspace_size(desc, &workspace_size), OPRT_OK);
  std::vector<float> data(static_cast<size_t>(shape[0]), 1.0f);
  void* workspace =
      std::aligned_alloc(OPRT_WORKSPACE_ALIGNMENT, (workspace_size / OPRT_WORKSPACE_ALIGNMENT + 1) * OPRT_WORKSPACE_ALIGNMENT);
  float sum = 0;
  allocations_left = 0;
  const oprt_status_t status = oprt_execute_reduce_sum(desc, workspace, workspace_size, &sum, data.data(), nullptr);
  allocations_left = -1;
  std::free(workspace);
  EXPECT_EQ(status, OPRT_OK);
  EXPECT_EQ(sum, 1048576.0f);
  EXPECT_EQ(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
}

}  // namespace
