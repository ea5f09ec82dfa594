// Every exchange against tables worked out by hand, for each order in which threads run.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "emulator/emulator.h"
#include "simt/simt.h"

namespace oprt {
namespace {

using emulator::Order;
using simt::kWarpSize;

constexpr int kThreads = 2 * kWarpSize;
using Words = std::array<uint64_t, kThreads>;

template <class Body>
__global__ void call_body(Body body, uint64_t* out) {
  out[threadIdx.x] = static_cast<uint64_t>(body(static_cast<int>(threadIdx.x)));
}

class ExchangeTest : public testing::TestWithParam<Order> {
 protected:
  void SetUp() override { emulator::set_options({GetParam(), 7, 1, 30}); }

  // What `body`, called with the thread's number, returns in each of two warps.
  template <class Body>
  Words run(Body body) {
    const emulator::BufferScope scope;
    Words out = {};
    emulator::register_buffer("out", out.data(), sizeof out, false, false);
    simt::launch(call_body<Body>, dim3(1), dim3(kThreads), 0, nullptr, body, out.data());
    return out;
  }

  // `of` for each thread's number.
  template <class Of>
  static Words table(Of of) {
    Words words;
    for (int i = 0; i < kThreads; ++i) words[static_cast<size_t>(i)] = static_cast<uint64_t>(of(i / kWarpSize, i % kWarpSize));
    return words;
  }
};

INSTANTIATE_TEST_SUITE_P(Orders, ExchangeTest, testing::Values(Order::kForward, Order::kReverse, Order::kShuffle));

TEST_P(ExchangeTest, ShuffleReadsTheNamedLaneOfTheWarp) {
  EXPECT_EQ(run([](int i) { return simt::shuffle(i + 100, 3); }), table([](int warp, int) { return warp * kWarpSize + 103; }));
}

TEST_P(ExchangeTest, ShuffleTakesTheLaneModuloTheWidth) {
  EXPECT_EQ(run([](int i) { return __shfl_sync(simt::kFullMask, i, 9, 8); }),
            table([](int warp, int lane) { return warp * kWarpSize + lane / 8 * 8 + 1; }));
}

TEST_P(ExchangeTest, ShuffleXorPairsLanes) {
  EXPECT_EQ(run([](int i) { return simt::shuffle_xor(i, 5); }),
            table([](int warp, int lane) { return warp * kWarpSize + (lane ^ 5); }));
}

TEST_P(ExchangeTest, ShuffleXorReachesAcrossTheWholeWarp) {
  EXPECT_EQ(run([](int i) { return simt::shuffle_xor(i, kWarpSize / 2); }), table([](int warp, int lane) {
              return warp * kWarpSize + (lane < kWarpSize / 2 ? lane + kWarpSize / 2 : lane - kWarpSize / 2);
            }));
}

TEST_P(ExchangeTest, ShuffleDownKeepsTheValueAtTheEndOfTheWarp) {
  EXPECT_EQ(run([](int i) { return simt::shuffle_down(i, 3); }),
            table([](int warp, int lane) { return warp * kWarpSize + (lane + 3 < kWarpSize ? lane + 3 : lane); }));
}

TEST_P(ExchangeTest, ShuffleUpKeepsTheValueAtTheStartOfAGroup) {
  EXPECT_EQ(run([](int i) { return __shfl_up_sync(simt::kFullMask, i, 2, 16); }),
            table([](int warp, int lane) { return warp * kWarpSize + (lane % 16 < 2 ? lane : lane - 2); }));
}

TEST_P(ExchangeTest, ShufflesMoveValuesLargerThanAWord) {
  struct Wide {
    uint64_t low, high;
    uint32_t tail;
  };
  EXPECT_EQ(run([](int i) {
              const auto n = static_cast<uint64_t>(i);
              const Wide got = simt::shuffle_xor(Wide{n, n << 32, static_cast<uint32_t>(i + 1)}, 1);
              return got.low + got.high + got.tail;
            }),
            table([](int warp, int lane) {
              const auto n = static_cast<uint64_t>(warp * kWarpSize + (lane ^ 1));
              return n + (n << 32) + n + 1;
            }));
}

TEST_P(ExchangeTest, BallotHasTheBitOfEachLaneThatVotesForIt) {
  const uint64_t every_third = kWarpSize == 32 ? 0x49249249u : 0x9249249249249249u;  // lanes 0, 3, 6, ...
  EXPECT_EQ(run([](int i) { return simt::ballot(i % kWarpSize % 3 == 0); }), table([&](int, int) { return every_third; }));
}

TEST_P(ExchangeTest, AnyIsTrueIfOneLaneIs) {
  EXPECT_EQ(run([](int i) { return simt::any(i == kWarpSize + 5); }), table([](int warp, int) { return warp; }));
}

TEST_P(ExchangeTest, AllIsTrueIfEveryLaneIs) {
  EXPECT_EQ(run([](int i) { return simt::all(i != 5); }), table([](int warp, int) { return warp; }));
}

TEST_P(ExchangeTest, HalvesOfAWarpExchangeOnTheirOwn) {
  const auto body = [](int i) {
    constexpr uint64_t kLow = (uint64_t{1} << (kWarpSize / 2)) - 1, kHigh = kLow << (kWarpSize / 2);
    if (i % kWarpSize < kWarpSize / 2) return __ballot_sync(kLow, i % 2 == 0);
    return __ballot_sync(kHigh, true);
  };
  const uint64_t low = kWarpSize == 32 ? 0x5555u : 0x55555555u, high = kWarpSize == 32 ? 0xffff0000u : 0xffffffff00000000u;
  EXPECT_EQ(run(body), table([&](int, int lane) { return lane < kWarpSize / 2 ? low : high; }));
}

TEST_P(ExchangeTest, ALaneMayRunAheadIntoAnExchangeWithOtherLanes) {
  const auto body = [](int i) {
    int sum = 0;
    for (int step = 1; step < kWarpSize; step *= 2) sum += simt::shuffle_xor(i, step) * step;
    return sum;
  };
  EXPECT_EQ(run(body), table([](int warp, int lane) {
              int sum = 0;
              for (int step = 1; step < kWarpSize; step *= 2) sum += (warp * kWarpSize + (lane ^ step)) * step;
              return sum;
            }));
}

TEST_P(ExchangeTest, ALaneThatHasReturnedIsNotWaitedFor) {
  const emulator::BufferScope scope;
  std::array<uint64_t, kThreads> out = {};
  emulator::register_buffer("out", out.data(), sizeof out, false, false);
  const auto body = [](uint64_t* result) {
    if (threadIdx.x % 2 == 1) return;
    result[threadIdx.x] = __ballot_sync(simt::kFullMask, true);
  };
  simt::launch(+body, dim3(1), dim3(kThreads), 0, nullptr, out.data());
  EXPECT_EQ(out, table([](int, int lane) {
              const uint64_t even = kWarpSize == 32 ? 0x55555555u : 0x5555555555555555u;
              return lane % 2 == 0 ? even : 0;
            }));
}

TEST_P(ExchangeTest, AReadFromALaneOutsideTheMaskIsAllOnes) {
  const auto body = [](int i) -> uint64_t {
    if (i % kWarpSize >= 2) return 0;
    return __shfl_sync(3, uint64_t{1}, i % kWarpSize == 0 ? 1 : 2);
  };
  EXPECT_EQ(run(body), table([](int, int lane) -> uint64_t { return lane == 0 ? 1 : lane == 1 ? ~uint64_t{0} : 0; }));
}

TEST_P(ExchangeTest, AShortLastWarpExchangesAmongItsLanes) {
  const emulator::BufferScope scope;
  std::array<uint64_t, 5> out = {};
  emulator::register_buffer("out", out.data(), sizeof out, false, false);
  const auto body = [](uint64_t* result) { result[threadIdx.x] = simt::ballot(threadIdx.x != 1); };
  simt::launch(+body, dim3(1), dim3(5), 0, nullptr, out.data());
  EXPECT_EQ(out, (std::array<uint64_t, 5>{0x1d, 0x1d, 0x1d, 0x1d, 0x1d}));
}

}  // namespace
}  // namespace oprt
