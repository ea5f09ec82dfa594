// For tests that run on a GPU: memory and streams with owners, tensors by their layout, and results compared with the cpu backend.
#pragma once

#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/half.h"
#include "operator_runtime/cpp/operator_runtime.hpp"

namespace cuda_test {

namespace rt = operator_runtime;

constexpr int kSkipped = 77;  // the exit code for "no such backend here"
constexpr oprt_device_t kGpu{OPRT_DEVICE_CUDA, 0};

inline void cuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Ends the program with kSkipped and the reason where the nvidia backend is not available.
inline void require_gpu() {
  if (oprt_check_backend(OPRT_BACKEND_NVIDIA) == OPRT_OK) return;
  std::printf("skipped: %s\n", oprt_last_error());
  std::exit(kSkipped);
}

class DeviceMemory {
 public:
  explicit DeviceMemory(size_t size) : size_(size) {
    if (size > 0) cuda(cudaMalloc(&data_, size), "cudaMalloc");
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(DeviceMemory&& other) noexcept : size_(other.size_), data_(std::exchange(other.data_, nullptr)) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;

  char* data() const { return static_cast<char*>(data_); }
  size_t size() const { return size_; }

 private:
  size_t size_;
  void* data_ = nullptr;
};

// A tensor inside a storage: the storage has `storage` elements, element 0 is `offset` elements in.
struct Layout {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t storage = 0;
  int64_t offset = 0;

  int64_t size() const {
    int64_t n = 1;
    for (const int64_t d : shape) n *= d;
    return n;
  }
};

inline Layout dense(const std::vector<int64_t>& shape, int64_t offset = 0) {
  Layout layout{shape, std::vector<int64_t>(shape.size(), 1), 0, offset};
  for (size_t d = shape.size(); d-- > 1;) layout.strides[d - 1] = layout.strides[d] * shape[d];
  layout.storage = layout.size() + offset;
  return layout;
}

inline Layout transposed(Layout layout, size_t a, size_t b) {
  std::swap(layout.shape[a], layout.shape[b]);
  std::swap(layout.strides[a], layout.strides[b]);
  return layout;
}

// Rows of `columns` elements, `pitch` elements apart, the first at `offset`.
inline Layout pitched(int64_t rows, int64_t columns, int64_t pitch, int64_t offset = 0) {
  return {{rows, columns}, {pitch, 1}, rows * pitch + offset, offset};
}

// A one-dimensional view that reads `size` elements `stride` apart, backwards when it is negative.
inline Layout stepped(int64_t size, int64_t stride) {
  const int64_t span = (size - 1) * std::abs(stride) + 1;
  return {{size}, {stride}, span, stride < 0 ? span - 1 : 0};
}

inline oprt_tensor_view_t view_of(const Layout& layout, oprt_dtype_t dtype, void* storage, oprt_device_t device) {
  oprt_tensor_view_t view{};
  view.data = static_cast<char*>(storage) + static_cast<size_t>(layout.offset) * oprt_dtype_size(dtype);
  view.dtype = dtype;
  view.device = device;
  view.ndim = static_cast<int32_t>(layout.shape.size());
  for (size_t d = 0; d < layout.shape.size(); ++d) {
    view.shape[d] = layout.shape[d];
    view.strides[d] = layout.strides[d];
  }
  return view;
}

// Random elements in [-2, 2), or small integers, as bytes of `dtype`.
inline std::vector<char> random_elements(oprt_dtype_t dtype, int64_t count, uint32_t seed) {
  const size_t size = oprt_dtype_size(dtype);
  std::vector<char> bytes(static_cast<size_t>(count) * size);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-2, 2);
  const auto put = [&](size_t i, auto value) { std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value); };
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    switch (dtype) {
      case OPRT_DTYPE_FLOAT16:
        put(i, oprt::from_float<oprt::Float16>(real(random)));
        break;
      case OPRT_DTYPE_BFLOAT16:
        put(i, oprt::from_float<oprt::BFloat16>(real(random)));
        break;
      case OPRT_DTYPE_FLOAT32:
        put(i, real(random));
        break;
      case OPRT_DTYPE_FLOAT64:
        put(i, static_cast<double>(real(random)));
        break;
      default:
        for (size_t k = 0; k < size; ++k) bytes[i * size + k] = static_cast<char>(random() & (dtype == OPRT_DTYPE_BOOL ? 1 : 0x3f));
    }
  }
  return bytes;
}

inline double element(oprt_dtype_t dtype, const char* bytes, size_t i) {
  const auto get = [&](auto value) {
    std::memcpy(&value, bytes + i * sizeof value, sizeof value);
    return value;
  };
  switch (dtype) {
    case OPRT_DTYPE_FLOAT16:
      return oprt::to_float(get(oprt::Float16{}));
    case OPRT_DTYPE_BFLOAT16:
      return oprt::to_float(get(oprt::BFloat16{}));
    case OPRT_DTYPE_FLOAT32:
      return get(float{});
    case OPRT_DTYPE_FLOAT64:
      return get(double{});
    default:
      return 0;
  }
}

// What two floats may differ by; everything else by no bit.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// The first difference of two storages as text, or "".
inline std::string difference(oprt_dtype_t dtype, const std::vector<char>& actual, const std::vector<char>& expected,
                              const Tolerance& tolerance) {
  const size_t size = oprt_dtype_size(dtype);
  for (size_t i = 0; i < expected.size() / size; ++i) {
    if (std::memcmp(actual.data() + i * size, expected.data() + i * size, size) == 0) continue;
    const double got = element(dtype, actual.data(), i);
    const double want = element(dtype, expected.data(), i);
    const double allowed = tolerance.absolute + tolerance.relative * std::abs(want);
    if (allowed > 0 && std::abs(got - want) <= allowed) continue;
    return "element " + std::to_string(i) + " of out's storage is " + std::to_string(got) + ", expected " + std::to_string(want);
  }
  return "";
}

}  // namespace cuda_test
