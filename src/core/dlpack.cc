#include "operator_runtime/dlpack.h"

#include <algorithm>
#include <cstddef>

#include "core/dlpack_types.h"
#include "core/error.h"
#include "core/tensor.h"

namespace oprt {
namespace {

// DLPack's device codes that are not ours.
enum : int32_t { kDLCUDAHost = 3, kDLCUDAManaged = 13 };

oprt_dtype_t dtype_of(const oprt_dltensor_t& tensor) {
  OPRT_CHECK(tensor.dtype.lanes == 1, "dltensor", OPRT_ERR_UNSUPPORTED, "dltensor has a dtype of %d lanes, expected 1",
             tensor.dtype.lanes);
  const DlpackType type{tensor.dtype.code, tensor.dtype.bits};
  const auto* const found = std::find(kDlpackTypes.begin(), kDlpackTypes.end(), type);
  if (found != kDlpackTypes.end()) return static_cast<oprt_dtype_t>(found - kDlpackTypes.begin());
  throw Error(OPRT_ERR_UNSUPPORTED, "dltensor",
              "dltensor has DLPack type code %d of %d bits, expected a bool, integer, float or complex type of OPRT_DTYPE_*",
              tensor.dtype.code, tensor.dtype.bits);
}

oprt_device_t device_of(const oprt_dltensor_t& tensor) {
  switch (tensor.device.type) {
    case OPRT_DEVICE_CPU:
    case kDLCUDAHost:
      return {OPRT_DEVICE_CPU, 0};
    case OPRT_DEVICE_CUDA:
    case kDLCUDAManaged:
      return {OPRT_DEVICE_CUDA, tensor.device.id};
    default:
      throw Error(OPRT_ERR_UNSUPPORTED, "dltensor", "dltensor is on a device of DLPack type %d, expected cpu or cuda",
                  tensor.device.type);
  }
}

}  // namespace
}  // namespace oprt

oprt_status_t oprt_view_from_dltensor(oprt_tensor_view_t* view, const oprt_dltensor_t* dltensor) noexcept {
  return oprt::guard("oprt_view_from_dltensor", [&] {
    OPRT_CHECK(view != nullptr, "view", OPRT_ERR_INVALID_ARGUMENT, "view is NULL");
    OPRT_CHECK(dltensor != nullptr, "dltensor", OPRT_ERR_INVALID_ARGUMENT, "dltensor is NULL");
    const int32_t ndim = dltensor->ndim;
    OPRT_CHECK(ndim >= 0 && ndim <= OPRT_MAX_DIMS, "dltensor", OPRT_ERR_INVALID_ARGUMENT,
               "dltensor has %d dimensions, expected 0..%d", ndim, OPRT_MAX_DIMS);
    const oprt_dtype_t dtype = oprt::dtype_of(*dltensor);
    const oprt_device_t device = oprt::device_of(*dltensor);
    void* data = dltensor->data == nullptr ? nullptr : static_cast<std::byte*>(dltensor->data) + dltensor->byte_offset;
    oprt_tensor_view_t made = oprt::contiguous_view("dltensor", data, dtype, device, ndim, dltensor->shape);
    if (dltensor->strides != nullptr) std::copy(dltensor->strides, dltensor->strides + ndim, made.strides);
    *view = made;
  });
}
