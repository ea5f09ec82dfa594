/* Create, workspace, execute and destroy of every operator; who owns what; threads. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"

enum { kRows = 2, kCols = 3, kNumThreads = 8, kNumRounds = 200 };

static const float kIn[kRows * kCols] = {1, 2, 3, 4, 5, 6};

static oprt_tensor_view_t matrix(void) { return contiguous(OPRT_DTYPE_FLOAT32, 2, DIMS(kRows, kCols)); }

/* A workspace of `size` bytes; the caller frees it. Never NULL, so that 0 bytes work too. */
static void* allocate(size_t size) {
  void* workspace = aligned_alloc(OPRT_WORKSPACE_ALIGNMENT, (size / OPRT_WORKSPACE_ALIGNMENT + 1) * OPRT_WORKSPACE_ALIGNMENT);
  if (workspace == NULL) abort();
  return workspace;
}

static void copy_moves_every_element(void) {
  const oprt_tensor_view_t view = matrix();
  oprt_descriptor_t* desc = NULL;
  float out[kRows * kCols] = {0};
  size_t size = 99;
  CHECK_STATUS(oprt_check_copy_support(OPRT_BACKEND_AUTO, &view, &view), OPRT_OK);
  CHECK_STATUS(oprt_create_copy_descriptor(&desc, OPRT_BACKEND_AUTO, &view, &view), OPRT_OK);
  CHECK_STATUS(oprt_get_copy_workspace_size(desc, &size), OPRT_OK);
  CHECK(size == 0);
  CHECK(oprt_descriptor_backend(desc) == OPRT_BACKEND_CPU);
  CHECK(strlen(oprt_descriptor_implementation(desc)) > 0);
  CHECK_STATUS(oprt_execute_copy(desc, NULL, 0, out, kIn, NULL), OPRT_OK);
  CHECK(same_bytes(out, kIn, sizeof out));
  CHECK_STATUS(oprt_destroy_copy_descriptor(desc), OPRT_OK);
}

static void vector_add_broadcasts(void) {
  const oprt_tensor_view_t out_view = matrix();
  const oprt_tensor_view_t row_view = contiguous(OPRT_DTYPE_FLOAT32, 1, DIMS(kCols));
  const float row[kCols] = {10, 20, 30};
  const float expected[kRows * kCols] = {11, 22, 33, 14, 25, 36};
  oprt_descriptor_t* desc = NULL;
  float out[kRows * kCols] = {0};
  size_t size = 99;
  CHECK_STATUS(oprt_check_vector_add_support(OPRT_BACKEND_CPU, &out_view, &out_view, &row_view), OPRT_OK);
  CHECK_STATUS(oprt_create_vector_add_descriptor(&desc, OPRT_BACKEND_CPU, &out_view, &out_view, &row_view), OPRT_OK);
  CHECK_STATUS(oprt_get_vector_add_workspace_size(desc, &size), OPRT_OK);
  CHECK(size == 0);
  CHECK_STATUS(oprt_execute_vector_add(desc, NULL, 0, out, kIn, row, NULL), OPRT_OK);
  CHECK(same_bytes(out, expected, sizeof out));
  CHECK_STATUS(oprt_destroy_vector_add_descriptor(desc), OPRT_OK);
}

/* The dims array is read during create only. */
static void reduce_sum_sums_the_named_dim(void) {
  const oprt_tensor_view_t in_view = matrix();
  const oprt_tensor_view_t out_view = contiguous(OPRT_DTYPE_FLOAT32, 2, DIMS(kRows, 1));
  int32_t dims[1] = {-1};
  oprt_descriptor_t* desc = NULL;
  float out[kRows] = {0};
  size_t size = 0;
  CHECK_STATUS(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &out_view, &in_view, dims, 1, 1), OPRT_OK);
  CHECK_STATUS(oprt_create_reduce_sum_descriptor(&desc, OPRT_BACKEND_CPU, &out_view, &in_view, dims, 1, 1), OPRT_OK);
  dims[0] = 77;
  CHECK_STATUS(oprt_get_reduce_sum_workspace_size(desc, &size), OPRT_OK);
  void* workspace = allocate(size);
  CHECK_STATUS(oprt_execute_reduce_sum(desc, workspace, size, out, kIn, NULL), OPRT_OK);
  CHECK(out[0] == 6 && out[1] == 15);
  free(workspace);
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
}

static void reduce_sum_without_dims_sums_everything(void) {
  const oprt_tensor_view_t in_view = matrix();
  const oprt_tensor_view_t out_view = contiguous(OPRT_DTYPE_FLOAT32, 0, NULL);
  oprt_descriptor_t* desc = NULL;
  float out = 0;
  size_t size = 0;
  CHECK_STATUS(oprt_create_reduce_sum_descriptor(&desc, OPRT_BACKEND_CPU, &out_view, &in_view, NULL, 0, 0), OPRT_OK);
  CHECK_STATUS(oprt_get_reduce_sum_workspace_size(desc, &size), OPRT_OK);
  void* workspace = allocate(size);
  CHECK_STATUS(oprt_execute_reduce_sum(desc, workspace, size, &out, kIn, NULL), OPRT_OK);
  CHECK(out == 21);
  free(workspace);
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
}

static void softmax_rows_sum_to_one(void) {
  const oprt_tensor_view_t view = matrix();
  oprt_descriptor_t* desc = NULL;
  float out[kRows * kCols] = {0};
  size_t size = 99;
  CHECK_STATUS(oprt_check_softmax_support(OPRT_BACKEND_CPU, &view, &view, 1), OPRT_OK);
  CHECK_STATUS(oprt_create_softmax_descriptor(&desc, OPRT_BACKEND_CPU, &view, &view, 1), OPRT_OK);
  CHECK_STATUS(oprt_get_softmax_workspace_size(desc, &size), OPRT_OK);
  CHECK(size == 0);
  CHECK_STATUS(oprt_execute_softmax(desc, NULL, 0, out, kIn, NULL), OPRT_OK);
  for (int row = 0; row < kRows; ++row) {
    /* exp(-2), exp(-1), 1 over their sum */
    CHECK(out[row * kCols] > 0.0900305f && out[row * kCols] < 0.0900307f);
    CHECK(out[row * kCols + 1] > 0.2447284f && out[row * kCols + 1] < 0.2447286f);
    CHECK(out[row * kCols + 2] > 0.6652408f && out[row * kCols + 2] < 0.6652411f);
  }
  CHECK_STATUS(oprt_destroy_softmax_descriptor(desc), OPRT_OK);
}

static void destroying_null_is_ok(void) {
  CHECK_STATUS(oprt_destroy_copy_descriptor(NULL), OPRT_OK);
  CHECK_STATUS(oprt_destroy_vector_add_descriptor(NULL), OPRT_OK);
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(NULL), OPRT_OK);
  CHECK_STATUS(oprt_destroy_softmax_descriptor(NULL), OPRT_OK);
  CHECK(strcmp(oprt_descriptor_implementation(NULL), "") == 0);
  CHECK(oprt_descriptor_backend(NULL) == OPRT_BACKEND_AUTO);
}

static void a_failed_create_leaves_null(void) {
  static char byte;
  oprt_descriptor_t* const stale = (oprt_descriptor_t*)&byte;
  const oprt_tensor_view_t view = matrix();
  const oprt_tensor_view_t other = contiguous(OPRT_DTYPE_FLOAT32, 1, DIMS(5));
  oprt_descriptor_t* desc = stale;
  CHECK_ERROR(oprt_create_copy_descriptor(&desc, OPRT_BACKEND_CPU, &view, &other), OPRT_ERR_INVALID_ARGUMENT, "out",
              "copy: out has shape (2, 3), expected (5,), the shape of in");
  CHECK(desc == NULL);
  desc = stale;
  CHECK_ERROR(oprt_create_vector_add_descriptor(&desc, OPRT_BACKEND_CPU, &view, &view, &other), OPRT_ERR_INVALID_ARGUMENT, "b",
              "vector_add: a has shape (2, 3) and b has shape (5,), which do not broadcast");
  CHECK(desc == NULL);
  desc = stale;
  CHECK_ERROR(oprt_create_reduce_sum_descriptor(&desc, OPRT_BACKEND_CPU, &view, &other, NULL, 0, 0), OPRT_ERR_INVALID_ARGUMENT,
              "out", "reduce_sum: out has shape (2, 3), expected ()");
  CHECK(desc == NULL);
  desc = stale;
  CHECK_ERROR(oprt_create_softmax_descriptor(&desc, OPRT_BACKEND_CPU, &view, &view, 2), OPRT_ERR_INVALID_ARGUMENT, "dim",
              "softmax: dim is 2, expected -2..1 for a 2-D input");
  CHECK(desc == NULL);
}

static void a_descriptor_of_another_operator_is_refused_and_stays_alive(void) {
  const oprt_tensor_view_t view = matrix();
  oprt_descriptor_t* desc = NULL;
  float out[kRows * kCols] = {0};
  size_t size = 99;
  CHECK_STATUS(oprt_create_softmax_descriptor(&desc, OPRT_BACKEND_CPU, &view, &view, 1), OPRT_OK);
  CHECK_ERROR(oprt_get_copy_workspace_size(desc, &size), OPRT_ERR_INVALID_ARGUMENT, "desc",
              "copy: desc is a descriptor of softmax");
  CHECK_ERROR(oprt_execute_copy(desc, NULL, 0, out, kIn, NULL), OPRT_ERR_INVALID_ARGUMENT, "desc", "descriptor of softmax");
  CHECK_ERROR(oprt_destroy_reduce_sum_descriptor(desc), OPRT_ERR_INVALID_ARGUMENT, "desc",
              "reduce_sum: desc is a descriptor of softmax");
  CHECK(size == 99 && out[0] == 0);
  CHECK_STATUS(oprt_execute_softmax(desc, NULL, 0, out, kIn, NULL), OPRT_OK);
  CHECK_STATUS(oprt_destroy_softmax_descriptor(desc), OPRT_OK);
}

static void destroying_one_descriptor_leaves_its_twin_usable(void) {
  const oprt_tensor_view_t view = matrix();
  oprt_descriptor_t* first = NULL;
  oprt_descriptor_t* second = NULL;
  float out[kRows * kCols] = {0};
  CHECK_STATUS(oprt_create_copy_descriptor(&first, OPRT_BACKEND_CPU, &view, &view), OPRT_OK);
  CHECK_STATUS(oprt_create_copy_descriptor(&second, OPRT_BACKEND_CPU, &view, &view), OPRT_OK);
  CHECK(first != second);
  CHECK_STATUS(oprt_destroy_copy_descriptor(first), OPRT_OK);
  CHECK_STATUS(oprt_execute_copy(second, NULL, 0, out, kIn, NULL), OPRT_OK);
  CHECK(same_bytes(out, kIn, sizeof out));
  CHECK_STATUS(oprt_destroy_copy_descriptor(second), OPRT_OK);
}

static void a_descriptor_keeps_nothing_of_the_views(void) {
  oprt_tensor_view_t view = matrix();
  oprt_descriptor_t* desc = NULL;
  float out[kRows * kCols] = {0};
  view.data = (void*)1; /* create does not look at data, not even at its alignment */
  CHECK_STATUS(oprt_create_copy_descriptor(&desc, OPRT_BACKEND_CPU, &view, &view), OPRT_OK);
  memset(&view, 0xff, sizeof view);
  CHECK_STATUS(oprt_execute_copy(desc, NULL, 0, out, kIn, NULL), OPRT_OK);
  CHECK(same_bytes(out, kIn, sizeof out));
  CHECK_STATUS(oprt_destroy_copy_descriptor(desc), OPRT_OK);
}

enum { kThreadRows = 64, kThreadCols = 257 };

struct thread_data {
  const oprt_descriptor_t* desc;
  const float* in;
  const float* expected;
  int num_wrong;
};

static void* execute_many_times(void* argument) {
  struct thread_data* data = argument;
  const size_t bytes = sizeof(float) * kThreadRows * kThreadCols;
  float* out = malloc(bytes);
  if (out == NULL) abort();
  for (int round = 0; round < kNumRounds; ++round) {
    memset(out, 0xff, bytes);
    if (oprt_execute_softmax(data->desc, NULL, 0, out, data->in, NULL) != OPRT_OK || !same_bytes(out, data->expected, bytes)) {
      ++data->num_wrong;
    }
  }
  free(out);
  return NULL;
}

static void many_threads_execute_one_descriptor(void) {
  static float in[kThreadRows * kThreadCols];
  static float expected[kThreadRows * kThreadCols];
  const oprt_tensor_view_t view = contiguous(OPRT_DTYPE_FLOAT32, 2, DIMS(kThreadRows, kThreadCols));
  oprt_descriptor_t* desc = NULL;
  pthread_t threads[kNumThreads];
  struct thread_data data[kNumThreads];
  for (int i = 0; i < kThreadRows * kThreadCols; ++i) in[i] = (float)(i * 37 % 101) / 10.0f;
  CHECK_STATUS(oprt_create_softmax_descriptor(&desc, OPRT_BACKEND_CPU, &view, &view, -1), OPRT_OK);
  CHECK_STATUS(oprt_execute_softmax(desc, NULL, 0, expected, in, NULL), OPRT_OK);
  for (int t = 0; t < kNumThreads; ++t) {
    data[t] = (struct thread_data){desc, in, expected, 0};
    if (pthread_create(&threads[t], NULL, execute_many_times, &data[t]) != 0) abort();
  }
  for (int t = 0; t < kNumThreads; ++t) {
    pthread_join(threads[t], NULL);
    CHECK(data[t].num_wrong == 0);
  }
  CHECK_STATUS(oprt_destroy_softmax_descriptor(desc), OPRT_OK);
}

int main(void) {
  CHECK(oprt_abi_version() == OPRT_ABI_VERSION);
  CHECK(strcmp(oprt_version(), OPRT_VERSION_STRING) == 0);
  copy_moves_every_element();
  vector_add_broadcasts();
  reduce_sum_sums_the_named_dim();
  reduce_sum_without_dims_sums_everything();
  softmax_rows_sum_to_one();
  destroying_null_is_ok();
  a_failed_create_leaves_null();
  a_descriptor_of_another_operator_is_refused_and_stays_alive();
  destroying_one_descriptor_leaves_its_twin_usable();
  a_descriptor_keeps_nothing_of_the_views();
  many_threads_execute_one_descriptor();
  return report("lifecycle");
}
