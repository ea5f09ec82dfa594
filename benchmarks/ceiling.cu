// The bandwidth that a GPU gives to the simplest kernels: copy (1 read, 1 write), add (2 reads, 1 write) and read, in 16-byte
// accesses. What the rows of benchmarks/gpu_floors.py are divided by, measured the same way: caches overwritten before each call,
// one pair of events a call, the median; of each pattern the best of a sweep, copy with the driver's own among them. Prints one
// line of JSON: bytes of traffic per second.
//
//   ceiling [BYTES of one array, default 2^28] [SAMPLES, default 15]
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "ceiling: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

constexpr int kMaxThreads = 1024;

// How 16 bytes are read and written: as the caches like it, or as data that is touched once.
enum class Hint { kNone, kStream };

template <Hint hint>
__device__ uint4 load(const uint4* from) {
  if constexpr (hint == Hint::kStream) return __ldcs(from);
  return __ldg(from);
}
template <Hint hint>
__device__ void store(uint4* to, uint4 v) {
  if constexpr (hint == Hint::kStream) {
    __stcs(to, v);
  } else {
    *to = v;
  }
}

template <int kVectors, Hint hint>
__global__ void __launch_bounds__(kMaxThreads) copy(const uint4* in, uint4* out, int64_t n) {
  const int64_t first = (int64_t{blockIdx.x} * blockDim.x) * kVectors + threadIdx.x;
  uint4 v[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (first + k * int64_t{blockDim.x} < n) v[k] = load<hint>(in + first + k * int64_t{blockDim.x});
  }
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (first + k * int64_t{blockDim.x} < n) store<hint>(out + first + k * int64_t{blockDim.x}, v[k]);
  }
}

template <int kVectors, Hint hint>
__global__ void __launch_bounds__(kMaxThreads) add(const uint4* a, const uint4* b, uint4* out, int64_t n) {
  const int64_t first = (int64_t{blockIdx.x} * blockDim.x) * kVectors + threadIdx.x;
  uint4 x[kVectors], y[kVectors];
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int64_t i = first + k * int64_t{blockDim.x};
    if (i < n) x[k] = load<hint>(a + i);
    if (i < n) y[k] = load<hint>(b + i);
  }
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    const int64_t i = first + k * int64_t{blockDim.x};
    if (i < n) store<hint>(out + i, make_uint4(x[k].x + y[k].x, x[k].y + y[k].y, x[k].z + y[k].z, x[k].w + y[k].w));
  }
}

// Writes only what no input can be: the loads stay, the stores do not happen.
template <int kVectors, Hint hint>
__global__ void __launch_bounds__(kMaxThreads) read(const uint4* in, uint4* out, int64_t n) {
  const int64_t first = (int64_t{blockIdx.x} * blockDim.x) * kVectors + threadIdx.x;
  uint4 v[kVectors] = {};
#pragma unroll
  for (int k = 0; k < kVectors; ++k) {
    if (first + k * int64_t{blockDim.x} < n) v[k] = load<hint>(in + first + k * int64_t{blockDim.x});
  }
  uint32_t bits = 0;
#pragma unroll
  for (int k = 0; k < kVectors; ++k) bits |= v[k].x | v[k].y | v[k].z | v[k].w;
  if (bits != 0) out[0] = v[0];
}

class Timer {
 public:
  explicit Timer(int samples) : samples_(samples) {
    check(cudaMalloc(&flush_, kFlushBytes));
    check(cudaEventCreate(&start_));
    check(cudaEventCreate(&stop_));
  }

  // Seconds, the median.
  template <class Launch>
  double time(Launch&& launch) {
    std::vector<double> seconds;
    for (int i = 0; i < samples_ + 3; ++i) {
      check(cudaMemsetAsync(flush_, i, kFlushBytes));
      check(cudaEventRecord(start_));
      launch();
      check(cudaGetLastError());
      check(cudaEventRecord(stop_));
      check(cudaEventSynchronize(stop_));
      float ms = 0;
      check(cudaEventElapsedTime(&ms, start_, stop_));
      if (i >= 3) seconds.push_back(ms * 1e-3);
    }
    std::nth_element(seconds.begin(), seconds.begin() + samples_ / 2, seconds.end());
    return seconds[static_cast<size_t>(samples_ / 2)];
  }

 private:
  static constexpr size_t kFlushBytes = size_t{256} << 20;
  int samples_;
  void* flush_ = nullptr;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

// The shortest time of a pattern: 1, 2 and 4 vectors a thread, blocks of 128 to 1024 threads, both hints. `call` takes a kernel's
// template arguments as std::integral_constant, its grid and its block.
template <class Call>
double best(Timer& timer, int64_t n, Call&& call) {
  double shortest = 1e9;
  for (const int threads : {128, 256, 512, kMaxThreads}) {
    const auto sweep = [&](auto vectors) {
      const int64_t per_block = int64_t{threads} * vectors();
      const dim3 grid(static_cast<unsigned>((n + per_block - 1) / per_block));
      const dim3 block(static_cast<unsigned>(threads));
      shortest = std::min(shortest, timer.time([&] { call(vectors, std::integral_constant<Hint, Hint::kNone>(), grid, block); }));
      shortest = std::min(shortest, timer.time([&] { call(vectors, std::integral_constant<Hint, Hint::kStream>(), grid, block); }));
    };
    sweep(std::integral_constant<int, 1>());
    sweep(std::integral_constant<int, 2>());
    sweep(std::integral_constant<int, 4>());
  }
  return shortest;
}

}  // namespace

int main(int argc, char** argv) {
  const int64_t bytes = argc > 1 ? std::atoll(argv[1]) : int64_t{1} << 28;
  Timer timer(argc > 2 ? std::atoi(argv[2]) : 15);
  const int64_t n = bytes / 16;
  uint4* a = nullptr;
  uint4* b = nullptr;
  uint4* out = nullptr;
  for (uint4** array : {&a, &b, &out}) {
    check(cudaMalloc(array, static_cast<size_t>(bytes)));
    check(cudaMemset(*array, 0, static_cast<size_t>(bytes)));
  }
  const double traffic = static_cast<double>(n) * 16;
  const double driver_s = timer.time([&] { check(cudaMemcpyAsync(out, a, static_cast<size_t>(bytes), cudaMemcpyDeviceToDevice)); });
  const double copy_s =
      best(timer, n, [&](auto vectors, auto hint, dim3 grid, dim3 block) { copy<vectors(), hint()><<<grid, block>>>(a, out, n); });
  const double add_s = best(
      timer, n, [&](auto vectors, auto hint, dim3 grid, dim3 block) { add<vectors(), hint()><<<grid, block>>>(a, b, out, n); });
  const double read_s =
      best(timer, n, [&](auto vectors, auto hint, dim3 grid, dim3 block) { read<vectors(), hint()><<<grid, block>>>(a, out, n); });
  std::printf("{\"bytes\": %lld, \"copy\": %.4g, \"add\": %.4g, \"read\": %.4g}\n", static_cast<long long>(bytes),
              2 * traffic / std::min(copy_s, driver_s), 3 * traffic / add_s, traffic / read_s);
  return 0;
}
