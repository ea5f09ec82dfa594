// Pairs of kernels: one with a fault, and its correct twin. A line that a report must name ends in a comment with the fault's name.
#pragma once

#include "core/storage.h"
#include "simt/simt.h"

namespace oprt::twins {

using simt::kWarpSize;

constexpr unsigned kThreads = 128;

template <bool faulty>
__global__ void write_past_the_end(float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (faulty ? i <= n : i < n) out[i] = 1.0f;  // write_past_the_end
}

template <bool faulty>
__global__ void vector_over_the_end(const float* in, float* out, unsigned n) {
  const unsigned i = threadIdx.x * 4;
  if (i + (faulty ? 0 : 3) >= n) return;
  const auto v = simt::load_vector(in + i);  // vector_over_the_end
  out[i] = v.value[0] + v.value[3];
}

template <bool faulty>
__global__ void copy_past_the_end(const char* in, char* out, int bytes) {
  char staged[96];
  if (threadIdx.x != 0) return;
  memcpy(staged, in, static_cast<size_t>(bytes) + (faulty ? 1 : 0));  // copy_past_the_end
  for (int i = 0; i < bytes; ++i) out[i] = staged[i];
}

template <bool faulty>
__global__ void shared_over_the_launch(float* out) {
  OPRT_DYNAMIC_SHARED(float, shared);
  const unsigned i = threadIdx.x + (faulty ? 1 : 0);
  shared[i] = 1.0f;  // shared_over_the_launch
  out[threadIdx.x] = shared[i];
}

template <bool faulty>
__global__ void misaligned_vector(const float* in, float* out) {
  const auto* v = reinterpret_cast<const simt::Vector<float>*>(in + threadIdx.x * 4 + (faulty ? 1 : 0));
  const auto copy = *v;  // misaligned_vector
  out[threadIdx.x] = copy.value[0] + copy.value[3];
}

template <bool faulty>
__global__ void misaligned_load(const float* in, float* out) {
  const auto v = simt::load_vector(in + threadIdx.x * 4 + (faulty ? 1 : 0));  // misaligned_load
  out[threadIdx.x] = v.value[0];
}

template <bool faulty>
__global__ void past_an_array(float* out, unsigned n) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = 1.0f;
  simt::sync_block();
  if (threadIdx.x == 0) shared[faulty ? n : n - 1] = 2.0f;  // past_an_array
  simt::sync_block();
  out[threadIdx.x] = shared[threadIdx.x];
}

template <bool faulty>
__global__ void write_to_an_input(float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x];
  if (faulty && threadIdx.x == 7) in[0] = 0.0f;  // write_to_an_input
}

template <bool faulty>
__global__ void unwritten_static_shared(float* out) {
  __shared__ float shared[kThreads];
  if (!faulty || threadIdx.x < kThreads - 3) shared[threadIdx.x] = 1.0f;
  simt::sync_block();
  out[threadIdx.x] = shared[threadIdx.x];  // unwritten_static_shared
}

template <bool faulty>
__global__ void unwritten_dynamic_shared(float* out) {
  OPRT_DYNAMIC_SHARED(float, shared);
  if (!faulty || threadIdx.x > 2) shared[threadIdx.x] = 1.0f;
  simt::sync_block();
  out[threadIdx.x] = shared[threadIdx.x];  // unwritten_dynamic_shared
}

template <bool faulty>
__global__ void unwritten_output(float* out) {
  if (!faulty) out[threadIdx.x] = 0.0f;
  out[threadIdx.x] += 1.0f;  // unwritten_output
}

template <bool faulty>
__global__ void read_before_written(float* out) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = 0.0f;
  simt::sync_block();
  shared[threadIdx.x] = static_cast<float>(threadIdx.x);  // read_before_written
  if (!faulty) simt::sync_block();
  out[threadIdx.x] = shared[kThreads - 1 - threadIdx.x];  // read_before_written
}

template <bool faulty>
__global__ void written_before_read(float* out) {
  __shared__ float shared[kThreads];
  float sum = 0;
  for (int round = 0; round < 3; ++round) {
    shared[threadIdx.x] = static_cast<float>(round);  // written_before_read
    simt::sync_block();
    sum += shared[(threadIdx.x + kWarpSize) % kThreads];  // written_before_read
    if (!faulty) simt::sync_block();
  }
  out[threadIdx.x] = sum;
}

template <bool faulty>
__global__ void no_warp_barrier(float* out) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = 0.0f;
  simt::sync_block();
  shared[threadIdx.x] = static_cast<float>(threadIdx.x);  // no_warp_barrier
  if (!faulty) simt::sync_warp();
  out[threadIdx.x] = shared[threadIdx.x ^ 1];  // no_warp_barrier
}

// The faulty one's barriers are of halves of a warp, which do not order one half after the other.
template <bool faulty>
__global__ void half_warp_barrier(float* out) {
  __shared__ float shared[kThreads];
  shared[threadIdx.x] = 0.0f;
  simt::sync_block();
  shared[threadIdx.x] = static_cast<float>(threadIdx.x);  // half_warp_barrier
  constexpr uint64_t kLow = (uint64_t{1} << (kWarpSize / 2)) - 1;
  const bool is_low = simt::lane_id() < kWarpSize / 2;
  __syncwarp(is_low ? kLow : kLow << (kWarpSize / 2));
  out[threadIdx.x] = shared[threadIdx.x ^ (faulty ? kWarpSize / 2 : 1)];  // half_warp_barrier
}

template <bool faulty>
__global__ void same_half_word(Float16* out) {
  __shared__ Float16 shared[kThreads];
  shared[faulty ? threadIdx.x & ~1u : threadIdx.x] = {static_cast<uint16_t>(threadIdx.x)};  // same_half_word
  simt::sync_block();
  out[threadIdx.x] = shared[threadIdx.x & ~1u];
}

template <bool faulty>
__global__ void global_within_a_block(float* out) {
  out[threadIdx.x] = 1.0f;  // global_within_a_block
  if (!faulty) simt::sync_block();
  if (threadIdx.x == 5) out[6] = 2.0f;  // global_within_a_block
}

template <bool faulty>
__global__ void total_of_blocks(unsigned* total) {
  if (threadIdx.x != 0) return;
  if (faulty) {
    *total += 1;  // total_of_blocks
  } else {
    simt::fetch_add(total, 1);
  }
}

template <bool faulty>
__global__ void atomic_and_plain(unsigned* total) {
  if (threadIdx.x != 0) return;
  if (faulty && blockIdx.x == 1) {
    *total = 1;  // atomic_and_plain
  } else {
    simt::fetch_add(total, 1);  // atomic_and_plain
  }
}

template <bool faulty>
__global__ void barrier_in_a_branch(float* out) {
  if (!faulty || threadIdx.x < 50) simt::sync_block();  // barrier_in_a_branch
  out[threadIdx.x] = 1.0f;
}

template <bool faulty>
__global__ void return_before_a_barrier(float* out, unsigned n) {
  if (faulty && threadIdx.x >= n) return;
  simt::sync_block();  // return_before_a_barrier
  if (threadIdx.x < n) out[threadIdx.x] = 1.0f;
}

template <bool faulty>
__global__ void two_barriers(float* out) {
  if (!faulty) {
    simt::sync_block();
  } else if (threadIdx.x < 64) {
    simt::sync_block();  // two_barriers
  } else {
    simt::sync_block();  // two_barriers
  }
  out[threadIdx.x] = 1.0f;
}

template <bool faulty>
__global__ void half_a_warp_shuffles(int* out) {
  int value = static_cast<int>(threadIdx.x);
  if (!faulty || simt::lane_id() < kWarpSize / 2) value = simt::shuffle_xor(value, 1);
  simt::sync_block();
  out[threadIdx.x] = value;
}

template <bool faulty>
__global__ void literal_mask(int* out) {
  const uint64_t mask = faulty ? 0xffffu : simt::kFullMask;
  out[threadIdx.x] = __shfl_xor_sync(mask, static_cast<int>(threadIdx.x), 1);  // literal_mask
}

template <bool faulty>
__global__ void wait_for_ever(volatile int* out) {
  if (threadIdx.x == 0) *out = 1;
  if (!faulty || threadIdx.x != 0) return;
  while (*out != 2) {  // wait_for_ever
  }
}

}  // namespace oprt::twins
