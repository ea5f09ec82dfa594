/* Strides, sizes and addresses at their limits. */
#include <math.h>
#include <stdint.h>

#include "check.h"

static oprt_status_t copy(const oprt_tensor_view_t* out_view, void* out, const oprt_tensor_view_t* in_view, const void* in) {
  oprt_descriptor_t* desc = NULL;
  oprt_status_t status = oprt_create_copy_descriptor(&desc, OPRT_BACKEND_CPU, out_view, in_view);
  if (status == OPRT_OK) status = oprt_execute_copy(desc, NULL, 0, out, in, NULL);
  CHECK_STATUS(oprt_destroy_copy_descriptor(desc), OPRT_OK);
  return status;
}

static oprt_status_t softmax(const oprt_tensor_view_t* out_view, void* out, const oprt_tensor_view_t* in_view, const void* in,
                             int32_t dim) {
  oprt_descriptor_t* desc = NULL;
  oprt_status_t status = oprt_create_softmax_descriptor(&desc, OPRT_BACKEND_CPU, out_view, in_view, dim);
  if (status == OPRT_OK) status = oprt_execute_softmax(desc, NULL, 0, out, in, NULL);
  CHECK_STATUS(oprt_destroy_softmax_descriptor(desc), OPRT_OK);
  return status;
}

static oprt_status_t add(const oprt_tensor_view_t* out_view, void* out, const oprt_tensor_view_t* a_view, const void* a,
                         const oprt_tensor_view_t* b_view, const void* b) {
  oprt_descriptor_t* desc = NULL;
  oprt_status_t status = oprt_create_vector_add_descriptor(&desc, OPRT_BACKEND_CPU, out_view, a_view, b_view);
  if (status == OPRT_OK) status = oprt_execute_vector_add(desc, NULL, 0, out, a, b, NULL);
  CHECK_STATUS(oprt_destroy_vector_add_descriptor(desc), OPRT_OK);
  return status;
}

static oprt_status_t sum(const oprt_tensor_view_t* out_view, void* out, const oprt_tensor_view_t* in_view, const void* in,
                         const int32_t* dims, int32_t num_dims) {
  static _Alignas(OPRT_WORKSPACE_ALIGNMENT) char workspace[4096];
  oprt_descriptor_t* desc = NULL;
  oprt_status_t status = oprt_create_reduce_sum_descriptor(&desc, OPRT_BACKEND_CPU, out_view, in_view, dims, num_dims, 0);
  if (status == OPRT_OK) status = oprt_execute_reduce_sum(desc, workspace, sizeof workspace, out, in, NULL);
  CHECK_STATUS(oprt_destroy_reduce_sum_descriptor(desc), OPRT_OK);
  return status;
}

/* All sizes 2: element i of the row-major walk lies at the address whose bits are i's, reversed, in the turned view. */
static void eight_dimensions_in_any_order(void) {
  static float in[256], out[256], added[256];
  const oprt_tensor_view_t plain = contiguous(OPRT_DTYPE_FLOAT32, 8, DIMS(2, 2, 2, 2, 2, 2, 2, 2));
  const oprt_tensor_view_t turned = strided(OPRT_DTYPE_FLOAT32, 8, DIMS(2, 2, 2, 2, 2, 2, 2, 2), DIMS(1, 2, 4, 8, 16, 32, 64, 128));
  const oprt_tensor_view_t kept = contiguous(OPRT_DTYPE_FLOAT32, 4, DIMS(2, 2, 2, 2));
  const int32_t even_dims[] = {0, 2, 4, 6};
  for (int i = 0; i < 256; ++i) in[i] = (float)i;
  CHECK_STATUS(copy(&turned, out, &plain, in), OPRT_OK);
  CHECK_STATUS(add(&plain, added, &plain, in, &turned, in), OPRT_OK);
  for (int i = 0; i < 256; ++i) {
    int reversed = 0;
    for (int bit = 0; bit < 8; ++bit) reversed |= ((i >> bit) & 1) << (7 - bit);
    CHECK(out[reversed] == (float)i);
    CHECK(added[i] == (float)(i + reversed));
  }
  /* Dims 1, 3, 5, 7 hold address bits 6, 4, 2, 0; the sum over the others counts each of their bits 8 times. */
  CHECK_STATUS(sum(&kept, out, &plain, in, even_dims, 4), OPRT_OK);
  for (int i = 0; i < 16; ++i) {
    const int base = ((i & 8) << 3) | ((i & 4) << 2) | ((i & 2) << 1) | (i & 1);
    CHECK(out[i] == (float)(16 * base + 8 * (128 + 32 + 8 + 2)));
  }
  memset(in, 0, sizeof in);
  for (int32_t dim = -8; dim < 8; ++dim) {
    CHECK_STATUS(softmax(&turned, out, &plain, in, dim), OPRT_OK);
    for (int i = 0; i < 256; ++i) CHECK(out[i] == 0.5f);
  }
}

static void negative_strides_walk_backwards(void) {
  const int16_t in[6] = {1, 2, 3, 4, 5, 6};
  int16_t out[6] = {0};
  const float values[3] = {0.0f, 1.0f, 2.0f};
  float plain[3], reversed[3], total = 0;
  const oprt_tensor_view_t forwards = strided(OPRT_DTYPE_INT16, 1, DIMS(6), DIMS(1));
  const oprt_tensor_view_t backwards = strided(OPRT_DTYPE_INT16, 1, DIMS(6), DIMS(-1));
  const oprt_tensor_view_t row = strided(OPRT_DTYPE_FLOAT32, 1, DIMS(3), DIMS(1));
  const oprt_tensor_view_t row_backwards = strided(OPRT_DTYPE_FLOAT32, 1, DIMS(3), DIMS(-1));
  const oprt_tensor_view_t scalar = contiguous(OPRT_DTYPE_FLOAT32, 0, NULL);
  CHECK_STATUS(copy(&forwards, out, &backwards, in + 5), OPRT_OK);
  for (int i = 0; i < 6; ++i) CHECK(out[i] == 6 - i);
  CHECK_STATUS(copy(&backwards, out + 5, &backwards, in + 5), OPRT_OK);
  CHECK(same_bytes(out, in, sizeof out));
  CHECK_STATUS(softmax(&row, plain, &row, values, 0), OPRT_OK);
  CHECK_STATUS(softmax(&row_backwards, reversed + 2, &row, values, 0), OPRT_OK);
  for (int i = 0; i < 3; ++i) CHECK(plain[i] == reversed[2 - i]);
  CHECK_STATUS(sum(&scalar, &total, &row_backwards, values + 2, NULL, 0), OPRT_OK);
  CHECK(total == 3);
}

static void zero_strides_repeat_an_input(void) {
  const int32_t one[3] = {1, 2, 3};
  int32_t out[6] = {0};
  int64_t total = 0;
  const oprt_tensor_view_t out_view = contiguous(OPRT_DTYPE_INT32, 2, DIMS(2, 3));
  const oprt_tensor_view_t rows = strided(OPRT_DTYPE_INT32, 2, DIMS(2, 3), DIMS(0, 1));
  const oprt_tensor_view_t constant = strided(OPRT_DTYPE_INT32, 2, DIMS(2, 3), DIMS(0, 0));
  const oprt_tensor_view_t long_constant = strided(OPRT_DTYPE_INT32, 1, DIMS(100000), DIMS(0));
  const oprt_tensor_view_t scalar = contiguous(OPRT_DTYPE_INT64, 0, NULL);
  const int32_t expected[6] = {4, 5, 6, 4, 5, 6};
  CHECK_STATUS(add(&out_view, out, &rows, one, &constant, one + 2), OPRT_OK);
  CHECK(same_bytes(out, expected, sizeof out));
  CHECK_STATUS(sum(&scalar, &total, &long_constant, one + 2, NULL, 0), OPRT_OK);
  CHECK(total == 300000);
}

static void strides_of_size_one_dims_are_ignored(void) {
  const float in[3] = {1, 2, 3};
  float out[3] = {0};
  const oprt_tensor_view_t odd = strided(OPRT_DTYPE_FLOAT32, 3, DIMS(1, 3, 1), DIMS(INT64_MAX, 1, INT64_MIN));
  CHECK_STATUS(copy(&odd, out, &odd, in), OPRT_OK);
  CHECK(same_bytes(out, in, sizeof out));
  CHECK_STATUS(softmax(&odd, out, &odd, in, 0), OPRT_OK);
  for (int i = 0; i < 3; ++i) CHECK(out[i] == 1);
}

static void without_elements_data_may_be_null(void) {
  const oprt_tensor_view_t empty = contiguous(OPRT_DTYPE_FLOAT32, 2, DIMS(0, 3));
  const oprt_tensor_view_t three = contiguous(OPRT_DTYPE_FLOAT32, 1, DIMS(3));
  const oprt_tensor_view_t none = contiguous(OPRT_DTYPE_FLOAT32, 1, DIMS(0));
  const oprt_tensor_view_t scalar = contiguous(OPRT_DTYPE_FLOAT32, 0, NULL);
  const int32_t first = 0, last = 1;
  float out[3] = {7, 7, 7};
  CHECK_STATUS(copy(&empty, NULL, &empty, NULL), OPRT_OK);
  CHECK_ERROR(add(&empty, NULL, &empty, NULL, &three, NULL), OPRT_ERR_INVALID_ARGUMENT, "b",
              "vector_add: b is NULL, expected a pointer to element 0");
  CHECK_STATUS(add(&empty, NULL, &empty, NULL, &three, out), OPRT_OK);
  CHECK_STATUS(softmax(&empty, NULL, &empty, NULL, 0), OPRT_OK);
  CHECK_STATUS(softmax(&empty, NULL, &empty, NULL, 1), OPRT_OK);
  CHECK_STATUS(sum(&none, NULL, &empty, NULL, &last, 1), OPRT_OK);
  CHECK(out[0] == 7);
  CHECK_STATUS(sum(&three, out, &empty, NULL, &first, 1), OPRT_OK);
  for (int i = 0; i < 3; ++i) CHECK(out[i] == 0 && !signbit(out[i]));
  out[0] = 7;
  CHECK_STATUS(sum(&scalar, out, &empty, NULL, NULL, 0), OPRT_OK);
  /* The sizes of the reduced dims multiply past int64, which is nothing to an empty tensor. */
  const oprt_tensor_view_t vast = contiguous(OPRT_DTYPE_FLOAT32, 3, DIMS(8, ((int64_t)1 << 61) - 1, 0));
  const int32_t first_two[] = {0, 1};
  CHECK_STATUS(sum(&none, NULL, &vast, NULL, first_two, 2), OPRT_OK);
  CHECK(out[0] == 0 && !signbit(out[0]));
}

/* The view is refused before its shape is compared with out's: the error blames it. */
static void spans_past_int64_are_refused(void) {
  const oprt_tensor_view_t good = contiguous(OPRT_DTYPE_FLOAT32, 1, DIMS(2));
  oprt_tensor_view_t bad = strided(OPRT_DTYPE_FLOAT32, 1, DIMS(2), DIMS(INT64_MAX / 2));
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &good, &bad), OPRT_ERR_INVALID_ARGUMENT, "in",
              "which reach further than 2^63 - 1 bytes");
  bad.strides[0] = INT64_MIN;
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &good, &bad), OPRT_ERR_INVALID_ARGUMENT, "in",
              "which reach further than 2^63 - 1 bytes");
  bad.strides[0] = INT64_MAX / 8;
  CHECK_STATUS(oprt_check_copy_support(OPRT_BACKEND_CPU, &good, &bad), OPRT_OK);
  bad = strided(OPRT_DTYPE_FLOAT32, 2, DIMS(2, 2), DIMS(INT64_MAX / 8, INT64_MAX / 4));
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &good, &bad), OPRT_ERR_INVALID_ARGUMENT, "in",
              "which reach further than 2^63 - 1 bytes");
  /* More elements than int64 counts, at one address. */
  bad = strided(OPRT_DTYPE_INT8, 3, DIMS(INT64_MAX, INT64_MAX, 4), DIMS(0, 0, 0));
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &good, &bad), OPRT_ERR_INVALID_ARGUMENT, "in",
              "which is more than 2^63 - 1 bytes");
}

static void misaligned_pointers_are_refused(void) {
  static _Alignas(16) char in[64], out[64];
  const oprt_dtype_t dtypes[] = {OPRT_DTYPE_INT16, OPRT_DTYPE_BFLOAT16, OPRT_DTYPE_FLOAT32, OPRT_DTYPE_FLOAT64, OPRT_DTYPE_UINT64};
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; ++i) {
    const oprt_tensor_view_t view = contiguous(dtypes[i], 1, DIMS(2));
    const size_t size = oprt_dtype_size(dtypes[i]);
    CHECK_ERROR(copy(&view, out + 1, &view, in), OPRT_ERR_INVALID_ARGUMENT, "out", "aligned to");
    CHECK_ERROR(copy(&view, out, &view, in + size / 2), OPRT_ERR_INVALID_ARGUMENT, "in", "aligned to");
    CHECK_STATUS(copy(&view, out + size, &view, in + 3 * size), OPRT_OK);
  }
  const oprt_tensor_view_t bytes = contiguous(OPRT_DTYPE_UINT8, 1, DIMS(20));
  for (int i = 0; i < 64; ++i) in[i] = (char)i;
  for (int shift = 0; shift < 16; ++shift) {
    CHECK_STATUS(copy(&bytes, out + 15 - shift, &bytes, in + shift), OPRT_OK);
    CHECK(same_bytes(out + 15 - shift, in + shift, 20));
  }
}

int main(void) {
  eight_dimensions_in_any_order();
  negative_strides_walk_backwards();
  zero_strides_repeat_an_input();
  strides_of_size_one_dims_are_ignored();
  without_elements_data_may_be_null();
  spans_past_int64_are_refused();
  misaligned_pointers_are_refused();
  return report("layouts");
}
