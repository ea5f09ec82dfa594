/* A view of a tensor: what the operators read and write. Owns nothing. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "operator_runtime/export.h"
#include "operator_runtime/status.h"

OPRT_BEGIN_C

#define OPRT_MAX_DIMS 8

typedef int32_t oprt_dtype_t;

enum {
  OPRT_DTYPE_BOOL = 0, /* one byte; zero is false, any other value is true */
  OPRT_DTYPE_INT8 = 1,
  OPRT_DTYPE_INT16 = 2,
  OPRT_DTYPE_INT32 = 3,
  OPRT_DTYPE_INT64 = 4,
  OPRT_DTYPE_UINT8 = 5,
  OPRT_DTYPE_UINT16 = 6,
  OPRT_DTYPE_UINT32 = 7,
  OPRT_DTYPE_UINT64 = 8,
  OPRT_DTYPE_FLOAT16 = 9,
  OPRT_DTYPE_BFLOAT16 = 10,
  OPRT_DTYPE_FLOAT32 = 11,
  OPRT_DTYPE_FLOAT64 = 12,
  OPRT_DTYPE_COMPLEX32 = 13, /* two float16 */
  OPRT_DTYPE_COMPLEX64 = 14,
  OPRT_DTYPE_COMPLEX128 = 15
};

/* DLPack's codes. */
enum { OPRT_DEVICE_CPU = 1, OPRT_DEVICE_CUDA = 2 };

typedef struct oprt_device {
  int32_t type; /* OPRT_DEVICE_* */
  int32_t id;   /* 0 for OPRT_DEVICE_CPU */
} oprt_device_t;

/*
 * shape[d] >= 0 counts elements; strides[d] is the distance, in elements, between neighbours along d: any value, zero
 * and negative included on inputs, ignored where shape[d] <= 1. `data` points to the element with index (0, ..., 0).
 * Create, check and workspace calls ignore `data`; execute takes the pointers as arguments of their own.
 */
typedef struct oprt_tensor_view {
  void* data;
  oprt_dtype_t dtype;
  oprt_device_t device;
  int32_t ndim; /* 0..OPRT_MAX_DIMS */
  int64_t shape[OPRT_MAX_DIMS];
  int64_t strides[OPRT_MAX_DIMS];
} oprt_tensor_view_t;

/* Bytes of one element, or 0 for a code that is no dtype. */
OPRT_EXPORT size_t oprt_dtype_size(oprt_dtype_t dtype) OPRT_NOEXCEPT;

/* "float32" and so on, or "unknown". Static, never NULL. */
OPRT_EXPORT const char* oprt_dtype_name(oprt_dtype_t dtype) OPRT_NOEXCEPT;

/*
 * Fills `view` with a row-major contiguous view. `shape` holds `ndim` sizes and may be NULL when ndim is 0.
 * INVALID_ARGUMENT: view is NULL, ndim outside 0..8, a negative size, more than INT64_MAX bytes, an unknown dtype.
 */
OPRT_EXPORT oprt_status_t oprt_make_contiguous_view(oprt_tensor_view_t* view, void* data, oprt_dtype_t dtype, oprt_device_t device,
                                                    int32_t ndim, const int64_t* shape) OPRT_NOEXCEPT;

OPRT_END_C
