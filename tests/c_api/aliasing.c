/* What memory out and the inputs may share. A refused call writes nothing. */
#include <stdint.h>

#include "check.h"

enum { kSize = 24 };

static float buffer[kSize];

static void fill(void) {
  for (int i = 0; i < kSize; ++i) buffer[i] = (float)(i + 1);
}

static int is_untouched(void) {
  for (int i = 0; i < kSize; ++i) {
    if (buffer[i] != (float)(i + 1)) return 0;
  }
  return 1;
}

static oprt_tensor_view_t line(int64_t size, int64_t stride) { return strided(OPRT_DTYPE_FLOAT32, 1, DIMS(size), DIMS(stride)); }

static oprt_tensor_view_t plane(int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  return strided(OPRT_DTYPE_FLOAT32, 2, DIMS(rows, cols), DIMS(row_stride, col_stride));
}

/* Copies between two places of the buffer, which is filled before. */
static oprt_status_t copy(oprt_tensor_view_t out_view, int out, oprt_tensor_view_t in_view, int in) {
  oprt_descriptor_t* desc = NULL;
  fill();
  oprt_status_t status = oprt_create_copy_descriptor(&desc, OPRT_BACKEND_CPU, &out_view, &in_view);
  if (status == OPRT_OK) status = oprt_execute_copy(desc, NULL, 0, buffer + out, buffer + in, NULL);
  CHECK_STATUS(oprt_destroy_copy_descriptor(desc), OPRT_OK);
  return status;
}

static oprt_status_t add(oprt_tensor_view_t out_view, int out, oprt_tensor_view_t a_view, int a, oprt_tensor_view_t b_view, int b) {
  oprt_descriptor_t* desc = NULL;
  fill();
  oprt_status_t status = oprt_create_vector_add_descriptor(&desc, OPRT_BACKEND_CPU, &out_view, &a_view, &b_view);
  if (status == OPRT_OK) status = oprt_execute_vector_add(desc, NULL, 0, buffer + out, buffer + a, buffer + b, NULL);
  CHECK_STATUS(oprt_destroy_vector_add_descriptor(desc), OPRT_OK);
  return status;
}

static oprt_status_t softmax(oprt_tensor_view_t out_view, int out, oprt_tensor_view_t in_view, int in) {
  oprt_descriptor_t* desc = NULL;
  fill();
  oprt_status_t status = oprt_create_softmax_descriptor(&desc, OPRT_BACKEND_CPU, &out_view, &in_view, -1);
  if (status == OPRT_OK) status = oprt_execute_softmax(desc, NULL, 0, buffer + out, buffer + in, NULL);
  CHECK_STATUS(oprt_destroy_softmax_descriptor(desc), OPRT_OK);
  return status;
}

/* Small enough for a sum without workspace to be split; 4 KB are there in any case. */
static oprt_status_t sum_last_dim(oprt_tensor_view_t out_view, void* out, oprt_tensor_view_t in_view, const void* in,
                                  int32_t keepdim) {
  static _Alignas(OPRT_WORKSPACE_ALIGNMENT) char workspace[4096];
  const int32_t last = -1;
  oprt_descriptor_t* desc = NULL;
  oprt_status_t status = oprt_create_reduce_sum_descriptor(&desc, OPRT_BACKEND_CPU, &out_view, &in_view, &last, 1, keepdim);
  if (status == OPRT_OK) status = oprt_execute_reduce_sum(desc, workspace, sizeof workspace, out, in, NULL);
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
  return status;
}

static void copying_onto_itself_is_a_no_op(void) {
  CHECK_STATUS(copy(line(8, 1), 0, line(8, 1), 0), OPRT_OK);
  CHECK(is_untouched());
  CHECK_STATUS(copy(plane(3, 4, 1, 3), 2, plane(3, 4, 1, 3), 2), OPRT_OK);
  CHECK(is_untouched());
  CHECK_STATUS(copy(line(8, -1), 7, line(8, -1), 7), OPRT_OK);
  CHECK(is_untouched());
  /* The stride of a dimension of size 1 makes no other view. */
  CHECK_STATUS(copy(plane(1, 8, 99, 1), 0, plane(1, 8, 8, 1), 0), OPRT_OK);
  CHECK(is_untouched());
}

static void vector_add_takes_out_as_either_input_or_both(void) {
  CHECK_STATUS(add(line(8, 1), 0, line(8, 1), 0, line(8, 1), 8), OPRT_OK);
  for (int i = 0; i < 8; ++i) CHECK(buffer[i] == (float)(i + 1 + i + 9));
  CHECK_STATUS(add(line(8, 1), 8, line(8, 1), 0, line(8, 1), 8), OPRT_OK);
  for (int i = 0; i < 8; ++i) CHECK(buffer[i + 8] == (float)(i + 1 + i + 9));
  CHECK_STATUS(add(line(8, 1), 0, line(8, 1), 0, line(8, 1), 0), OPRT_OK);
  for (int i = 0; i < 8; ++i) CHECK(buffer[i] == (float)(2 * (i + 1)));
}

static void vector_add_refuses_a_broadcast_input_inside_out(void) {
  CHECK_ERROR(add(plane(2, 4, 4, 1), 0, plane(2, 4, 4, 1), 0, line(4, 1), 0), OPRT_ERR_INVALID_ARGUMENT, "out",
              "vector_add: out overlaps b");
  CHECK(is_untouched());
}

static void softmax_works_in_place(void) {
  float expected[8];
  CHECK_STATUS(softmax(plane(2, 4, 4, 1), 12, plane(2, 4, 4, 1), 0), OPRT_OK);
  memcpy(expected, buffer + 12, sizeof expected);
  CHECK(expected[3] > 0.643f && expected[3] < 0.645f);
  CHECK_STATUS(softmax(plane(2, 4, 4, 1), 0, plane(2, 4, 4, 1), 0), OPRT_OK);
  CHECK(same_bytes(expected, buffer, sizeof expected));
}

static void reduce_sum_shares_no_byte_with_its_input(void) {
  fill();
  CHECK_ERROR(sum_last_dim(line(2, 1), buffer, plane(2, 4, 4, 1), buffer, 0), OPRT_ERR_INVALID_ARGUMENT, "out",
              "reduce_sum: out overlaps in");
  CHECK(is_untouched());
  CHECK_ERROR(sum_last_dim(plane(4, 1, 1, 1), buffer, plane(4, 1, 1, 1), buffer, 1), OPRT_ERR_INVALID_ARGUMENT, "out",
              "reduce_sum: out is in, expected memory of its own");
  CHECK(is_untouched());
  /* Columns 0..2 are summed into column 3. */
  CHECK_STATUS(sum_last_dim(line(2, 4), buffer + 3, plane(2, 3, 4, 1), buffer, 0), OPRT_OK);
  CHECK(buffer[3] == 1 + 2 + 3 && buffer[7] == 5 + 6 + 7);
}

static void bytes_count_where_dtypes_differ(void) {
  static int64_t words[4];
  int8_t* bytes = (int8_t*)words;
  const oprt_tensor_view_t out = strided(OPRT_DTYPE_INT64, 1, DIMS(2), DIMS(2));
  const oprt_tensor_view_t in = strided(OPRT_DTYPE_INT8, 2, DIMS(2, 2), DIMS(16, 1));
  for (int i = 0; i < 32; ++i) bytes[i] = 1;
  CHECK_ERROR(sum_last_dim(out, words, in, bytes + 7, 0), OPRT_ERR_INVALID_ARGUMENT, "out", "overlaps in");
  CHECK_STATUS(sum_last_dim(out, words, in, bytes + 8, 0), OPRT_OK);
  CHECK(words[0] == 2 && words[2] == 2);
}

static void interleaved_views_are_allowed(void) {
  CHECK_STATUS(copy(line(8, 2), 0, line(8, 2), 1), OPRT_OK);
  for (int i = 0; i < 8; ++i) CHECK(buffer[2 * i] == (float)(2 * i + 2));
  CHECK_STATUS(copy(plane(4, 3, 6, 1), 0, plane(4, 3, 6, 1), 3), OPRT_OK);
  for (int row = 0; row < 4; ++row) CHECK(buffer[row * 6] == (float)(row * 6 + 4) && buffer[row * 6 + 2] == (float)(row * 6 + 6));
  CHECK_STATUS(copy(line(5, 2), 0, line(5, 4), 1), OPRT_OK);
  CHECK(buffer[8] == 18);
  CHECK_STATUS(softmax(plane(4, 3, 6, 1), 0, plane(4, 3, 6, 1), 3), OPRT_OK);
  CHECK_STATUS(add(line(8, 3), 0, line(8, 3), 1, line(8, 3), 2), OPRT_OK);
  CHECK(buffer[21] == 23 + 24);
}

static void partial_overlap_is_refused(void) {
  CHECK_ERROR(copy(line(8, 1), 0, line(8, 1), 1), OPRT_ERR_INVALID_ARGUMENT, "out", "copy: out overlaps in");
  CHECK(is_untouched());
  CHECK_ERROR(copy(line(8, 1), 1, line(8, 1), 0), OPRT_ERR_INVALID_ARGUMENT, "out", "copy: out overlaps in");
  CHECK_ERROR(copy(line(8, 1), 0, line(8, -1), 7), OPRT_ERR_INVALID_ARGUMENT, "out", "copy: out overlaps in");
  CHECK_ERROR(copy(plane(3, 3, 3, 1), 0, plane(3, 3, 1, 3), 0), OPRT_ERR_INVALID_ARGUMENT, "out", "copy: out overlaps in");
  CHECK_ERROR(copy(line(5, 2), 0, line(5, 3), 1), OPRT_ERR_INVALID_ARGUMENT, "out", "copy: out overlaps in");
  CHECK_ERROR(copy(line(8, 1), 0, line(8, 1), 7), OPRT_ERR_INVALID_ARGUMENT, "out", "copy: out overlaps in");
  CHECK_ERROR(softmax(line(8, 1), 0, line(8, 1), 1), OPRT_ERR_INVALID_ARGUMENT, "out", "softmax: out overlaps in");
  CHECK_ERROR(add(line(8, 1), 0, line(8, 1), 16, line(8, 1), 4), OPRT_ERR_INVALID_ARGUMENT, "out", "vector_add: out overlaps b");
  CHECK(is_untouched());
  CHECK_STATUS(copy(line(8, 1), 0, line(8, 1), 8), OPRT_OK);
}

static void an_out_that_writes_an_address_twice_is_refused(void) {
  const oprt_tensor_view_t in = plane(3, 3, 3, 1);
  const oprt_tensor_view_t small = plane(2, 2, 2, 1);
  oprt_tensor_view_t out = plane(3, 3, 0, 1);
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &out, &in), OPRT_ERR_INVALID_ARGUMENT, "out",
              "copy: out has several elements at one address");
  CHECK_ERROR(oprt_check_vector_add_support(OPRT_BACKEND_CPU, &out, &in, &in), OPRT_ERR_INVALID_ARGUMENT, "out", "one address");
  CHECK_ERROR(oprt_check_softmax_support(OPRT_BACKEND_CPU, &out, &in, 0), OPRT_ERR_INVALID_ARGUMENT, "out", "one address");
  out = plane(3, 3, 1, 1);
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &out, &in), OPRT_ERR_INVALID_ARGUMENT, "out",
              "copy: out has several elements at one address");
  out = plane(3, 3, 2, 1);
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &out, &in), OPRT_ERR_INVALID_ARGUMENT, "out",
              "copy: out has several elements at one address");
  out = plane(3, 3, -1, 1);
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &out, &in), OPRT_ERR_INVALID_ARGUMENT, "out",
              "copy: out has several elements at one address");
  out = plane(2, 2, 3, 2); /* 0, 2, 3, 5 */
  CHECK_STATUS(oprt_check_copy_support(OPRT_BACKEND_CPU, &out, &small), OPRT_OK);
  out = line(0, 0);
  CHECK_STATUS(oprt_check_copy_support(OPRT_BACKEND_CPU, &out, &out), OPRT_OK);
  out = line(1, 0);
  CHECK_STATUS(oprt_check_copy_support(OPRT_BACKEND_CPU, &out, &out), OPRT_OK);
}

static void inputs_may_overlap_each_other(void) {
  CHECK_STATUS(add(line(7, 1), 12, line(7, 1), 0, line(7, 1), 1), OPRT_OK);
  for (int i = 0; i < 7; ++i) CHECK(buffer[i + 12] == (float)(i + 1 + i + 2));
  CHECK_STATUS(add(line(7, 1), 12, line(7, 1), 0, line(7, 1), 0), OPRT_OK);
  for (int i = 0; i < 7; ++i) CHECK(buffer[i + 12] == (float)(2 * (i + 1)));
}

int main(void) {
  copying_onto_itself_is_a_no_op();
  vector_add_takes_out_as_either_input_or_both();
  vector_add_refuses_a_broadcast_input_inside_out();
  softmax_works_in_place();
  reduce_sum_shares_no_byte_with_its_input();
  bytes_count_where_dtypes_differ();
  interleaved_views_are_allowed();
  partial_overlap_is_refused();
  an_out_that_writes_an_address_twice_is_refused();
  inputs_may_overlap_each_other();
  return report("aliasing");
}
