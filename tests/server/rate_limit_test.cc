#include "src/server/rate_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace hindsight {
namespace {

TEST(RateLimit, ABurstPassesAndTheNextMustWait) {
  RateLimiter limiter({.per_second = 10, .burst = 3});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(limiter.take("a", 1000).wait_ms, 0);
  }
  EXPECT_EQ(limiter.take("a", 1000).wait_ms, 100);
  EXPECT_EQ(limiter.take("a", 1050).wait_ms, 50);
}

TEST(RateLimit, WaitingAsLongAsToldIsEnough) {
  RateLimiter limiter({.per_second = 3, .burst = 1});
  std::int64_t now_ms = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(limiter.take("a", now_ms).wait_ms, 0) << i;
    now_ms += limiter.take("a", now_ms).wait_ms;
  }
  EXPECT_GE(now_ms, 33'300);
  EXPECT_LE(now_ms, 33'500);
}

TEST(RateLimit, IdleTimeEarnsNoMoreThanABurst) {
  RateLimiter limiter({.per_second = 10, .burst = 2});
  EXPECT_EQ(limiter.take("a", 0).wait_ms, 0);
  EXPECT_EQ(limiter.take("a", 1'000'000).wait_ms, 0);
  EXPECT_EQ(limiter.take("a", 1'000'000).wait_ms, 0);
  EXPECT_GT(limiter.take("a", 1'000'000).wait_ms, 0);
}

TEST(RateLimit, OneDoesNotPayForAnother) {
  RateLimiter limiter({.per_second = 1, .burst = 1});
  EXPECT_EQ(limiter.take("a", 0).wait_ms, 0);
  EXPECT_GT(limiter.take("a", 0).wait_ms, 0);
  EXPECT_EQ(limiter.take("b", 0).wait_ms, 0);
}

TEST(RateLimit, TimeThatGoesBackEarnsNothing) {
  RateLimiter limiter({.per_second = 1, .burst = 1});
  EXPECT_EQ(limiter.take("a", 10'000).wait_ms, 0);
  EXPECT_GT(limiter.take("a", 9'000).wait_ms, 0);
  EXPECT_GT(limiter.take("a", 10'500).wait_ms, 0);
  EXPECT_EQ(limiter.take("a", 11'000).wait_ms, 0);
}

TEST(RateLimit, AClockThatWasSetBackGoesOnFromThere) {
  RateLimiter limiter({.per_second = 10.0, .burst = 2.0});
  constexpr std::int64_t kHourMs = 3'600'000;
  EXPECT_EQ(limiter.take("a", 2 * kHourMs).wait_ms, 0);
  EXPECT_EQ(limiter.take("a", 2 * kHourMs).wait_ms, 0);
  EXPECT_EQ(limiter.take("a", kHourMs).wait_ms, 100) << "nothing is gained by it";
  EXPECT_EQ(limiter.take("a", kHourMs + 100).wait_ms, 0) << "nor lost";
}

TEST(RateLimit, ZeroIsNoLimit) {
  RateLimiter limiter({.per_second = 0, .burst = 1});
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(limiter.take("a", 0).wait_ms, 0);
  }
  EXPECT_EQ(limiter.buckets(), 0u);
}

TEST(RateLimit, TheNumberOfBucketsIsBoundedAndTheBusyOneStays) {
  RateLimiter limiter({.per_second = 0.001, .burst = 1, .max_buckets = 64});
  EXPECT_EQ(limiter.take("busy", 0).wait_ms, 0);
  for (int i = 0; i < 10'000; ++i) {
    limiter.take("guest" + std::to_string(i), 0);
    EXPECT_GT(limiter.take("busy", 0).wait_ms, 0) << i;
  }
  EXPECT_LE(limiter.buckets(), 64u);
}

TEST(RateLimit, ThreadsTogetherGetNoMoreThanTheBurst) {
  RateLimiter limiter({.per_second = 1, .burst = 100});
  std::atomic<int> passed = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) {
        passed += limiter.take("a", 0).wait_ms == 0 ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(passed, 100);
}

/// Requests at a rate, evenly, for `seconds`. RETURNS: how many of those that passed were ahead.
int ahead_among(RateLimiter& limiter, double per_second, double seconds) {
  int ahead = 0;
  for (int i = 0; i < static_cast<int>(per_second * seconds); ++i) {
    const RateVerdict verdict =
        limiter.take("a", static_cast<std::int64_t>(1000.0 * i / per_second));
    ahead += verdict.wait_ms == 0 && verdict.ahead ? 1 : 0;
  }
  return ahead;
}

TEST(RateLimit, WhoKeepsToTheRateIsNotAheadOfIt) {
  RateLimiter limiter({.per_second = 200, .burst = 1000});
  EXPECT_EQ(ahead_among(limiter, 199, 20), 0);
}

TEST(RateLimit, WhoComesFasterIsAheadOfTheRateLongBeforeTheBurstIsUsedUp) {
  RateLimiter limiter({.per_second = 200, .burst = 1000});
  EXPECT_NEAR(ahead_among(limiter, 2000, 0.5), 1000 - 6, 3) << "a handful first";
}

TEST(RateLimit, AHandfulAtOnceIsNotAheadOfALowRate) {
  RateLimiter limiter({.per_second = 1, .burst = 50});
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(limiter.take("a", 0).ahead) << i;
  }
  EXPECT_TRUE(limiter.take("a", 0).ahead);
  for (int i = 0; i < 1000; ++i) {
    const RateVerdict verdict = limiter.take("a", 0, true);
    ASSERT_TRUE(verdict.ahead && verdict.wait_ms == 0) << "no token was taken";
  }
  EXPECT_FALSE(limiter.take("b", 0).ahead);
  EXPECT_FALSE(limiter.take("a", 2'000).ahead) << "it has waited since";
}

TEST(RateLimit, HalfOfASmallBurstIsNotAhead) {
  RateLimiter limiter({.per_second = 10, .burst = 2});
  EXPECT_FALSE(limiter.take("a", 0).ahead);
  EXPECT_FALSE(limiter.take("a", 0).ahead);
  const RateVerdict refused = limiter.take("a", 0);
  EXPECT_TRUE(refused.ahead);
  EXPECT_EQ(refused.wait_ms, 100);
}

TEST(RateLimit, AddressesOfOneSubscriberShareABucket) {
  EXPECT_EQ(address_bucket("2001:db8:1:2::1"), "2001:db8:1:2::/64");
  EXPECT_EQ(address_bucket("2001:db8:1:2:ffff::9"), "2001:db8:1:2::/64");
  EXPECT_EQ(address_bucket("fe80::1%eth0"), "fe80::/64");
  EXPECT_NE(address_bucket("2001:db8:1:3::1"), address_bucket("2001:db8:1:2::1"));
  EXPECT_EQ(address_bucket("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(address_bucket("::ffff:192.0.2.7"), "192.0.2.7");
}

}  // namespace
}  // namespace hindsight
