#include "src/server/pressure.h"

#include <gtest/gtest.h>

namespace hindsight {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// Works and pauses in turn. RETURNS: for how much of the time there was too much.
double share_too_long(Pressure& pressure, std::int64_t work_ns, std::int64_t pause_ns) {
  std::int64_t now_ns = 1'000'000 * kMs;
  int too_long = 0;
  constexpr int kTurns = 2'000;
  for (int i = 0; i < kTurns; ++i) {
    now_ns += work_ns;
    too_long += pressure.too_long(now_ns) ? 1 : 0;
    pressure.pause_begins(now_ns);
    now_ns += pause_ns;
    pressure.pause_ends(now_ns);
  }
  return static_cast<double>(too_long) / kTurns;
}

TEST(Pressure, ABurstIsBorneAndALastingLoadIsNot) {
  Pressure pressure(50 * kMs);
  pressure.pause_begins(5'000 * kMs);
  pressure.pause_ends(10'000 * kMs);
  EXPECT_FALSE(pressure.too_long(10'000 * kMs));
  EXPECT_FALSE(pressure.too_long(10'050 * kMs));
  EXPECT_TRUE(pressure.too_long(10'051 * kMs));
  EXPECT_TRUE(pressure.too_long(90'000 * kMs));
}

TEST(Pressure, APauseTakesOffManyTimesItsLengthAndNoDebtIsEndless) {
  Pressure pressure(50 * kMs);
  pressure.pause_ends(0);
  EXPECT_TRUE(pressure.too_long(3'600'000 * kMs));
  pressure.pause_begins(3'600'000 * kMs);
  EXPECT_FALSE(pressure.too_long(3'600'006 * kMs)) << "after hours of load, a pause of 6 ms";
}

TEST(Pressure, WhoPausesForATenthOfTheTimeIsNeverUnderIt) {
  Pressure pressure(50 * kMs);
  EXPECT_EQ(share_too_long(pressure, 9 * kMs, kMs), 0.0);
}

TEST(Pressure, ShortPausesDoNotEndALastingLoad) {
  Pressure pressure(50 * kMs);
  EXPECT_GT(share_too_long(pressure, 9'900'000, 100'000), 0.9);
}

TEST(Pressure, UnderLastingLoadTheQueueIsKeptShortButAFewAreNotTooMany) {
  Pressure pressure(15 * kMs);
  pressure.pause_begins(0);
  pressure.pause_ends(100 * kMs);
  EXPECT_EQ(pressure.most_wait_ns(101 * kMs, 1'000, kMs / 8), 15 * kMs) << "a burst";
  EXPECT_EQ(pressure.most_wait_ns(200 * kMs, 16, kMs / 8), 4 * kMs);
  EXPECT_EQ(pressure.most_wait_ns(200 * kMs, 16, kMs / 2), 8 * kMs);
  EXPECT_EQ(pressure.most_wait_ns(200 * kMs, 16, 10 * kMs), 15 * kMs)
      << "never more than in a burst";
  EXPECT_EQ(pressure.most_wait_ns(200 * kMs, 15, kMs / 8), 15 * kMs);
  EXPECT_EQ(pressure.most_wait_ns(200 * kMs, 15, 10 * kMs), 320 * kMs) << "as long as they take";
}

TEST(Pressure, NobodyIsTooLateUnlessTheLoadLastsAndOthersAreRefused) {
  Pressure pressure(15 * kMs);
  pressure.pause_begins(0);
  pressure.pause_ends(100 * kMs);
  pressure.note_refusal(101 * kMs);
  EXPECT_FALSE(pressure.refuses(102 * kMs)) << "a burst";
  EXPECT_FALSE(pressure.refuses(200 * kMs)) << "it lasts, and all that came were let in";
  pressure.note_refusal(200 * kMs);
  EXPECT_TRUE(pressure.refuses(214 * kMs));
  EXPECT_FALSE(pressure.refuses(215 * kMs));
  pressure.note_refusal(215 * kMs);
  pressure.pause_begins(216 * kMs);
  EXPECT_FALSE(pressure.refuses(218 * kMs)) << "there was a pause";
}

TEST(Pressure, ATurnIsTooLateWhenItTookHalfAsMuchAgainAsMayBeExpected) {
  const Pressure pressure(15 * kMs);
  EXPECT_EQ(pressure.too_late_ns(0), 6 * kMs);
  EXPECT_EQ(pressure.too_late_ns(kMs / 8), 6 * kMs);
  EXPECT_EQ(pressure.too_late_ns(10 * kMs), 240 * kMs);
  const Pressure strict(kMs);
  EXPECT_EQ(strict.too_late_ns(0), 3 * kMs / 2);
  EXPECT_EQ(strict.too_late_ns(10 * kMs), 240 * kMs) << "a few that cost much";
}

TEST(Pressure, AClockThatStandsStillOrGoesBackDoesNoHarm) {
  Pressure pressure(50 * kMs);
  pressure.pause_ends(100 * kMs);
  EXPECT_FALSE(pressure.too_long(100 * kMs));
  EXPECT_FALSE(pressure.too_long(50 * kMs));
}

}  // namespace
}  // namespace hindsight
