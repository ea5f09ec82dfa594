// What kernels compiled for the CPU ask of the emulator (src/emulator): launches, barriers, exchanges between lanes. Kernels use it
// through simt/simt.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>

// Names of the emulator's that kernels see stay inside the library: the linker may then address them without a call.
#define OPRT_HIDDEN __attribute__((visibility("hidden")))

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_size = 1, unsigned y_size = 1, unsigned z_size = 1) : x(x_size), y(y_size), z(z_size) {}
};

// Of the thread that runs now. Variables rather than functions, for the sake of debuggers.
extern __thread uint3 threadIdx OPRT_HIDDEN;
extern __thread uint3 blockIdx OPRT_HIDDEN;
extern __thread dim3 blockDim OPRT_HIDDEN;
extern __thread dim3 gridDim OPRT_HIDDEN;

namespace oprt::emulator {

using Site = std::source_location;

struct KernelCall {
  void (*run)(void* arguments);  // one thread
  void* arguments;
  size_t argument_bytes;
  const void* kernel;  // for its name
  dim3 grid;
  dim3 block;
  size_t shared_bytes;
  int warp_size;
};

// Of the smallest device that the kernels are written for.
constexpr int kMaxBlockThreads = 1024;
constexpr size_t kMaxSharedBytes = 227 * 1024;

// Runs every thread of every block before it returns. Throws DEVICE_ERROR with the first report's text; take_reports() has them
// all.
OPRT_HIDDEN void launch(const KernelCall& call);

// Throws DEVICE_ERROR where no block can have that much dynamic shared memory.
OPRT_HIDDEN void check_shared_bytes(size_t shared_bytes);

OPRT_HIDDEN unsigned char* dynamic_shared();

OPRT_HIDDEN void sync_block(Site site);

enum class Exchange : uint8_t { kShuffle, kShuffleUp, kShuffleDown, kShuffleXor, kBallot, kAny, kAll, kSync };

// What every lane of `mask` hands in, and what this one gets. A shuffle's `argument` is a lane or a distance, within groups of
// `width` lanes; from a lane that does not take part comes 0xff in every byte.
OPRT_HIDDEN uint64_t exchange(Exchange kind, uint64_t mask, uint64_t value, int argument, int width, Site site);

// Ends the launch: `address` is not a multiple of `alignment`.
[[noreturn]] OPRT_HIDDEN void misaligned(const void* address, size_t alignment);

}  // namespace oprt::emulator
