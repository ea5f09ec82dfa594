// How reports of checked kernels are put together.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "core/error.h"
#include "emulator/emulator.h"
#include "simt/simt.h"

namespace oprt {
namespace {

using emulator::Kind;

std::vector<emulator::Report> failed_launch(void (*kernel)(float*), unsigned blocks, float* memory,
                                            std::string* error_text = nullptr) {
  emulator::set_options({emulator::Order::kForward, 0, 2, 30});
  emulator::take_reports();
  try {
    simt::launch(kernel, dim3(blocks), dim3(64), 0, nullptr, memory);
    ADD_FAILURE() << "the launch did not fail";
  } catch (const Error& error) {
    if (error_text != nullptr) *error_text = error.what();
  }
  return emulator::take_reports();
}

__global__ void missing_barrier(float* out) {
  __shared__ float shared[64];
  shared[threadIdx.x] = 1.0f;
  out[threadIdx.x] = shared[63 - threadIdx.x];
}

TEST(ReportTest, AMissingBarrierIsARaceFirstAndAnUninitialisedReadAfterwards) {
  const emulator::BufferScope scope;
  float memory[64] = {};
  emulator::register_buffer("out", memory, sizeof memory, false, false);
  std::string text;
  const auto reports = failed_launch(missing_barrier, 1, memory, &text);
  ASSERT_GE(reports.size(), 2u);
  EXPECT_EQ(reports.front().kind, Kind::kRace);
  EXPECT_EQ(reports.back().kind, Kind::kUninitialisedRead);
  EXPECT_EQ(text.substr(0, 9), "data race");
}

__device__ __forceinline__ void store(float* to) { *to = 1.0f; }
__global__ void call_twice(float* out) {
  if (threadIdx.x == 0) store(out);
  if (threadIdx.x == 1) store(out);
}

TEST(ReportTest, AnInlinedFunctionIsNamedWithItsCallers) {
  const emulator::BufferScope scope;
  float memory[64] = {};
  emulator::register_buffer("out", memory, sizeof memory, false, false);
  const auto reports = failed_launch(call_twice, 1, memory);
  ASSERT_FALSE(reports.empty());
  ASSERT_EQ(reports[0].at.callers.size(), 1u);
  EXPECT_NE(reports[0].at.callers[0].find("report_test.cc:"), std::string::npos) << reports[0].at.callers[0];
}

__global__ void race_everywhere(float* out) { out[0] = static_cast<float>(threadIdx.x); }

TEST(ReportTest, OneFaultOfManyBlocksIsReportedOnce) {
  const emulator::BufferScope scope;
  float memory[64] = {};
  emulator::register_buffer("out", memory, sizeof memory, false, false);
  EXPECT_EQ(failed_launch(race_everywhere, 100, memory).size(), 1u);
}

__global__ void overwrite(float* out) { out[threadIdx.x] = 1.0f; }

TEST(ReportTest, WithoutAScopeAllGlobalMemoryIsOutOfBounds) {
  float memory[64] = {};
  const auto reports = failed_launch(overwrite, 1, memory);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind, Kind::kOutOfBounds);
  EXPECT_NE(reports[0].text.find("memory that no argument covers"), std::string::npos) << reports[0].text;
  EXPECT_EQ(memory[0], 0.0f);
}

__global__ void copy_up(float* memory) { memory[threadIdx.x] += 1.0f; }

TEST(ReportTest, ABufferThatIsInputAndOutputMayBeReadAndWritten) {
  const emulator::BufferScope scope;
  float memory[64] = {};
  emulator::register_buffer("in", memory, sizeof memory, true, true);
  emulator::register_buffer("out", memory, sizeof memory, false, false);
  simt::launch(copy_up, dim3(1), dim3(64), 0, nullptr, static_cast<float*>(memory));
  EXPECT_EQ(memory[63], 1.0f);
}

TEST(ReportTest, WhatOneLaunchWroteTheNextMayRead) {
  const emulator::BufferScope scope;
  float memory[64] = {};
  emulator::register_buffer("workspace", memory, sizeof memory, false, false);
  simt::launch(overwrite, dim3(1), dim3(64), 0, nullptr, static_cast<float*>(memory));
  simt::launch(copy_up, dim3(1), dim3(64), 0, nullptr, static_cast<float*>(memory));
  EXPECT_EQ(memory[63], 2.0f);
}

struct Large {
  float value[100];
};
__global__ void copy_large(float* out) {
  if (threadIdx.x == 0) reinterpret_cast<Large*>(out)[1] = reinterpret_cast<Large*>(out)[0];
}

TEST(ReportTest, ACopyOfALargeStructIsChecked) {
  const emulator::BufferScope scope;
  float memory[200] = {};
  emulator::register_buffer("memory", memory, sizeof memory - 4, false, true);
  const auto reports = failed_launch(copy_large, 1, memory);
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].kind, Kind::kOutOfBounds);
}

}  // namespace
}  // namespace oprt
