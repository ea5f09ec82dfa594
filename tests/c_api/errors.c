/* Every kind of failure that a caller can cause on any machine: status, text and argument. */
#include <pthread.h>
#include <stdint.h>

#include "check.h"

static oprt_tensor_view_t matrix(oprt_dtype_t dtype) { return contiguous(dtype, 2, DIMS(2, 3)); }

static void names_cover_every_enumerator(void) {
  const char* const statuses[] = {"OPRT_OK",
                                  "OPRT_ERR_INVALID_ARGUMENT",
                                  "OPRT_ERR_UNSUPPORTED",
                                  "OPRT_ERR_INSUFFICIENT_WORKSPACE",
                                  "OPRT_ERR_BACKEND_UNAVAILABLE",
                                  "OPRT_ERR_OUT_OF_MEMORY",
                                  "OPRT_ERR_DEVICE_ERROR",
                                  "OPRT_ERR_INTERNAL"};
  const char* const backends[] = {"auto", "cpu", "nvidia", "metax"};
  const char* const dtypes[] = {"bool",   "int8",    "int16",    "int32",   "int64",   "uint8",     "uint16",    "uint32",
                                "uint64", "float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128"};
  const size_t sizes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 4, 8, 16};
  for (int32_t i = 0; i < 8; ++i) CHECK(strcmp(oprt_status_name(i), statuses[i]) == 0);
  for (int32_t i = 0; i < 4; ++i) CHECK(strcmp(oprt_backend_name(i), backends[i]) == 0);
  for (int32_t i = 0; i < 16; ++i) {
    CHECK(strcmp(oprt_dtype_name(i), dtypes[i]) == 0);
    CHECK(oprt_dtype_size(i) == sizes[i]);
  }
}

static void unknown_codes_have_names_too(void) {
  const int32_t codes[] = {-1, 16, 99, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; ++i) {
    CHECK(strcmp(oprt_status_name(codes[i]), "OPRT_ERR_UNKNOWN") == 0);
    CHECK(strcmp(oprt_backend_name(codes[i]), "unknown") == 0);
    CHECK(strcmp(oprt_dtype_name(codes[i]), "unknown") == 0);
    CHECK(oprt_dtype_size(codes[i]) == 0);
  }
}

static void malformed_views_are_invalid(void) {
  const oprt_tensor_view_t good = matrix(OPRT_DTYPE_FLOAT32);
  oprt_tensor_view_t bad = good;
  oprt_descriptor_t* desc = NULL;
  CHECK_ERROR(oprt_create_copy_descriptor(NULL, OPRT_BACKEND_CPU, &good, &good), OPRT_ERR_INVALID_ARGUMENT, "desc",
              "copy: desc is NULL");
  CHECK_ERROR(oprt_create_copy_descriptor(&desc, OPRT_BACKEND_CPU, NULL, &good), OPRT_ERR_INVALID_ARGUMENT, "out", "out is NULL");
  CHECK_ERROR(oprt_create_softmax_descriptor(&desc, OPRT_BACKEND_CPU, &good, NULL, 0), OPRT_ERR_INVALID_ARGUMENT, "in",
              "in is NULL");
  CHECK_ERROR(oprt_create_vector_add_descriptor(&desc, OPRT_BACKEND_CPU, &good, &good, NULL), OPRT_ERR_INVALID_ARGUMENT, "b",
              "b is NULL");
  bad.ndim = 9;
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &good, &bad), OPRT_ERR_INVALID_ARGUMENT, "in",
              "copy: in has 9 dimensions, expected 0..8");
  bad.ndim = -1;
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &good, &bad), OPRT_ERR_INVALID_ARGUMENT, "in",
              "copy: in has -1 dimensions, expected 0..8");
  bad = good;
  bad.shape[1] = -3;
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &bad, &bad), OPRT_ERR_INVALID_ARGUMENT, "out",
              "copy: out has size -3 in dim 1, expected 0 or more");
  bad = good;
  bad.dtype = 16;
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &good, &bad), OPRT_ERR_INVALID_ARGUMENT, "in",
              "copy: in has dtype 16, expected one of OPRT_DTYPE_* (0..15)");
  bad.dtype = -1;
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &good, &bad), OPRT_ERR_INVALID_ARGUMENT, "in",
              "copy: in has dtype -1, expected one of OPRT_DTYPE_* (0..15)");
  bad = good;
  bad.device.type = 7;
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &good, &bad), OPRT_ERR_UNSUPPORTED, "in",
              "copy: in is on a device of type 7");
  bad = good;
  bad.device.id = 3;
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &bad, &bad), OPRT_ERR_INVALID_ARGUMENT, "out",
              "copy: out is on cpu device 3, expected 0");
}

static void shapes_that_do_not_fit_are_invalid(void) {
  const oprt_tensor_view_t in = matrix(OPRT_DTYPE_FLOAT32);
  const oprt_tensor_view_t turned = contiguous(OPRT_DTYPE_FLOAT32, 2, DIMS(3, 2));
  const oprt_tensor_view_t row = contiguous(OPRT_DTYPE_FLOAT32, 1, DIMS(3));
  const int32_t last = 1;
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &turned, &in), OPRT_ERR_INVALID_ARGUMENT, "out",
              "copy: out has shape (3, 2), expected (2, 3)");
  CHECK_ERROR(oprt_check_softmax_support(OPRT_BACKEND_CPU, &row, &in, 0), OPRT_ERR_INVALID_ARGUMENT, "out",
              "softmax: out has shape (3,), expected (2, 3)");
  CHECK_ERROR(oprt_check_vector_add_support(OPRT_BACKEND_CPU, &in, &in, &turned), OPRT_ERR_INVALID_ARGUMENT, "b",
              "vector_add: a has shape (2, 3) and b has shape (3, 2)");
  CHECK_ERROR(oprt_check_vector_add_support(OPRT_BACKEND_CPU, &row, &in, &row), OPRT_ERR_INVALID_ARGUMENT, "out",
              "vector_add: out has shape (3,), expected (2, 3)");
  CHECK_ERROR(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &row, &in, &last, 1, 0), OPRT_ERR_INVALID_ARGUMENT, "out",
              "reduce_sum: out has shape (3,), expected (2,)");
  CHECK_ERROR(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &row, &in, &last, 1, 1), OPRT_ERR_INVALID_ARGUMENT, "out",
              "reduce_sum: out has shape (3,), expected (2, 1)");
}

static void dims_out_of_range_are_invalid(void) {
  const oprt_tensor_view_t in = matrix(OPRT_DTYPE_FLOAT32);
  const oprt_tensor_view_t scalar = contiguous(OPRT_DTYPE_FLOAT32, 0, NULL);
  const int32_t too_large[] = {0, 2};
  const int32_t twice[] = {0, -2};
  CHECK_ERROR(oprt_check_softmax_support(OPRT_BACKEND_CPU, &in, &in, 3), OPRT_ERR_INVALID_ARGUMENT, "dim",
              "softmax: dim is 3, expected -2..1 for a 2-D input");
  CHECK_ERROR(oprt_check_softmax_support(OPRT_BACKEND_CPU, &in, &in, -3), OPRT_ERR_INVALID_ARGUMENT, "dim", "dim is -3");
  CHECK_ERROR(oprt_check_softmax_support(OPRT_BACKEND_CPU, &scalar, &scalar, 1), OPRT_ERR_INVALID_ARGUMENT, "dim",
              "dim is 1, expected -1..0");
  CHECK_STATUS(oprt_check_softmax_support(OPRT_BACKEND_CPU, &scalar, &scalar, 0), OPRT_OK);
  CHECK_STATUS(oprt_check_softmax_support(OPRT_BACKEND_CPU, &scalar, &scalar, -1), OPRT_OK);
  CHECK_ERROR(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &scalar, &in, too_large, 2, 0), OPRT_ERR_INVALID_ARGUMENT, "dims",
              "reduce_sum: dim is 2, expected -2..1 for a 2-D input");
  CHECK_ERROR(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &scalar, &in, twice, 2, 0), OPRT_ERR_INVALID_ARGUMENT, "dims",
              "dim -2 appears twice");
  CHECK_ERROR(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &scalar, &in, twice, -1, 0), OPRT_ERR_INVALID_ARGUMENT, "dims",
              "-1 dims are given, expected 0..8");
  CHECK_ERROR(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &scalar, &in, twice, 9, 0), OPRT_ERR_INVALID_ARGUMENT, "dims",
              "9 dims are given, expected 0..8");
  CHECK_ERROR(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &scalar, &in, NULL, 2, 0), OPRT_ERR_INVALID_ARGUMENT, "dims",
              "dims is NULL");
}

static void dtypes_that_no_operator_takes_are_unsupported(void) {
  const oprt_tensor_view_t f32 = matrix(OPRT_DTYPE_FLOAT32);
  const oprt_tensor_view_t f64 = matrix(OPRT_DTYPE_FLOAT64);
  const oprt_tensor_view_t i32 = matrix(OPRT_DTYPE_INT32);
  const oprt_tensor_view_t b8 = matrix(OPRT_DTYPE_BOOL);
  const oprt_tensor_view_t c64 = matrix(OPRT_DTYPE_COMPLEX64);
  oprt_tensor_view_t sum = contiguous(OPRT_DTYPE_FLOAT32, 0, NULL);
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &f64, &f32), OPRT_ERR_UNSUPPORTED, "out", "copy: float32 to float64");
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &f32, &i32), OPRT_ERR_UNSUPPORTED, "out", "copy: int32 to float32");
  CHECK_ERROR(oprt_check_vector_add_support(OPRT_BACKEND_CPU, &b8, &b8, &b8), OPRT_ERR_UNSUPPORTED, "out", "bool + bool to bool");
  CHECK_ERROR(oprt_check_vector_add_support(OPRT_BACKEND_CPU, &f32, &f32, &f64), OPRT_ERR_UNSUPPORTED, "out",
              "float32 + float64 to float32");
  CHECK_ERROR(oprt_check_softmax_support(OPRT_BACKEND_CPU, &i32, &i32, 0), OPRT_ERR_UNSUPPORTED, "in", "softmax: int32 to int32");
  CHECK_ERROR(oprt_check_softmax_support(OPRT_BACKEND_CPU, &c64, &c64, 0), OPRT_ERR_UNSUPPORTED, "in", "complex64");
  CHECK_ERROR(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &sum, &i32, NULL, 0, 0), OPRT_ERR_UNSUPPORTED, "out",
              "reduce_sum: int32 to float32");
  CHECK_ERROR(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &sum, &f64, NULL, 0, 0), OPRT_ERR_UNSUPPORTED, "out",
              "reduce_sum: float64 to float32");
  sum.dtype = OPRT_DTYPE_COMPLEX64;
  CHECK_ERROR(oprt_check_reduce_sum_support(OPRT_BACKEND_CPU, &sum, &c64, NULL, 0, 0), OPRT_ERR_UNSUPPORTED, "out",
              "complex64 to complex64");
}

/* NVIDIA and MetaX exclude each other, so that one of them is missing in every build but an emulation, which holds both. */
static void a_backend_that_is_not_here_is_unavailable(void) {
  const oprt_tensor_view_t cpu = matrix(OPRT_DTYPE_FLOAT32);
  oprt_tensor_view_t gpu = cpu;
  oprt_descriptor_t* desc = NULL;
  int num_missing = 0;
  gpu.device.type = OPRT_DEVICE_CUDA;
  CHECK_STATUS(oprt_check_backend(OPRT_BACKEND_AUTO), OPRT_OK);
  CHECK_STATUS(oprt_check_backend(OPRT_BACKEND_CPU), OPRT_OK);
  for (oprt_backend_t backend = OPRT_BACKEND_NVIDIA; backend <= OPRT_BACKEND_METAX; ++backend) {
    if (oprt_check_backend(backend) == OPRT_OK) continue;
    CHECK_ERROR(oprt_check_backend(backend), OPRT_ERR_BACKEND_UNAVAILABLE, "backend", oprt_backend_name(backend));
    CHECK_ERROR(oprt_create_copy_descriptor(&desc, backend, &gpu, &gpu), OPRT_ERR_BACKEND_UNAVAILABLE, "backend",
                oprt_backend_name(backend));
    CHECK(desc == NULL);
    ++num_missing;
  }
#if defined(OPRT_EMULATION)
  CHECK(num_missing == 0);
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_AUTO, &gpu, &gpu), OPRT_ERR_INVALID_ARGUMENT, "backend",
              "backend nvidia takes cpu tensors, these are on cuda");
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_METAX, &gpu, &gpu), OPRT_ERR_INVALID_ARGUMENT, "backend",
              "backend metax takes cpu tensors, these are on cuda");
#else
  CHECK(num_missing >= 1);
#endif
  if (num_missing == 2) {
    CHECK_ERROR(oprt_create_copy_descriptor(&desc, OPRT_BACKEND_AUTO, &gpu, &gpu), OPRT_ERR_BACKEND_UNAVAILABLE, "backend",
                "copy: backend nvidia is not available");
  }
}

static void backends_and_devices_must_agree(void) {
  const oprt_tensor_view_t cpu = matrix(OPRT_DTYPE_FLOAT32);
  oprt_tensor_view_t gpu = cpu;
  gpu.device.type = OPRT_DEVICE_CUDA;
  CHECK_ERROR(oprt_check_backend(99), OPRT_ERR_INVALID_ARGUMENT, "backend", "backend is 99, expected 0 (auto)");
  CHECK_ERROR(oprt_check_backend(-1), OPRT_ERR_INVALID_ARGUMENT, "backend", "backend is -1");
  CHECK_ERROR(oprt_check_copy_support(4, &cpu, &cpu), OPRT_ERR_INVALID_ARGUMENT, "backend", "copy: backend is 4");
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_CPU, &gpu, &gpu), OPRT_ERR_INVALID_ARGUMENT, "backend",
              "backend cpu takes cpu tensors");
  CHECK_ERROR(oprt_check_copy_support(OPRT_BACKEND_AUTO, &cpu, &gpu), OPRT_ERR_INVALID_ARGUMENT, "in",
              "in is on device (2, 0), out is on (1, 0)");
}

static void execute_checks_its_arguments(void) {
  const oprt_tensor_view_t view = matrix(OPRT_DTYPE_FLOAT32);
  const float in[6] = {1, 2, 3, 4, 5, 6};
  float out[6] = {0};
  oprt_descriptor_t* desc = NULL;
  size_t size = 0;
  CHECK_ERROR(oprt_execute_copy(NULL, NULL, 0, out, in, NULL), OPRT_ERR_INVALID_ARGUMENT, "desc", "copy: desc is NULL");
  CHECK_ERROR(oprt_get_copy_workspace_size(NULL, &size), OPRT_ERR_INVALID_ARGUMENT, "desc", "copy: desc is NULL");
  CHECK_STATUS(oprt_create_copy_descriptor(&desc, OPRT_BACKEND_CPU, &view, &view), OPRT_OK);
  CHECK_ERROR(oprt_get_copy_workspace_size(desc, NULL), OPRT_ERR_INVALID_ARGUMENT, "workspace_size", "workspace_size is NULL");
  CHECK_ERROR(oprt_execute_copy(desc, NULL, 0, NULL, in, NULL), OPRT_ERR_INVALID_ARGUMENT, "out", "copy: out is NULL");
  CHECK_ERROR(oprt_execute_copy(desc, NULL, 0, out, NULL, NULL), OPRT_ERR_INVALID_ARGUMENT, "in", "copy: in is NULL");
  CHECK_ERROR(oprt_execute_copy(desc, NULL, 0, out, in, &size), OPRT_ERR_INVALID_ARGUMENT, "stream", "expected NULL on the cpu");
  for (int i = 0; i < 6; ++i) CHECK(out[i] == 0);
  CHECK_STATUS(oprt_destroy_copy_descriptor(desc), OPRT_OK);
}

static void make_contiguous_view_checks_its_arguments(void) {
  const oprt_device_t cpu = {OPRT_DEVICE_CPU, 0};
  oprt_tensor_view_t view;
  CHECK_ERROR(oprt_make_contiguous_view(NULL, NULL, OPRT_DTYPE_INT8, cpu, 0, NULL), OPRT_ERR_INVALID_ARGUMENT, "view",
              "view is NULL");
  CHECK_ERROR(oprt_make_contiguous_view(&view, NULL, OPRT_DTYPE_INT8, cpu, -1, DIMS(1)), OPRT_ERR_INVALID_ARGUMENT, "view",
              "view has -1 dimensions, expected 0..8");
  CHECK_ERROR(oprt_make_contiguous_view(&view, NULL, OPRT_DTYPE_INT8, cpu, 9, DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1)),
              OPRT_ERR_INVALID_ARGUMENT, "view", "view has 9 dimensions, expected 0..8");
  CHECK_ERROR(oprt_make_contiguous_view(&view, NULL, OPRT_DTYPE_INT8, cpu, 1, NULL), OPRT_ERR_INVALID_ARGUMENT, "view",
              "view has no shape, expected 1 sizes");
  CHECK_ERROR(oprt_make_contiguous_view(&view, NULL, OPRT_DTYPE_INT8, cpu, 1, DIMS(-1)), OPRT_ERR_INVALID_ARGUMENT, "view",
              "view has size -1 in dim 0, expected 0 or more");
  CHECK_ERROR(oprt_make_contiguous_view(&view, NULL, 16, cpu, 1, DIMS(1)), OPRT_ERR_INVALID_ARGUMENT, "view",
              "view has dtype 16, expected one of OPRT_DTYPE_* (0..15)");
  CHECK_ERROR(oprt_make_contiguous_view(&view, NULL, OPRT_DTYPE_INT8, cpu, 2, DIMS(INT64_MAX, 2)), OPRT_ERR_INVALID_ARGUMENT,
              "view", "view has shape (9223372036854775807, 2), which is more than 2^63 - 1");
  CHECK_STATUS(oprt_make_contiguous_view(&view, &view, OPRT_DTYPE_INT8, cpu, 3, DIMS(2, 3, 4)), OPRT_OK);
  CHECK(view.data == &view && view.dtype == OPRT_DTYPE_INT8 && view.ndim == 3);
  CHECK(view.shape[0] == 2 && view.shape[1] == 3 && view.shape[2] == 4);
  CHECK(view.strides[0] == 12 && view.strides[1] == 4 && view.strides[2] == 1);
}

static void success_leaves_the_last_error_unchanged(void) {
  const oprt_tensor_view_t view = matrix(OPRT_DTYPE_FLOAT32);
  const char* text = "softmax: dim is 5, expected -2..1 for a 2-D input";
  CHECK_ERROR(oprt_check_softmax_support(OPRT_BACKEND_CPU, &view, &view, 5), OPRT_ERR_INVALID_ARGUMENT, "dim",
              "softmax: dim is 5, expected -2..1 for a 2-D input");
  CHECK(strcmp(oprt_last_error(), text) == 0);
  CHECK_STATUS(oprt_check_softmax_support(OPRT_BACKEND_CPU, &view, &view, 1), OPRT_OK);
  CHECK_STATUS(oprt_check_backend(OPRT_BACKEND_CPU), OPRT_OK);
  CHECK_STATUS(oprt_destroy_copy_descriptor(NULL), OPRT_OK);
  CHECK(strcmp(oprt_last_error(), text) == 0);
  CHECK(strcmp(oprt_last_error_argument(), "dim") == 0);
  CHECK_ERROR(oprt_check_backend(99), OPRT_ERR_INVALID_ARGUMENT, "backend",
              "backend is 99, expected 0 (auto), 1 (cpu), 2 (nvidia) or 3 (metax)");
  CHECK(strcmp(oprt_last_error_argument(), "backend") == 0);
}

static void* fail_on_another_thread(void* was_empty) {
  *(int*)was_empty = strcmp(oprt_last_error(), "") == 0 && strcmp(oprt_last_error_argument(), "") == 0;
  (void)oprt_check_backend(77);
  return NULL;
}

static void the_last_error_belongs_to_its_thread(void) {
  pthread_t thread;
  int was_empty = 0;
  CHECK_ERROR(oprt_check_backend(55), OPRT_ERR_INVALID_ARGUMENT, "backend",
              "backend is 55, expected 0 (auto), 1 (cpu), 2 (nvidia) or 3 (metax)");
  CHECK(pthread_create(&thread, NULL, fail_on_another_thread, &was_empty) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(was_empty);
  CHECK(strstr(oprt_last_error(), "backend is 55") != NULL);
}

int main(void) {
  CHECK(strcmp(oprt_last_error(), "") == 0 && strcmp(oprt_last_error_argument(), "") == 0);
  names_cover_every_enumerator();
  unknown_codes_have_names_too();
  malformed_views_are_invalid();
  shapes_that_do_not_fit_are_invalid();
  dims_out_of_range_are_invalid();
  dtypes_that_no_operator_takes_are_unsupported();
  a_backend_that_is_not_here_is_unavailable();
  backends_and_devices_must_agree();
  execute_checks_its_arguments();
  make_contiguous_view_checks_its_arguments();
  success_leaves_the_last_error_unchanged();
  the_last_error_belongs_to_its_thread();
  return report("errors");
}
