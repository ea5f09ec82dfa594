// Launches, barriers, shared memory, and the ways in which a block can get stuck.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "emulator/emulator.h"
#include "simt/simt.h"

namespace oprt {
namespace {

using emulator::Kind;
using emulator::Order;
using simt::kWarpSize;

class EngineTest : public testing::TestWithParam<Order> {
 protected:
  void SetUp() override {
    emulator::set_options({GetParam(), 11, 2, 30});
    emulator::take_reports();
  }

  // Launches `kernel`, which must fail in that way, and returns its only report.
  template <class... Params, class... Args>
  emulator::Report fail(void (*kernel)(Params...), dim3 block, Args... args) {
    try {
      simt::launch(kernel, dim3(1), block, 0, nullptr, args...);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), OPRT_ERR_DEVICE_ERROR);
      const auto reports = emulator::take_reports();
      if (reports.size() == 1) {
        EXPECT_EQ(reports.front().text.substr(0, 400), std::string(error.what()).substr(0, 400));
        return reports.front();
      }
      ADD_FAILURE() << reports.size() << " reports";
      return {};
    }
    ADD_FAILURE() << "the launch did not fail";
    return {};
  }

  // Memory that kernels of this test may touch.
  template <class T>
  std::vector<T>& buffer(size_t count) {
    static std::vector<T> memory;
    memory.assign(count, T{});
    emulator::register_buffer("memory", memory.data(), count * sizeof(T), false, true);
    return memory;
  }

 private:
  emulator::BufferScope scope_;
};

INSTANTIATE_TEST_SUITE_P(Orders, EngineTest, testing::Values(Order::kForward, Order::kReverse, Order::kShuffle));

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

__global__ void number_threads(uint64_t* out) {
  const uint64_t block = blockIdx.x + gridDim.x * (blockIdx.y + uint64_t{gridDim.y} * blockIdx.z);
  const uint64_t thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] += block * 1000 + thread;
}

TEST_P(EngineTest, EveryThreadOfEveryBlockRunsOnce) {
  auto& out = buffer<uint64_t>(3 * 5 * 2 * 4 * 3 * 2);
  simt::launch(number_threads, dim3(3, 5, 2), dim3(4, 3, 2), 0, nullptr, out.data());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i / 24 * 1000 + i % 24);
}

__global__ void reverse_block(int* out) {
  __shared__ int shared[1024];
  for (int round = 0; round < 3; ++round) {
    shared[threadIdx.x] = out[threadIdx.x] + 1;
    simt::sync_block();
    out[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
    simt::sync_block();
  }
}

TEST_P(EngineTest, BarriersLetThreadsReadWhatOthersWrote) {
  for (const unsigned threads : {1u, 2u, 33u, 256u, 1024u}) {
    auto& out = buffer<int>(threads);
    std::iota(out.begin(), out.end(), 0);
    simt::launch(reverse_block, dim3(1), dim3(threads), 0, nullptr, out.data());
    for (int i = 0; i < static_cast<int>(threads); ++i)
      EXPECT_EQ(out[static_cast<size_t>(i)], static_cast<int>(threads) - 1 - i + 3);
  }
}

__global__ void sum_blocks(float* out) {
  OPRT_DYNAMIC_SHARED(float, shared);
  shared[threadIdx.x] = static_cast<float>(threadIdx.x);
  simt::sync_block();
  const float sum = simt::block_reduce<256>(shared[255 - threadIdx.x], 0.0f, simt::Sum{});
  if (threadIdx.x == 0) out[blockIdx.x] = sum + static_cast<float>(blockIdx.x);
}

TEST_P(EngineTest, BlocksOnSeveralThreadsOfTheHostHaveTheirOwnSharedMemory) {
  auto& out = buffer<float>(500);
  simt::launch(sum_blocks, dim3(500), dim3(256), 256 * sizeof(float), nullptr, out.data());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 255.0f * 128.0f + static_cast<float>(i));
}

__global__ void count_all(unsigned* total, unsigned* order) { order[simt::fetch_add(total, 1)] = threadIdx.x; }

TEST_P(EngineTest, ThreadsStartInTheOrderAskedFor) {
  auto& memory = buffer<unsigned>(65);
  simt::launch(count_all, dim3(1), dim3(64), 0, nullptr, memory.data(), memory.data() + 1);
  EXPECT_EQ(memory[0], 64u);
  const std::vector<unsigned> order(memory.begin() + 1, memory.end());
  std::vector<unsigned> forward(64);
  std::iota(forward.begin(), forward.end(), 0u);
  const std::vector<unsigned> backward(forward.rbegin(), forward.rend());
  EXPECT_EQ(order == forward, GetParam() == Order::kForward);
  EXPECT_EQ(order == backward, GetParam() == Order::kReverse);
  std::vector<unsigned> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, forward);
}

__global__ void do_nothing() {}

TEST_P(EngineTest, LaunchesOutsideADevicesLimitsAreRefused) {
  EXPECT_THROW(simt::launch(do_nothing, dim3(0), dim3(1), 0, nullptr), Error);
  EXPECT_THROW(simt::launch(do_nothing, dim3(1), dim3(1025), 0, nullptr), Error);
  EXPECT_THROW(simt::launch(do_nothing, dim3(1), dim3(32, 33), 0, nullptr), Error);
  EXPECT_THROW(simt::launch(do_nothing, dim3(1u << 31), dim3(1), 0, nullptr), Error);
  EXPECT_THROW(simt::launch(do_nothing, dim3(1), dim3(1), emulator::kMaxSharedBytes + 1, nullptr), Error);
  EXPECT_THROW(simt::prepare(do_nothing, emulator::kMaxSharedBytes + 1), Error);
  EXPECT_TRUE(emulator::take_reports().empty());
}

__global__ void barrier_of_some(unsigned count) {
  if (threadIdx.x < count) simt::sync_block();  // line of the barrier
}

TEST_P(EngineTest, ABarrierThatSomeThreadsReturnedFromIsReported) {
  const auto report = fail(barrier_of_some, dim3(96), 60u);
  EXPECT_EQ(report.kind, Kind::kDivergentBarrier);
  EXPECT_TRUE(contains(report.text, "60 of 96 threads")) << report.text;
  EXPECT_TRUE(contains(report.text, "36 threads (60-95) have returned")) << report.text;
  EXPECT_TRUE(contains(report.text, "60 threads (0-59) wait in sync_block at tests/emulator/engine_test.cc:")) << report.text;
  EXPECT_TRUE(contains(report.kernel, "barrier_of_some")) << report.kernel;
}

__global__ void two_barriers() {
  if (threadIdx.x < 32) {
    simt::sync_block();
  } else {
    simt::sync_block();
  }
}

TEST_P(EngineTest, ThreadsThatMeetInDifferentBarriersAreReported) {
  const auto report = fail(two_barriers, dim3(64));
  EXPECT_EQ(report.kind, Kind::kDivergentBarrier);
  EXPECT_TRUE(contains(report.text, "different calls of sync_block")) << report.text;
}

__global__ void half_a_warp(int* out) {
  int value = 1;
  if (threadIdx.x % kWarpSize < kWarpSize / 2) value = simt::shuffle_xor(value, 1);
  simt::sync_block();
  out[threadIdx.x] = value;
}

TEST_P(EngineTest, ADeadlockNamesWhatEachThreadWaitsFor) {
  const auto report = fail(half_a_warp, dim3(kWarpSize), buffer<int>(kWarpSize).data());
  EXPECT_EQ(report.kind, Kind::kDeadlock);
  EXPECT_TRUE(contains(report.text, "wait in shuffle_xor with mask 0xffffffff")) << report.text;
  EXPECT_TRUE(contains(report.text, "wait in sync_block")) << report.text;
}

__global__ void literal_mask(uint64_t* out) { out[threadIdx.x] = __ballot_sync(0xffffffffu, true); }

TEST_P(EngineTest, AMaskWithoutTheCallingLaneIsReported) {
  auto& out = buffer<uint64_t>(64);
  if (kWarpSize == 32) {
    simt::launch(literal_mask, dim3(1), dim3(64), 0, nullptr, out.data());
    EXPECT_EQ(out[63], 0xffffffffu);
    return;
  }
  const auto report = fail(literal_mask, dim3(64), out.data());
  EXPECT_EQ(report.kind, Kind::kWrongMask);
  EXPECT_TRUE(contains(report.text, "with mask 0xffffffff and width 64")) << report.text;
  EXPECT_GE(report.at.thread.x, 32u);
}

__global__ void spin(const volatile int* flag, bool with_barrier) {
  while (*flag == 0) {
    if (with_barrier) simt::sync_block();
  }
}

TEST_P(EngineTest, ABlockThatDoesNotEndIsReportedAsHung) {
  emulator::set_options({GetParam(), 11, 2, 0.2});
  for (const bool with_barrier : {false, true}) {
    const auto report = fail(spin, dim3(64), buffer<int>(1).data(), with_barrier);
    EXPECT_EQ(report.kind, Kind::kHang);
    // The line that was interrupted may be of the dialect, inlined here.
    std::string lines = report.at.file;
    for (const std::string& caller : report.at.callers) lines += " " + caller;
    EXPECT_TRUE(contains(lines, "engine_test.cc")) << emulator::to_text(report);
  }
  simt::launch(do_nothing, dim3(3), dim3(64), 0, nullptr);  // and the next launch is as good as any
}

__global__ void read_misaligned(const uint4* in, uint4* out) { *out = simt::load16<simt::Cache::kNormal>(in); }

TEST_P(EngineTest, AVectorThatIsNotAlignedIsReported) {
  auto* memory = buffer<uint4>(4).data();
  const auto* in = reinterpret_cast<const uint4*>(reinterpret_cast<const char*>(memory) + 4);
  const auto report = fail(read_misaligned, dim3(1), in, memory + 3);
  EXPECT_EQ(report.kind, Kind::kMisaligned);
  EXPECT_TRUE(contains(report.text, "is not a multiple of 16")) << report.text;
}

TEST_P(EngineTest, AReportIsJson) {
  const auto report = fail(barrier_of_some, dim3(64), 60u);
  const std::string json = emulator::to_json({report});
  EXPECT_TRUE(contains(json, "[{\"kind\": \"divergent_barrier\", \"kernel\": \"")) << json;
  EXPECT_TRUE(contains(json, "\\u000a  4 threads (60-63) have returned")) << json;
  EXPECT_TRUE(contains(json, "\"block\": [0, 0, 0]")) << json;
  EXPECT_TRUE(contains(emulator::to_text(report), "simt::sync_block();  // line of the barrier")) << emulator::to_text(report);
}

__global__ void convert(const float* in, float* out) {
  out[0] = simt::exp2_fast(in[0]);
  out[1] = simt::exp2_fast(-126.0f);
  out[2] = simt::to_float(simt::from_float<Float16>(in[1]));
  out[3] = simt::to_float(simt::from_float<BFloat16>(in[1]));
}

TEST_P(EngineTest, ArithmeticIsTheDialects) {
  auto& memory = buffer<float>(6);
  memory = {-126.5f, 1.0009766f, 0, 0, 0, 0};
  simt::launch(convert, dim3(1), dim3(1), 0, nullptr, memory.data(), memory.data() + 2);
  EXPECT_EQ(memory[2], 0.0f);
  EXPECT_EQ(memory[3], 0x1p-126f);
  EXPECT_EQ(memory[4], 1.0009765625f);
  EXPECT_EQ(memory[5], 1.0f);
}

}  // namespace
}  // namespace oprt
