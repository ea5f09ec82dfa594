// 16-byte vectors, the widest access of a thread, and division by a number known on the host. Include simt/simt.h.
#pragma once

namespace oprt::simt {
inline namespace OPRT_SIMT {

constexpr int kVectorBytes = 16;

template <class T>
struct alignas(kVectorBytes) Vector {
  static constexpr int kSize = kVectorBytes / static_cast<int>(sizeof(T));
  T value[kSize];
};

// The same bits as another type of the same size.
template <class To, class From>
__device__ __forceinline__ To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

// `address` is in global memory and aligned to 16 bytes.
template <Cache cache = Cache::kNormal, class T>
__device__ __forceinline__ Vector<T> load_vector(const T* address) {
  static_assert(sizeof(Vector<T>) == kVectorBytes);
  return bits_as<Vector<T>>(load16<cache>(reinterpret_cast<const uint4*>(address)));
}
template <Cache cache = Cache::kNormal, class T>
__device__ __forceinline__ void store_vector(T* address, const Vector<T>& vector) {
  store16<cache>(reinterpret_cast<uint4*>(address), bits_as<uint4>(vector));
}

__host__ __device__ inline bool is_vector_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kVectorBytes == 0;
}

// n / divisor for n < 2^31 and 0 < divisor < 2^31, by a multiplication and a shift.
class FastDivisor {
 public:
  FastDivisor() = default;
  explicit FastDivisor(uint32_t divisor) : divisor_(divisor) {
    while (shift_ < 31 && (uint32_t{1} << shift_) < divisor) ++shift_;
    multiplier_ = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift_) - divisor)) / divisor + 1);
  }

  __device__ __forceinline__ uint32_t divide(uint32_t n) const { return (__umulhi(n, multiplier_) + n) >> shift_; }
  __device__ __forceinline__ uint32_t divide(uint32_t n, uint32_t* remainder) const {
    const uint32_t quotient = divide(n);
    *remainder = n - quotient * divisor_;
    return quotient;
  }
  __host__ __device__ uint32_t divisor() const { return divisor_; }

 private:
  uint32_t divisor_ = 1;
  uint32_t multiplier_ = 1;
  uint32_t shift_ = 0;
};

}  // namespace OPRT_SIMT
}  // namespace oprt::simt
