#include "src/server/lanes.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace hindsight {
namespace {

constexpr std::int64_t kUs = 1000;
constexpr std::int64_t kMs = 1000 * kUs;

/// Serves for a while, each job at its lane's cost. RETURNS: the time that each lane has had
std::map<std::uint64_t, std::int64_t> serve(Lanes& lanes, std::int64_t time_ns,
                                            std::map<std::uint64_t, std::int64_t>& costs,
                                            std::uint64_t& current) {
  std::map<std::uint64_t, std::int64_t> used;
  while (time_ns > 0 && !lanes.empty()) {
    lanes.pop()();
    used[current] += costs[current];
    time_ns -= costs[current];
    lanes.charge(current, costs[current]);
  }
  return used;
}

TEST(Lanes, NobodyWaitsWhileThereIsTimeToSpare) {
  Lanes lanes;
  std::int64_t now_ns = 5 * kMs;
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(lanes.must_wait(now_ns));
    EXPECT_EQ(lanes.expected_wait_ns(7), 0);
    lanes.charge(7, 20 * kUs);
    now_ns += kMs / 10;
  }
}

TEST(Lanes, ABusyThreadLooksAtItsSocketsBeforeItGoesOn) {
  Lanes lanes;
  EXPECT_FALSE(lanes.must_wait(5 * kMs));
  lanes.charge(7, 3 * kMs);  // one costly request, or
  EXPECT_TRUE(lanes.must_wait(8 * kMs));
  EXPECT_FALSE(lanes.must_wait(9 * kMs)) << "it has rested since";
  std::int64_t now_ns = 9 * kMs;  // many cheap ones
  bool tired = false;
  for (int i = 0; i < 100 && !tired; ++i) {
    lanes.charge(7, 10 * kUs);
    now_ns += 12 * kUs;
    tired = lanes.must_wait(now_ns);
  }
  EXPECT_TRUE(tired);
}

TEST(Lanes, OneLaneIsServedInTheOrderOfComing) {
  Lanes lanes;
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) {
    lanes.push(1, [&order, i] { order.push_back(i); });
  }
  EXPECT_EQ(lanes.queued(), 5U);
  while (!lanes.empty()) {
    lanes.pop()();
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_FALSE(lanes.pop());
}

TEST(Lanes, LanesShareTheTimeWhateverTheyAskFor) {
  Lanes lanes;
  std::uint64_t current = 0;
  // The second asks for ten times as much, and its requests cost three times as much.
  std::map<std::uint64_t, std::int64_t> costs = {{1, 10 * kUs}, {2, 30 * kUs}, {3, 20 * kUs}};
  for (const auto& [lane, count] : std::map<std::uint64_t, int>{{1, 2000}, {2, 20000}, {3, 2000}}) {
    for (int i = 0; i < count; ++i) {
      lanes.push(lane, [&current, id = lane] { current = id; });
    }
  }
  const auto used = serve(lanes, 30 * kMs, costs, current);
  for (const std::uint64_t lane : {1, 2, 3}) {
    EXPECT_NEAR(static_cast<double>(used.at(lane)), 10.0 * kMs, 0.5 * kMs) << lane;
  }
}

TEST(Lanes, ANewcomerIsServedNextAndHasSavedNothingUp) {
  Lanes lanes;
  std::uint64_t current = 0;
  std::map<std::uint64_t, std::int64_t> costs = {{1, 10 * kUs}, {2, 10 * kUs}};
  for (int i = 0; i < 10'000; ++i) {
    lanes.push(1, [&current] { current = 1; });
  }
  serve(lanes, 50 * kMs, costs, current);
  EXPECT_EQ(lanes.expected_wait_ns(2), 0);
  EXPECT_GT(lanes.expected_wait_ns(1), 0);
  for (int i = 0; i < 1000; ++i) {
    lanes.push(2, [&current] { current = 2; });
  }
  const auto used = serve(lanes, 4 * kMs, costs, current);
  EXPECT_NEAR(static_cast<double>(used.at(2)), 2.0 * kMs, 0.1 * kMs);
}

TEST(Lanes, TheExpectedWaitFollowsTheMeasuredCost) {
  Lanes lanes;
  for (int i = 0; i < 200; ++i) {
    lanes.charge(1, kMs);
    lanes.charge(2, kMs);
  }
  for (int i = 0; i < 100; ++i) {
    lanes.push(1, [] {});
  }
  EXPECT_NEAR(static_cast<double>(lanes.expected_wait_ns(1)), 100.0 * kMs, kMs);
  lanes.push(2, [] {});
  // Two lanes take turns, but the second has only one request.
  EXPECT_NEAR(static_cast<double>(lanes.expected_wait_ns(1)), 101.0 * kMs, kMs);
  EXPECT_NEAR(static_cast<double>(lanes.expected_wait_ns(2)), 2.0 * kMs, kMs);
  while (!lanes.empty()) {
    lanes.pop();
  }
  EXPECT_EQ(lanes.expected_wait_ns(1), 0);
}

TEST(Lanes, OneSlowMeasurementIsNotBelieved) {
  Lanes lanes;
  for (int i = 0; i < 100; ++i) {
    lanes.charge(1, 20 * kUs);
    lanes.note_pace(20 * kUs);
  }
  lanes.charge(1, 1000 * kMs);
  lanes.note_pace(5000 * kMs);
  for (int i = 0; i < 16; ++i) {
    lanes.push(1, [] {});
  }
  EXPECT_LT(lanes.expected_wait_ns(1), kMs);
}

TEST(Lanes, WhatTheThreadDoesBesideServingMakesTheWaitLonger) {
  Lanes lanes;
  for (int i = 0; i < 200; ++i) {
    lanes.charge(1, kMs);
    lanes.note_pace(3 * kMs);
  }
  for (int i = 0; i < 100; ++i) {
    lanes.push(1, [] {});
  }
  EXPECT_NEAR(static_cast<double>(lanes.expected_wait_ns(1)), 300.0 * kMs, kMs);
}

TEST(Lanes, LanesThatAreNotUsedAreForgotten) {
  Lanes lanes;
  for (std::uint64_t lane = 1; lane < 100'000; ++lane) {
    lanes.push(lane, [] {});
    lanes.pop();
    lanes.charge(lane, kUs);
  }
  EXPECT_TRUE(lanes.empty());
}

}  // namespace
}  // namespace hindsight
