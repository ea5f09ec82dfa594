// A library with a kernel, for ../dlopen_main.c. Its static shared memory is larger than what a program has room for in advance.
#include <cstdint>

#include "core/error.h"
#include "emulator/emulator.h"
#include "simt/simt.h"

namespace {

constexpr unsigned kThreads = 128, kBlocks = 64, kPadding = 200000;

__global__ void turn_around(unsigned* out) {
  __shared__ unsigned shared[kThreads];
  __shared__ unsigned padding[kPadding];
  padding[kPadding - 1 - threadIdx.x] = threadIdx.x;
  shared[threadIdx.x] = threadIdx.x + blockIdx.x;
  oprt::simt::sync_block();
  out[blockIdx.x * kThreads + threadIdx.x] = shared[kThreads - 1 - threadIdx.x] + padding[kPadding - 1 - threadIdx.x];
}

}  // namespace

// 0 if the kernel did what it says.
extern "C" __attribute__((visibility("default"))) int run_loaded_kernel() {
  static unsigned out[kBlocks * kThreads];
  const oprt::emulator::BufferScope scope;
  oprt::emulator::register_buffer("out", out, sizeof out, false, false);
  oprt::emulator::set_options({oprt::emulator::Order::kForward, 0, 4, 30});
  try {
    oprt::simt::launch(turn_around, dim3(kBlocks), dim3(kThreads), 0, nullptr, static_cast<unsigned*>(out));
  } catch (const oprt::Error&) {
    return 2;
  }
  for (unsigned i = 0; i < kBlocks * kThreads; ++i) {
    if (out[i] != kThreads - 1 + i / kThreads) return 1;
  }
  return 0;
}
