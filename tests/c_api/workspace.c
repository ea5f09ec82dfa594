/* Workspace: asked for where few long rows are summed, checked at every execute, never read before it is written. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

enum { kSize = 1 << 20, kGuard = 64, kNumThreads = 4 };

static float in[kSize];

static void* allocate(size_t size, int byte) {
  const size_t rounded = (size + OPRT_WORKSPACE_ALIGNMENT - 1) / OPRT_WORKSPACE_ALIGNMENT * OPRT_WORKSPACE_ALIGNMENT;
  void* memory = aligned_alloc(OPRT_WORKSPACE_ALIGNMENT, rounded);
  if (memory == NULL) abort();
  memset(memory, byte, rounded);
  return memory;
}

/* The sum of all kSize elements: one long row, which is split. */
static oprt_descriptor_t* prepare(size_t* size) {
  const oprt_tensor_view_t in_view = contiguous(OPRT_DTYPE_FLOAT32, 1, DIMS(kSize));
  const oprt_tensor_view_t out_view = contiguous(OPRT_DTYPE_FLOAT32, 0, NULL);
  oprt_descriptor_t* desc = NULL;
  CHECK_STATUS(oprt_create_reduce_sum_descriptor(&desc, OPRT_BACKEND_CPU, &out_view, &in_view, NULL, 0, 0), OPRT_OK);
  CHECK_STATUS(oprt_get_reduce_sum_workspace_size(desc, size), OPRT_OK);
  CHECK(*size > 0);
  return desc;
}

static void a_workspace_that_does_not_do_is_refused(void) {
  size_t size = 0;
  float out = 7;
  oprt_descriptor_t* desc = prepare(&size);
  char* workspace = allocate(size + OPRT_WORKSPACE_ALIGNMENT, 0);
  CHECK_ERROR(oprt_execute_reduce_sum(desc, workspace, size - 1, &out, in, NULL), OPRT_ERR_INSUFFICIENT_WORKSPACE, "workspace_size",
              "reduce_sum: workspace_size is ");
  CHECK_ERROR(oprt_execute_reduce_sum(desc, NULL, 0, &out, in, NULL), OPRT_ERR_INSUFFICIENT_WORKSPACE, "workspace_size",
              "workspace_size is 0 bytes, expected at least ");
  CHECK_ERROR(oprt_execute_reduce_sum(desc, NULL, size, &out, in, NULL), OPRT_ERR_INVALID_ARGUMENT, "workspace",
              "workspace is NULL");
  CHECK_ERROR(oprt_execute_reduce_sum(desc, workspace + 128, size, &out, in, NULL), OPRT_ERR_INVALID_ARGUMENT, "workspace",
              "aligned to 256 bytes");
  CHECK(out == 7);
  CHECK_STATUS(oprt_execute_reduce_sum(desc, workspace, size, &out, in, NULL), OPRT_OK);
  CHECK(out != 7);
  free(workspace);
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
}

/* The workspace holds the operand, the operand holds the workspace, or only the last byte that is needed is shared. */
static void a_workspace_that_overlaps_an_operand_is_refused(void) {
  size_t size = 0;
  float out = 7;
  oprt_descriptor_t* desc = prepare(&size);
  char* memory = allocate(size + sizeof in + OPRT_WORKSPACE_ALIGNMENT, 0);
  float* const last = (float*)(memory + size - sizeof(float));
  CHECK_ERROR(oprt_execute_reduce_sum(desc, memory, size, last, in, NULL), OPRT_ERR_INVALID_ARGUMENT, "workspace",
              "reduce_sum: workspace overlaps out, expected memory of its own");
  CHECK_ERROR(oprt_execute_reduce_sum(desc, memory + OPRT_WORKSPACE_ALIGNMENT, size, &out, memory, NULL), OPRT_ERR_INVALID_ARGUMENT,
              "workspace", "reduce_sum: workspace overlaps in, expected memory of its own");
  CHECK_ERROR(oprt_execute_reduce_sum(desc, memory, size, &out, last, NULL), OPRT_ERR_INVALID_ARGUMENT, "workspace",
              "workspace overlaps in");
  CHECK(out == 7 && *last == 0);
  CHECK_STATUS(oprt_execute_reduce_sum(desc, memory, size + sizeof in, &out, memory + size, NULL), OPRT_OK);
  CHECK(out == 0);
  free(memory);
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
}

static void contents_are_arbitrary_and_the_bits_repeat(void) {
  const int fills[] = {0x00, 0xff, 0x7f, 0x41};
  size_t size = 0;
  oprt_descriptor_t* desc = prepare(&size);
  for (size_t i = 0; i < sizeof fills / sizeof fills[0]; ++i) {
    static float first;
    float out = 0;
    void* workspace = allocate(size, fills[i]);
    CHECK_STATUS(oprt_execute_reduce_sum(desc, workspace, size, &out, in, NULL), OPRT_OK);
    if (i == 0) first = out;
    CHECK(same_bytes(&out, &first, sizeof out));
    CHECK_STATUS(oprt_execute_reduce_sum(desc, workspace, size, &out, in, NULL), OPRT_OK);
    CHECK(same_bytes(&out, &first, sizeof out));
    free(workspace);
  }
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
}

static void bytes_past_the_size_are_left_alone(void) {
  size_t size = 0;
  float out = 0;
  oprt_descriptor_t* desc = prepare(&size);
  char* workspace = allocate(size + kGuard, 0x5a);
  CHECK_STATUS(oprt_execute_reduce_sum(desc, workspace, size + kGuard, &out, in, NULL), OPRT_OK);
  for (size_t i = 0; i < kGuard; ++i) CHECK(workspace[size + i] == 0x5a);
  free(workspace);
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
}

/* 0..255 repeated: every partial sum is an integer below 2^24 times a power of two, so that the exact total is known. */
static void a_split_sum_is_right(void) {
  const double expected = (double)kSize / 256 * (255.0 * 128.0);
  size_t size = 0;
  float out = 0;
  oprt_descriptor_t* desc = prepare(&size);
  void* workspace = allocate(size, 0xff);
  CHECK_STATUS(oprt_execute_reduce_sum(desc, workspace, size, &out, in, NULL), OPRT_OK);
  const double error = (double)out - expected;
  const double bound = (64.0 + 20.0) / (double)(1 << 24) * expected; /* the header's, with log2 n = 20 */
  CHECK(error <= bound && -error <= bound);
  free(workspace);
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
}

static void without_need_the_workspace_is_not_looked_at(void) {
  const oprt_tensor_view_t view = contiguous(OPRT_DTYPE_FLOAT32, 1, DIMS(4));
  char* const odd = (char*)in + 1;
  float out[4];
  oprt_descriptor_t* desc = NULL;
  size_t size = 99;
  CHECK_STATUS(oprt_create_softmax_descriptor(&desc, OPRT_BACKEND_CPU, &view, &view, 0), OPRT_OK);
  CHECK_STATUS(oprt_get_softmax_workspace_size(desc, &size), OPRT_OK);
  CHECK(size == 0);
  CHECK_STATUS(oprt_execute_softmax(desc, NULL, 0, out, in, NULL), OPRT_OK);
  CHECK_STATUS(oprt_execute_softmax(desc, odd, 3, out, in, NULL), OPRT_OK);
  CHECK_STATUS(oprt_destroy_softmax_descriptor(desc), OPRT_OK);
}

/* A view may repeat one byte 2^63 - 1 times: the size must not wrap, nor the parts that are written there. */
static void the_size_for_the_longest_rows_is_that_of_64_sums(void) {
  for (int64_t n = INT64_MAX; n > INT64_MAX - 130; n -= 43) {
    const oprt_tensor_view_t in_view = strided(OPRT_DTYPE_INT8, 1, DIMS(n), DIMS(0));
    const oprt_tensor_view_t out_view = contiguous(OPRT_DTYPE_INT64, 0, NULL);
    oprt_descriptor_t* desc = NULL;
    size_t size = 0;
    CHECK_STATUS(oprt_create_reduce_sum_descriptor(&desc, OPRT_BACKEND_CPU, &out_view, &in_view, NULL, 0, 0), OPRT_OK);
    CHECK_STATUS(oprt_get_reduce_sum_workspace_size(desc, &size), OPRT_OK);
    CHECK(size == 64 * sizeof(int64_t));
    CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
  }
}

struct thread_data {
  const oprt_descriptor_t* desc;
  size_t size;
  float expected;
  int num_wrong;
};

static void* execute_with_own_workspace(void* argument) {
  struct thread_data* data = argument;
  void* workspace = allocate(data->size, 0xff);
  for (int round = 0; round < 20; ++round) {
    float out = 0;
    if (oprt_execute_reduce_sum(data->desc, workspace, data->size, &out, in, NULL) != OPRT_OK) ++data->num_wrong;
    if (!same_bytes(&out, &data->expected, sizeof out)) ++data->num_wrong;
  }
  free(workspace);
  return NULL;
}

static void threads_share_a_descriptor_with_a_workspace_each(void) {
  pthread_t threads[kNumThreads];
  struct thread_data data[kNumThreads];
  size_t size = 0;
  float expected = 0;
  oprt_descriptor_t* desc = prepare(&size);
  void* workspace = allocate(size, 0);
  CHECK_STATUS(oprt_execute_reduce_sum(desc, workspace, size, &expected, in, NULL), OPRT_OK);
  free(workspace);
  for (int t = 0; t < kNumThreads; ++t) {
    data[t] = (struct thread_data){desc, size, expected, 0};
    if (pthread_create(&threads[t], NULL, execute_with_own_workspace, &data[t]) != 0) abort();
  }
  for (int t = 0; t < kNumThreads; ++t) {
    pthread_join(threads[t], NULL);
    CHECK(data[t].num_wrong == 0);
  }
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
}

int main(void) {
  for (int i = 0; i < kSize; ++i) in[i] = (float)(i % 256);
  a_workspace_that_does_not_do_is_refused();
  a_workspace_that_overlaps_an_operand_is_refused();
  contents_are_arbitrary_and_the_bits_repeat();
  bytes_past_the_size_are_left_alone();
  a_split_sum_is_right();
  the_size_for_the_longest_rows_is_that_of_64_sums();
  without_need_the_workspace_is_not_looked_at();
  threads_share_a_descriptor_with_a_workspace_each();
  return report("workspace");
}
