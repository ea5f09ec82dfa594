// Each kind of fault is reported at its line, and its correct twin is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/error.h"
#include "emulator/check.h"
#include "emulator/emulator.h"
#include "twins.h"

namespace oprt {
namespace {

using emulator::Kind;
using emulator::Order;
using twins::kThreads;

constexpr unsigned kMemory = 512;  // elements that kernels are given, unless the twin says otherwise

struct Memory {
  alignas(16) float in[kMemory] = {};
  alignas(16) float out[kMemory] = {};
};

struct Twin {
  const char* name;
  Kind kind;
  const char* text;  // part of the report's
  std::function<void(bool is_faulty, Memory&)> launch;
  bool has_line = true;
};

// Launches the faulty or the correct one with those arguments.
#define OPRT_TWIN(kernel, kind, text, blocks, shared_bytes, ...)                                                                \
  Twin {                                                                                                                        \
    #kernel, kind, text, [](bool is_faulty, [[maybe_unused]] Memory& memory) {                                                  \
      simt::launch(is_faulty ? twins::kernel<true> : twins::kernel<false>, dim3(blocks), dim3(kThreads), shared_bytes, nullptr, \
                   __VA_ARGS__);                                                                                                \
    }                                                                                                                           \
  }

char* bytes(float* memory) { return reinterpret_cast<char*>(memory); }
int* ints(float* memory) { return reinterpret_cast<int*>(memory); }
unsigned* counts(float* memory) { return reinterpret_cast<unsigned*>(memory); }
Float16* halves(float* memory) { return reinterpret_cast<Float16*>(memory); }

std::vector<Twin> all_twins() {
  constexpr size_t kShared = kThreads * sizeof(float);
  std::vector<Twin> twins = {
      OPRT_TWIN(write_past_the_end, Kind::kOutOfBounds, "write of 4 bytes at 0 bytes past the end of out (2048 bytes)", 5, 0,
                memory.out, kMemory),
      OPRT_TWIN(vector_over_the_end, Kind::kOutOfBounds, "in (404 bytes)", 1, 0, memory.in, memory.out, 101u),
      OPRT_TWIN(copy_past_the_end, Kind::kOutOfBounds, "read of 65 bytes at byte 1984 of in (2048 bytes), over its end", 1, 0,
                bytes(memory.in + kMemory - 16), bytes(memory.out), 64),
      OPRT_TWIN(shared_over_the_launch, Kind::kOutOfBounds, "at byte 512 of dynamic shared memory (512 bytes)", 1, kShared,
                memory.out),
      OPRT_TWIN(misaligned_vector, Kind::kMisaligned, "is not a multiple of 16, byte ", 1, 0, memory.in, memory.out),
      OPRT_TWIN(misaligned_load, Kind::kMisaligned, "is not a multiple of 16, byte ", 1, 0, memory.in, memory.out),
      OPRT_TWIN(past_an_array, Kind::kArrayBounds, "index 128 is outside an array", 1, 0, memory.out, kThreads),
      OPRT_TWIN(write_to_an_input, Kind::kReadOnlyWrite, "write of 4 bytes at byte 0 of in (2048 bytes)", 1, 0, memory.in,
                memory.out),
      OPRT_TWIN(unwritten_static_shared, Kind::kUninitialisedRead, "static shared memory", 1, 0, memory.out),
      OPRT_TWIN(unwritten_dynamic_shared, Kind::kUninitialisedRead, "dynamic shared memory (512 bytes)", 1, kShared, memory.out),
      OPRT_TWIN(unwritten_output, Kind::kUninitialisedRead, "of out (2048 bytes)", 1, 0, memory.out),
      OPRT_TWIN(read_before_written, Kind::kRace, "static shared memory", 1, 0, memory.out),
      OPRT_TWIN(written_before_read, Kind::kRace, "static shared memory", 1, 0, memory.out),
      OPRT_TWIN(no_warp_barrier, Kind::kRace, "static shared memory", 1, 0, memory.out),
      OPRT_TWIN(half_warp_barrier, Kind::kRace, "static shared memory", 1, 0, memory.out),
      OPRT_TWIN(same_half_word, Kind::kRace, "write of 2 bytes", 1, 0, halves(memory.out)),
      OPRT_TWIN(global_within_a_block, Kind::kRace, "write of 4 bytes at byte 24 of out", 1, 0, memory.out),
      OPRT_TWIN(total_of_blocks, Kind::kRace, "byte 0 of total (4 bytes)", 8, 0, counts(memory.in)),
      OPRT_TWIN(atomic_and_plain, Kind::kRace, "byte 0 of total (4 bytes)", 8, 0, counts(memory.in)),
      OPRT_TWIN(barrier_in_a_branch, Kind::kDivergentBarrier, "50 of 128 threads", 1, 0, memory.out),
      OPRT_TWIN(return_before_a_barrier, Kind::kDivergentBarrier, "100 of 128 threads", 1, 0, memory.out, 100u),
      OPRT_TWIN(two_barriers, Kind::kDivergentBarrier, "different calls of sync_block", 1, 0, memory.out),
      OPRT_TWIN(half_a_warp_shuffles, Kind::kDeadlock, "wait in shuffle_xor", 1, 0, ints(memory.out)),
      OPRT_TWIN(literal_mask, Kind::kWrongMask, "with mask 0xffff and width", 1, 0, ints(memory.out)),
      OPRT_TWIN(wait_for_ever, Kind::kHang, "has not ended", 1, 0, ints(memory.out)),
  };
  for (Twin& twin : twins) twin.has_line = twin.kind != Kind::kDeadlock;
  return twins;
}

class TwinTest : public testing::TestWithParam<std::tuple<Twin, Order>> {
 protected:
  const Twin& twin() const { return std::get<0>(GetParam()); }

  // Reports of a launch; each must be what the launch failed with.
  std::vector<emulator::Report> run(bool is_faulty) {
    emulator::set_options({std::get<1>(GetParam()), 5, 2, is_faulty ? 0.2 : 30});
    emulator::take_reports();
    const emulator::BufferScope scope;
    Memory memory;
    const bool is_total = twin().text == std::string("byte 0 of total (4 bytes)");
    if (is_total) {
      emulator::register_buffer("total", memory.in, 4, false, true);
    } else {
      emulator::register_buffer("in", memory.in, twin().text == std::string("in (404 bytes)") ? 404 : sizeof memory.in, true, true);
      emulator::register_buffer("out", memory.out, sizeof memory.out, false, false);
    }
    bool has_failed = false;
    try {
      twin().launch(is_faulty, memory);
    } catch (const Error& error) {
      has_failed = error.status() == OPRT_ERR_DEVICE_ERROR;
    }
    const auto reports = emulator::take_reports();
    EXPECT_EQ(has_failed, !reports.empty());
    return reports;
  }

  // The lines of twins.h that end in the twin's name.
  std::set<int> marked_lines() const {
    const std::string file = std::string(__FILE__).substr(0, std::string(__FILE__).rfind('/')) + "/twins.h";
    std::ifstream stream(file);
    std::set<int> lines;
    std::string line;
    for (int number = 1; std::getline(stream, line); ++number) {
      if (line.ends_with(std::string("  // ") + twin().name)) lines.insert(number);
    }
    return lines;
  }
};

std::string name_of(const testing::TestParamInfo<TwinTest::ParamType>& info) {
  constexpr const char* kOrders[] = {"forward", "reverse", "shuffle"};
  return std::string(std::get<0>(info.param).name) + "_" + kOrders[static_cast<int>(std::get<1>(info.param))];
}

INSTANTIATE_TEST_SUITE_P(Twins, TwinTest,
                         testing::Combine(testing::ValuesIn(all_twins()),
                                          testing::Values(Order::kForward, Order::kReverse, Order::kShuffle)),
                         name_of);

TEST_P(TwinTest, TheFaultyKernelIsReportedAtItsLines) {
  ASSERT_TRUE(emulator::is_checked());
  const auto reports = run(true);
  ASSERT_FALSE(reports.empty());
  const auto lines = marked_lines();
  EXPECT_EQ(lines.empty(), !twin().has_line);
  std::set<int> reported;
  for (const auto& report : reports) {
    EXPECT_EQ(report.kind, twin().kind) << report.text;
    EXPECT_NE(report.text.find(twin().text), std::string::npos) << report.text;
    EXPECT_NE(report.kernel.find(std::string("oprt::twins::") + twin().name), std::string::npos) << report.kernel;
    if (!twin().has_line) continue;
    EXPECT_TRUE(report.at.file.ends_with("checked/twins.h")) << report.text;
    reported.insert(report.at.line);
    EXPECT_EQ(report.other.size(), report.kind == Kind::kRace ? 1u : 0u);
    for (const auto& other : report.other) reported.insert(other.line);
  }
  if (twin().kind == Kind::kDivergentBarrier) {
    EXPECT_TRUE(std::includes(lines.begin(), lines.end(), reported.begin(), reported.end())) << reports.front().text;
  } else {
    EXPECT_EQ(reported, lines) << reports.front().text;
  }
}

TEST_P(TwinTest, TheCorrectTwinIsNotReported) {
  const auto reports = run(false);
  EXPECT_TRUE(reports.empty()) << reports.front().text;
}

}  // namespace
}  // namespace oprt
