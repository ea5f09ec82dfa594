// One binary for old and new x86-64: the loops of a kernel are compiled twice, for the baseline and for AVX2, and the CPU decides
// at run time. -DOPRT_CPU_BASELINE leaves only the baseline.
#pragma once

#if defined(__x86_64__) && !defined(OPRT_CPU_BASELINE)
#define OPRT_CPU_AVX2 1
#endif

namespace oprt::cpu {

#if defined(OPRT_CPU_AVX2)

inline bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"); }

// flatten pulls everything that `body` calls into this function, so that all of it is compiled for the target.
template <class Body>
[[gnu::target("avx2,fma,f16c"), gnu::flatten, gnu::noinline]] void call_avx2(const Body& body) {
  body();
}

#endif

// Calls body() compiled for the best instruction set of this CPU. One call covers a piece of work, not an element.
template <class Body>
void vectorized(const Body& body) {
#if defined(OPRT_CPU_AVX2)
  if (has_avx2()) return call_avx2(body);
#endif
  body();
}

}  // namespace oprt::cpu

// Before a loop whose iterations are independent: out is exactly an input or shares no byte with it.
#if defined(__clang__)
#define OPRT_CPU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define OPRT_CPU_INDEPENDENT _Pragma("GCC ivdep")
#endif
