/* The binary interface, frozen: what fails to compile here breaks every program built before. */
#include <stddef.h>

#include "check.h"

_Static_assert(sizeof(void*) == 8, "64-bit platforms");

_Static_assert(sizeof(oprt_status_t) == 4 && sizeof(oprt_backend_t) == 4 && sizeof(oprt_dtype_t) == 4, "codes");
_Static_assert((oprt_status_t)-1 < 0 && (oprt_backend_t)-1 < 0 && (oprt_dtype_t)-1 < 0, "codes are signed");

_Static_assert(sizeof(oprt_device_t) == 8, "oprt_device_t");
_Static_assert(offsetof(oprt_device_t, type) == 0, "oprt_device_t.type");
_Static_assert(offsetof(oprt_device_t, id) == 4, "oprt_device_t.id");

_Static_assert(sizeof(oprt_tensor_view_t) == 152 && _Alignof(oprt_tensor_view_t) == 8, "oprt_tensor_view_t");
_Static_assert(offsetof(oprt_tensor_view_t, data) == 0, "oprt_tensor_view_t.data");
_Static_assert(offsetof(oprt_tensor_view_t, dtype) == 8, "oprt_tensor_view_t.dtype");
_Static_assert(offsetof(oprt_tensor_view_t, device) == 12, "oprt_tensor_view_t.device");
_Static_assert(offsetof(oprt_tensor_view_t, ndim) == 20, "oprt_tensor_view_t.ndim");
_Static_assert(offsetof(oprt_tensor_view_t, shape) == 24, "oprt_tensor_view_t.shape");
_Static_assert(offsetof(oprt_tensor_view_t, strides) == 88, "oprt_tensor_view_t.strides");

/* DLPack's DLTensor. */
_Static_assert(sizeof(oprt_dltensor_t) == 48 && _Alignof(oprt_dltensor_t) == 8, "oprt_dltensor_t");
_Static_assert(offsetof(oprt_dltensor_t, data) == 0, "oprt_dltensor_t.data");
_Static_assert(offsetof(oprt_dltensor_t, device) == 8, "oprt_dltensor_t.device");
_Static_assert(offsetof(oprt_dltensor_t, ndim) == 16, "oprt_dltensor_t.ndim");
_Static_assert(offsetof(oprt_dltensor_t, dtype) == 20, "oprt_dltensor_t.dtype");
_Static_assert(offsetof(oprt_dltensor_t, dtype.code) == 20, "oprt_dltensor_t.dtype.code");
_Static_assert(offsetof(oprt_dltensor_t, dtype.bits) == 21, "oprt_dltensor_t.dtype.bits");
_Static_assert(offsetof(oprt_dltensor_t, dtype.lanes) == 22, "oprt_dltensor_t.dtype.lanes");
_Static_assert(offsetof(oprt_dltensor_t, shape) == 24, "oprt_dltensor_t.shape");
_Static_assert(offsetof(oprt_dltensor_t, strides) == 32, "oprt_dltensor_t.strides");
_Static_assert(offsetof(oprt_dltensor_t, byte_offset) == 40, "oprt_dltensor_t.byte_offset");

_Static_assert(OPRT_MAX_DIMS == 8 && OPRT_WORKSPACE_ALIGNMENT == 256 && OPRT_ABI_VERSION == 0, "constants");

_Static_assert(OPRT_OK == 0 && OPRT_ERR_INVALID_ARGUMENT == 1 && OPRT_ERR_UNSUPPORTED == 2 &&
                   OPRT_ERR_INSUFFICIENT_WORKSPACE == 3 && OPRT_ERR_BACKEND_UNAVAILABLE == 4 && OPRT_ERR_OUT_OF_MEMORY == 5 &&
                   OPRT_ERR_DEVICE_ERROR == 6 && OPRT_ERR_INTERNAL == 7,
               "status codes");

_Static_assert(OPRT_BACKEND_AUTO == 0 && OPRT_BACKEND_CPU == 1 && OPRT_BACKEND_NVIDIA == 2 && OPRT_BACKEND_METAX == 3, "backends");

_Static_assert(OPRT_DEVICE_CPU == 1 && OPRT_DEVICE_CUDA == 2, "devices");

_Static_assert(OPRT_DTYPE_BOOL == 0 && OPRT_DTYPE_INT8 == 1 && OPRT_DTYPE_INT16 == 2 && OPRT_DTYPE_INT32 == 3 &&
                   OPRT_DTYPE_INT64 == 4 && OPRT_DTYPE_UINT8 == 5 && OPRT_DTYPE_UINT16 == 6 && OPRT_DTYPE_UINT32 == 7 &&
                   OPRT_DTYPE_UINT64 == 8 && OPRT_DTYPE_FLOAT16 == 9 && OPRT_DTYPE_BFLOAT16 == 10 && OPRT_DTYPE_FLOAT32 == 11 &&
                   OPRT_DTYPE_FLOAT64 == 12 && OPRT_DTYPE_COMPLEX32 == 13 && OPRT_DTYPE_COMPLEX64 == 14 &&
                   OPRT_DTYPE_COMPLEX128 == 15,
               "dtypes");

/* The library was built from the same numbers. */
int main(void) {
  const oprt_tensor_view_t view = contiguous(OPRT_DTYPE_COMPLEX128, 8, DIMS(1, 2, 3, 4, 5, 6, 7, 8));
  CHECK(oprt_abi_version() == OPRT_ABI_VERSION);
  CHECK(view.shape[0] == 1 && view.shape[7] == 8 && view.strides[7] == 1 && view.strides[0] == 40320);
  CHECK(view.dtype == OPRT_DTYPE_COMPLEX128 && view.device.type == OPRT_DEVICE_CPU && view.device.id == 0 && view.ndim == 8);
  return report("layout_asserts");
}
