// The kernel dialect: the one header that a kernel file includes. The same source is CUDA C++ for NVIDIA and C++ for the emulator
// on a CPU, and is written so that MACA can give it its meaning: kernels say kWarpSize, kFullMask, launch(), OPRT_DYNAMIC_SHARED
// and the functions below, never a vendor's launch syntax, a literal lane count or a literal mask. What a vendor must supply is the
// list in simt/cuda.h.
//
// Everything lives in an inline namespace named for vendor and lane count (OPRT_SIMT), so that builds of one template for 32 and 64
// lanes can be linked together; kernels.cuh files use it too.
#pragma once

#if defined(__CUDACC__)
#include "simt/cuda.h"
#elif defined(OPRT_EMULATION)
#include "simt/host.h"
#else
#error "a kernel file is compiled by nvcc, or for the emulator"
#endif

#include "simt/reduce.h"
#include "simt/vector.h"
