/* From a DLPack tensor to a view, with no DLPack header: the struct below has the layout that DLPack 0.x and 1.x share. */
#pragma once

#include <stdint.h>

#include "operator_runtime/export.h"
#include "operator_runtime/status.h"
#include "operator_runtime/tensor.h"

OPRT_BEGIN_C

typedef struct oprt_dltensor {
  void* data;
  oprt_device_t device;
  int32_t ndim;
  struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;   /* may be NULL when ndim is 0 */
  int64_t* strides; /* in elements; NULL means row-major contiguous */
  uint64_t byte_offset;
} oprt_dltensor_t;

/*
 * Fills `view` from a `const DLTensor*` cast to `const oprt_dltensor_t*`. byte_offset is added to data; page-locked host
 * memory (device code 3) is read as cpu, managed memory (13) as cuda. Nothing is dereferenced but the struct, shape and
 * strides.
 * INVALID_ARGUMENT: a NULL argument, ndim outside 0..8, NULL shape with ndim > 0, a negative size, more than
 * INT64_MAX bytes.
 * UNSUPPORTED: lanes other than 1, a dtype that is none of OPRT_DTYPE_*, a device that is neither cpu nor cuda.
 */
OPRT_EXPORT oprt_status_t oprt_view_from_dltensor(oprt_tensor_view_t* view, const oprt_dltensor_t* dltensor) OPRT_NOEXCEPT;

OPRT_END_C
