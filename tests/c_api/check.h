/* Checks for the C tests: a failed one prints where and goes on; main returns report(). */
#pragma once

#include <stdio.h>
#include <string.h>

#include "operator_runtime/operator_runtime.h"

static int num_checks = 0;
static int num_failures = 0;

#define CHECK(cond)                                              \
  do {                                                           \
    ++num_checks;                                                \
    if (!(cond)) {                                               \
      ++num_failures;                                            \
      printf("%s:%d: %s is false\n", __FILE__, __LINE__, #cond); \
    }                                                            \
  } while (0)

#define CHECK_STATUS(call, expected) check_status(__FILE__, __LINE__, #call, (call), (expected))

/* The call fails with `expected`, blames `argument`, and its text is or contains `text`. */
#define CHECK_ERROR(call, expected, argument, text)              \
  do {                                                           \
    CHECK_STATUS(call, expected);                                \
    check_text(__FILE__, __LINE__, (argument), (text), (#call)); \
  } while (0)

static inline void check_status(const char* file, int line, const char* call, oprt_status_t status, oprt_status_t expected) {
  ++num_checks;
  if (status == expected) return;
  ++num_failures;
  printf("%s:%d: %s is %s, expected %s (last error: %s)\n", file, line, call, oprt_status_name(status), oprt_status_name(expected),
         oprt_last_error());
}

static inline void check_text(const char* file, int line, const char* argument, const char* text, const char* call) {
  ++num_checks;
  if (strstr(oprt_last_error(), text) != NULL && strcmp(oprt_last_error_argument(), argument) == 0) return;
  ++num_failures;
  printf("%s:%d: %s says \"%s\" of argument \"%s\", expected \"%s\" of \"%s\"\n", file, line, call, oprt_last_error(),
         oprt_last_error_argument(), text, argument);
}

static inline int report(const char* name) {
  printf("%s: %d checks, %d failed\n", name, num_checks, num_failures);
  return num_failures == 0 && num_checks > 0 ? 0 : 1;
}

static inline int same_bytes(const void* a, const void* b, size_t size) { return memcmp(a, b, size) == 0; }

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

/* A view on the cpu with the given strides. */
static inline oprt_tensor_view_t strided(oprt_dtype_t dtype, int32_t ndim, const int64_t* shape, const int64_t* strides) {
  oprt_tensor_view_t view;
  memset(&view, 0, sizeof view);
  view.dtype = dtype;
  view.device.type = OPRT_DEVICE_CPU;
  view.ndim = ndim;
  for (int32_t d = 0; d < ndim; ++d) {
    view.shape[d] = shape[d];
    view.strides[d] = strides[d];
  }
  return view;
}

/* A row-major contiguous view on the cpu. */
static inline oprt_tensor_view_t contiguous(oprt_dtype_t dtype, int32_t ndim, const int64_t* shape) {
  oprt_tensor_view_t view;
  const oprt_device_t cpu = {OPRT_DEVICE_CPU, 0};
  memset(&view, 0, sizeof view);
  CHECK_STATUS(oprt_make_contiguous_view(&view, NULL, dtype, cpu, ndim, shape), OPRT_OK);
  return view;
}
