#include "src/engine/cpu_share.h"

#include <gtest/gtest.h>

#include <thread>

#include "hindsight/random.h"

namespace hindsight {
namespace {

constexpr std::int64_t kMs = 1'000'000;

TEST(CpuShare, SleepsOffWhatWasUsed) {
  for (const double share : {1.0, 0.5, 0.1, 0.01}) {
    std::int64_t used = 0;
    std::int64_t slept = 0;
    CpuShare pace(
        share, [&] { return used; }, [&](std::int64_t ns) { slept += ns; });
    const std::atomic<bool> ended{false};
    Rng rng(3);
    for (int i = 0; i < 10'000; ++i) {
      used += static_cast<std::int64_t>(rng.below(5 * kMs));
      ASSERT_TRUE(pace.go_on(ended));
      // At any moment no more than a piece of work is ahead of its share.
      const double allowed = share * static_cast<double>(used + slept);
      ASSERT_LE(static_cast<double>(used), allowed + 2.0 * kMs);
    }
    EXPECT_NEAR(static_cast<double>(used) / static_cast<double>(used + slept), share, 1e-3);
  }
}

TEST(CpuShare, DoesNotSleepForAlmostNothing) {
  std::int64_t used = 0;
  int sleeps = 0;
  CpuShare pace(
      0.1, [&] { return used; }, [&](std::int64_t) { ++sleeps; });
  const std::atomic<bool> ended{false};
  for (int i = 0; i < 19; ++i) {
    used += kMs / 10;
    pace.go_on(ended);
  }
  EXPECT_EQ(sleeps, 0);
  used += kMs / 10;
  pace.go_on(ended);
  EXPECT_EQ(sleeps, 1);
}

TEST(CpuShare, EndsWhenItsWorkIsOverOrItIsStopped) {
  std::int64_t used = 0;
  CpuShare pace(
      0.1, [&] { return used; }, [](std::int64_t) {});
  std::atomic<bool> ended{false};
  EXPECT_TRUE(pace.go_on(ended));
  ended = true;
  EXPECT_FALSE(pace.go_on(ended));
  ended = false;
  EXPECT_TRUE(pace.go_on(ended));
  pace.stop();
  EXPECT_FALSE(pace.go_on(ended));
}

TEST(CpuShare, ASleeperIsWoken) {
  // 10 ms of work at a millionth: it would sleep for hours.
  for (const bool by_stop : {false, true}) {
    CpuShare pace(1e-6, [] { return 10 * kMs; });
    std::atomic<bool> ended{false};
    std::thread worker([&] { EXPECT_FALSE(pace.go_on(ended)); });
    if (by_stop) {
      pace.stop();
    } else {
      ended = true;
      pace.wake();
    }
    worker.join();
  }
}

TEST(CpuShare, ThreadsHaveTheirOwnClock) {
  const std::int64_t before = thread_cpu_ns();
  volatile double sum = 0.0;
  for (int i = 0; i < 100'000; ++i) {
    sum = sum + 1.0;
  }
  EXPECT_GT(thread_cpu_ns(), before);
}

}  // namespace
}  // namespace hindsight
