// Lines of 16-bit floats to and from float. The vectorised arithmetic of core/half.h costs several times what an x86-64 with F16C
// needs for float16, so such a CPU uses its instructions.
#pragma once

#include <cstdint>

#include "backends/cpu/element.h"
#include "backends/cpu/isa.h"

#if defined(OPRT_CPU_AVX2)
#include <immintrin.h>
#endif

namespace oprt::cpu {

#if defined(OPRT_CPU_AVX2)

// Both convert whole groups of 8 and return how many elements that were.
[[gnu::target("avx2,fma,f16c")]] inline int64_t load_groups(float* out, const Float16* in, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  }
  return i;
}

[[gnu::target("avx2,fma,f16c")]] inline int64_t store_groups(Float16* out, const float* in, int64_t n) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT));
  }
  return i;
}

#endif

// out[i] = in[i], exactly.
template <class T>
inline void load_line(Compute<T>* out, const T* in, int64_t n) {
  int64_t i = 0;
#if defined(OPRT_CPU_AVX2)
  if constexpr (std::is_same_v<T, Float16>) {
    if (has_avx2()) i = load_groups(out, in, n);
  }
#endif
  OPRT_CPU_INDEPENDENT
  for (; i < n; ++i) out[i] = load(in[i]);
}

// out[i] = in[i], rounded to nearest even.
template <class T>
inline void store_line(T* out, const Compute<T>* in, int64_t n) {
  int64_t i = 0;
#if defined(OPRT_CPU_AVX2)
  if constexpr (std::is_same_v<T, Float16>) {
    if (has_avx2()) i = store_groups(out, in, n);
  }
#endif
  OPRT_CPU_INDEPENDENT
  for (; i < n; ++i) out[i] = store<T>(in[i]);
}

}  // namespace oprt::cpu
