#include "src/core/intervals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hindsight/random.h"
#include "src/core/metrics.h"

namespace hindsight {
namespace {

TEST(Intervals, WilsonSolvesItsEquation) {
  // Its ends are the shares p for which (observed - p)^2 = z^2 p (1 - p) / n.
  for (const std::uint64_t n : {1ULL, 7ULL, 40ULL, 1000000ULL}) {
    for (std::uint64_t k = 0; k <= n; k += std::max<std::uint64_t>(1, n / 7)) {
      const Interval interval = *wilson_interval(k, n);
      const double share = static_cast<double>(k) / static_cast<double>(n);
      EXPECT_LE(0.0, interval.low);
      EXPECT_LE(interval.low, share);
      EXPECT_LE(share, interval.high);
      EXPECT_LE(interval.high, 1.0);
      for (const double p : {interval.low, interval.high}) {
        const double distance = (share - p) * (share - p);
        EXPECT_NEAR(distance, kNormal95 * kNormal95 * p * (1.0 - p) / static_cast<double>(n),
                    1e-12);
      }
    }
  }
}

TEST(Intervals, WilsonHasThePrintedValues) {
  // 81 of 263: Newcombe, Statistics in Medicine 17 (1998), Table I, method 3.
  EXPECT_NEAR(wilson_interval(81, 263)->low, 0.2553, 5e-5);
  EXPECT_NEAR(wilson_interval(81, 263)->high, 0.3662, 5e-5);
  EXPECT_NEAR(wilson_interval(0, 20)->high, 0.1611, 5e-5);
  EXPECT_EQ(wilson_interval(0, 20)->low, 0.0);
  EXPECT_EQ(wilson_interval(29, 29)->high, 1.0);
}

TEST(Intervals, NothingIsSaidOfNothing) {
  EXPECT_FALSE(wilson_interval(0, 0));
  EXPECT_FALSE(mean_interval(0, 0.0, 0.0));
  EXPECT_FALSE(mean_interval(1, 0.5, 0.25));
}

TEST(Intervals, TheMeansIntervalIsItsStandardErrorToEitherSide) {
  Rng rng(5);
  Mean mean;
  double sum = 0.0;
  double squares = 0.0;
  for (int i = 0; i < 1000; ++i) {
    const double x = rng.uniform();
    mean.add(x);
    sum += x;
    squares += x * x;
  }
  const Interval interval = *mean_interval(1000, sum, squares);
  EXPECT_NEAR(interval.low, mean.value() - kNormal95 * *mean.standard_error(), 1e-12);
  EXPECT_NEAR(interval.high, mean.value() + kNormal95 * *mean.standard_error(), 1e-12);
}

TEST(Intervals, EqualNumbersHaveAnIntervalOfNoWidth) {
  EXPECT_EQ(*mean_interval(3, 1.5, 0.75), (Interval{.low = 0.5, .high = 0.5}));
}

TEST(Intervals, AboutOneInTwentyMissesTheTruth) {
  // 4,000 samples of 50: misses are binomial around 5% (Wilson is near its level at p = 0.3), so
  // beyond 3.3% to 6.7% by chance with probability below 1e-5.
  Rng rng(11);
  int shares_missed = 0;
  int means_missed = 0;
  constexpr int kSamples = 4000;
  for (int sample = 0; sample < kSamples; ++sample) {
    std::uint64_t successes = 0;
    double sum = 0.0;
    double squares = 0.0;
    for (int i = 0; i < 50; ++i) {
      successes += rng.uniform() < 0.3 ? 1 : 0;
      const double x = rng.uniform();
      sum += x;
      squares += x * x;
    }
    const Interval share = *wilson_interval(successes, 50);
    const Interval mean = *mean_interval(50, sum, squares);
    shares_missed += share.low > 0.3 || share.high < 0.3 ? 1 : 0;
    means_missed += mean.low > 0.5 || mean.high < 0.5 ? 1 : 0;
  }
  EXPECT_NEAR(shares_missed, 0.05 * kSamples, 0.017 * kSamples);
  EXPECT_NEAR(means_missed, 0.055 * kSamples, 0.017 * kSamples);
}

}  // namespace
}  // namespace hindsight
