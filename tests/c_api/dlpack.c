/* From DLTensor to view: what is taken, what is refused. */
#include <stdint.h>

#include "check.h"

enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };

static char memory[64];

static oprt_dltensor_t tensor(uint8_t code, uint8_t bits, int32_t ndim, int64_t* shape, int64_t* strides) {
  oprt_dltensor_t result;
  memset(&result, 0, sizeof result);
  result.data = memory;
  result.device.type = 1;
  result.ndim = ndim;
  result.dtype.code = code;
  result.dtype.bits = bits;
  result.dtype.lanes = 1;
  result.shape = shape;
  result.strides = strides;
  return result;
}

static void every_dtype_is_known(void) {
  const struct {
    uint8_t code, bits;
    oprt_dtype_t dtype;
  } rows[] = {
      {kDLBool, 8, OPRT_DTYPE_BOOL},           {kDLInt, 8, OPRT_DTYPE_INT8},           {kDLInt, 16, OPRT_DTYPE_INT16},
      {kDLInt, 32, OPRT_DTYPE_INT32},          {kDLInt, 64, OPRT_DTYPE_INT64},         {kDLUInt, 8, OPRT_DTYPE_UINT8},
      {kDLUInt, 16, OPRT_DTYPE_UINT16},        {kDLUInt, 32, OPRT_DTYPE_UINT32},       {kDLUInt, 64, OPRT_DTYPE_UINT64},
      {kDLFloat, 16, OPRT_DTYPE_FLOAT16},      {kDLBfloat, 16, OPRT_DTYPE_BFLOAT16},   {kDLFloat, 32, OPRT_DTYPE_FLOAT32},
      {kDLFloat, 64, OPRT_DTYPE_FLOAT64},      {kDLComplex, 32, OPRT_DTYPE_COMPLEX32}, {kDLComplex, 64, OPRT_DTYPE_COMPLEX64},
      {kDLComplex, 128, OPRT_DTYPE_COMPLEX128}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
    const oprt_dltensor_t source = tensor(rows[i].code, rows[i].bits, 0, NULL, NULL);
    oprt_tensor_view_t view;
    CHECK_STATUS(oprt_view_from_dltensor(&view, &source), OPRT_OK);
    CHECK(view.dtype == rows[i].dtype && view.ndim == 0 && view.data == memory);
  }
}

static void null_strides_mean_row_major(void) {
  int64_t shape[3] = {2, 3, 4};
  const oprt_dltensor_t source = tensor(kDLFloat, 32, 3, shape, NULL);
  oprt_tensor_view_t view;
  CHECK_STATUS(oprt_view_from_dltensor(&view, &source), OPRT_OK);
  CHECK(view.shape[0] == 2 && view.shape[1] == 3 && view.shape[2] == 4);
  CHECK(view.strides[0] == 12 && view.strides[1] == 4 && view.strides[2] == 1);
}

static void strides_and_byte_offset_are_kept(void) {
  int64_t shape[2] = {3, 2};
  int64_t strides[2] = {-1, 3};
  oprt_dltensor_t source = tensor(kDLInt, 8, 2, shape, strides);
  oprt_tensor_view_t view;
  source.byte_offset = 5;
  CHECK_STATUS(oprt_view_from_dltensor(&view, &source), OPRT_OK);
  CHECK(view.data == memory + 5 && view.strides[0] == -1 && view.strides[1] == 3);
}

static void devices_are_read_as_cpu_or_cuda(void) {
  const int32_t from[] = {1, 2, 3, 13};
  const int32_t to[] = {OPRT_DEVICE_CPU, OPRT_DEVICE_CUDA, OPRT_DEVICE_CPU, OPRT_DEVICE_CUDA};
  oprt_tensor_view_t view;
  for (int i = 0; i < 4; ++i) {
    oprt_dltensor_t source = tensor(kDLFloat, 32, 0, NULL, NULL);
    source.device.type = from[i];
    CHECK_STATUS(oprt_view_from_dltensor(&view, &source), OPRT_OK);
    CHECK(view.device.type == to[i] && view.device.id == 0);
  }
}

static void what_cannot_be_read_is_refused(void) {
  int64_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  int64_t negative[1] = {-2};
  oprt_tensor_view_t view;
  const oprt_dltensor_t good = tensor(kDLFloat, 32, 1, shape, NULL);
  oprt_dltensor_t bad = good;
  CHECK_ERROR(oprt_view_from_dltensor(NULL, &good), OPRT_ERR_INVALID_ARGUMENT, "view", "view is NULL");
  CHECK_ERROR(oprt_view_from_dltensor(&view, NULL), OPRT_ERR_INVALID_ARGUMENT, "dltensor", "dltensor is NULL");
  bad.ndim = 9;
  CHECK_ERROR(oprt_view_from_dltensor(&view, &bad), OPRT_ERR_INVALID_ARGUMENT, "dltensor",
              "dltensor has 9 dimensions, expected 0..8");
  bad.ndim = -1;
  CHECK_ERROR(oprt_view_from_dltensor(&view, &bad), OPRT_ERR_INVALID_ARGUMENT, "dltensor",
              "dltensor has -1 dimensions, expected 0..8");
  bad = good;
  bad.shape = NULL;
  CHECK_ERROR(oprt_view_from_dltensor(&view, &bad), OPRT_ERR_INVALID_ARGUMENT, "dltensor",
              "dltensor has no shape, expected 1 sizes");
  bad.shape = negative;
  CHECK_ERROR(oprt_view_from_dltensor(&view, &bad), OPRT_ERR_INVALID_ARGUMENT, "dltensor",
              "dltensor has size -2 in dim 0, expected 0 or more");
  bad = good;
  bad.dtype.lanes = 4;
  CHECK_ERROR(oprt_view_from_dltensor(&view, &bad), OPRT_ERR_UNSUPPORTED, "dltensor",
              "dltensor has a dtype of 4 lanes, expected 1");
  bad = tensor(kDLFloat, 8, 1, shape, NULL);
  CHECK_ERROR(oprt_view_from_dltensor(&view, &bad), OPRT_ERR_UNSUPPORTED, "dltensor", "dltensor has DLPack type code 2 of 8 bits");
  bad = tensor(kDLInt, 4, 1, shape, NULL);
  CHECK_ERROR(oprt_view_from_dltensor(&view, &bad), OPRT_ERR_UNSUPPORTED, "dltensor", "dltensor has DLPack type code 0 of 4 bits");
  bad = good;
  bad.device.type = 10;
  CHECK_ERROR(oprt_view_from_dltensor(&view, &bad), OPRT_ERR_UNSUPPORTED, "dltensor",
              "dltensor is on a device of DLPack type 10, expected cpu or cuda");
}

int main(void) {
  every_dtype_is_known();
  null_strides_mean_row_major();
  strides_and_byte_offset_are_kept();
  devices_are_read_as_cpu_or_cuda();
  what_cannot_be_read_is_refused();
  return report("dlpack");
}
