#include "core/tensor.h"

#include <algorithm>
#include <cinttypes>

#include "core/error.h"

namespace oprt {
namespace {

struct DTypeInfo {
  const char* name;
  uint8_t size;  // bytes
  DTypeKind kind;
};

constexpr DTypeInfo kDTypes[] = {
    {"bool", 1, DTypeKind::kBool},          {"int8", 1, DTypeKind::kInteger},      {"int16", 2, DTypeKind::kInteger},
    {"int32", 4, DTypeKind::kInteger},      {"int64", 8, DTypeKind::kInteger},     {"uint8", 1, DTypeKind::kInteger},
    {"uint16", 2, DTypeKind::kInteger},     {"uint32", 4, DTypeKind::kInteger},    {"uint64", 8, DTypeKind::kInteger},
    {"float16", 2, DTypeKind::kFloat},      {"bfloat16", 2, DTypeKind::kFloat},    {"float32", 4, DTypeKind::kFloat},
    {"float64", 8, DTypeKind::kFloat},      {"complex32", 4, DTypeKind::kComplex}, {"complex64", 8, DTypeKind::kComplex},
    {"complex128", 16, DTypeKind::kComplex}};

constexpr oprt_dtype_t kNumDTypes = sizeof kDTypes / sizeof kDTypes[0];

bool is_dtype(oprt_dtype_t dtype) { return dtype >= 0 && dtype < kNumDTypes; }

// Elements, or -1 when they are more than INT64_MAX. A size of 0 makes it 0, whatever the others are.
int64_t count_elements(const int64_t* shape, int ndim) {
  if (std::find(shape, shape + ndim, 0) != shape + ndim) return 0;
  int64_t count = 1;
  for (int d = 0; d < ndim; ++d) {
    if (__builtin_mul_overflow(count, shape[d], &count)) return -1;
  }
  return count;
}

// Whether every element's address, relative to element 0, and the distance between any two of them fit int64, in bytes.
bool span_fits(const oprt_tensor_view_t& view) {
  int64_t low = 0;
  int64_t high = 0;
  for (int d = 0; d < view.ndim; ++d) {
    if (view.shape[d] <= 1) continue;
    int64_t reach = 0;
    if (__builtin_mul_overflow(view.shape[d] - 1, view.strides[d], &reach)) return false;
    int64_t* end = reach < 0 ? &low : &high;
    if (__builtin_add_overflow(*end, reach, end)) return false;
  }
  int64_t span = 0;
  return !__builtin_sub_overflow(high, low, &span) && !__builtin_add_overflow(span, 1, &span) &&
         !__builtin_mul_overflow(span, static_cast<int64_t>(oprt_dtype_size(view.dtype)), &span);
}

// What shape and dtype must be, for views that are given and views that are made.
void check_shape(const char* name, oprt_dtype_t dtype, int ndim, const int64_t* shape) {
  OPRT_CHECK(is_dtype(dtype), name, OPRT_ERR_INVALID_ARGUMENT, "%s has dtype %d, expected one of OPRT_DTYPE_* (0..%d)", name, dtype,
             kNumDTypes - 1);
  OPRT_CHECK(ndim >= 0 && ndim <= OPRT_MAX_DIMS, name, OPRT_ERR_INVALID_ARGUMENT, "%s has %d dimensions, expected 0..%d", name,
             ndim, OPRT_MAX_DIMS);
  OPRT_CHECK(shape != nullptr || ndim == 0, name, OPRT_ERR_INVALID_ARGUMENT, "%s has no shape, expected %d sizes", name, ndim);
  for (int d = 0; d < ndim; ++d) {
    OPRT_CHECK(shape[d] >= 0, name, OPRT_ERR_INVALID_ARGUMENT, "%s has size %" PRId64 " in dim %d, expected 0 or more", name,
               shape[d], d);
  }
  const int64_t count = count_elements(shape, ndim);
  OPRT_CHECK(count >= 0 && count <= INT64_MAX / kDTypes[dtype].size, name, OPRT_ERR_INVALID_ARGUMENT,
             "%s has shape %s, which is more than 2^63 - 1 bytes", name, shape_text(shape, ndim).c_str());
}

}  // namespace

DTypeKind dtype_kind(oprt_dtype_t dtype) { return kDTypes[dtype].kind; }

void check_view(const char* name, const oprt_tensor_view_t* view) {
  OPRT_CHECK(view != nullptr, name, OPRT_ERR_INVALID_ARGUMENT, "%s is NULL, expected a view", name);
  check_shape(name, view->dtype, view->ndim, view->shape);
  OPRT_CHECK(view->device.type == OPRT_DEVICE_CPU || view->device.type == OPRT_DEVICE_CUDA, name, OPRT_ERR_UNSUPPORTED,
             "%s is on a device of type %d, expected %d (cpu) or %d (cuda)", name, view->device.type, OPRT_DEVICE_CPU,
             OPRT_DEVICE_CUDA);
  OPRT_CHECK(view->device.type != OPRT_DEVICE_CPU || view->device.id == 0, name, OPRT_ERR_INVALID_ARGUMENT,
             "%s is on cpu device %d, expected 0", name, view->device.id);
  OPRT_CHECK(num_elements(*view) == 0 || span_fits(*view), name, OPRT_ERR_INVALID_ARGUMENT,
             "%s has shape %s and strides %s, which reach further than 2^63 - 1 bytes", name, shape_text(*view).c_str(),
             shape_text(view->strides, view->ndim).c_str());
}

oprt_tensor_view_t contiguous_view(const char* name, void* data, oprt_dtype_t dtype, oprt_device_t device, int32_t ndim,
                                   const int64_t* shape) {
  check_shape(name, dtype, ndim, shape);
  oprt_tensor_view_t view{data, dtype, device, ndim, {}, {}};
  int64_t stride = 1;
  for (int d = ndim - 1; d >= 0; --d) {
    view.shape[d] = shape[d];
    view.strides[d] = stride;
    // A tensor without elements may have sizes whose product is no int64; its strides are never used.
    if (__builtin_mul_overflow(stride, std::max<int64_t>(shape[d], 1), &stride)) stride = 1;
  }
  return view;
}

int64_t num_elements(const oprt_tensor_view_t& view) { return count_elements(view.shape, view.ndim); }

std::string shape_text(const int64_t* shape, int ndim) {
  std::string text = "(";
  for (int d = 0; d < ndim; ++d) text += (d > 0 ? ", " : "") + std::to_string(shape[d]);
  return text + (ndim == 1 ? ",)" : ")");
}

int normalize_dim(const char* argument, int32_t dim, int ndim) {
  const int bound = std::max(ndim, 1);
  OPRT_CHECK(dim >= -bound && dim < bound, argument, OPRT_ERR_INVALID_ARGUMENT, "dim is %d, expected %d..%d for a %d-D input", dim,
             -bound, bound - 1, ndim);
  return dim < 0 ? dim + bound : dim;
}

}  // namespace oprt

size_t oprt_dtype_size(oprt_dtype_t dtype) noexcept { return oprt::is_dtype(dtype) ? oprt::kDTypes[dtype].size : 0; }

const char* oprt_dtype_name(oprt_dtype_t dtype) noexcept { return oprt::is_dtype(dtype) ? oprt::kDTypes[dtype].name : "unknown"; }

oprt_status_t oprt_make_contiguous_view(oprt_tensor_view_t* view, void* data, oprt_dtype_t dtype, oprt_device_t device,
                                        int32_t ndim, const int64_t* shape) noexcept {
  return oprt::guard("oprt_make_contiguous_view", [&] {
    OPRT_CHECK(view != nullptr, "view", OPRT_ERR_INVALID_ARGUMENT, "view is NULL");
    *view = oprt::contiguous_view("view", data, dtype, device, ndim, shape);  // shape may be view's own
  });
}
