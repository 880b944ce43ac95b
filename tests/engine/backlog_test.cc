// A collection that is too far behind refuses, and goes on once it has caught up.

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

constexpr std::uint64_t kMost = 20;

class Backlog : public ::testing::Test {
 protected:
  /// Decisions are not written until they must be, so that they pile up.
  static void adjust(EngineOptions& options) {
    options.max_backlog = kMost;
    options.flush_ms = 3'600'000;
  }
  /// RETURNS: the last decision, after which no more are taken.
  std::string fill(const std::string& name) {
    std::string last;
    filled_ = 0;
    for (std::uint64_t i = 0; i <= 2 * kMost; ++i) {
      const auto reply = world_.rank_ids(name, {"a", "b", "c"}, 3);
      if (!reply.ok()) {
        EXPECT_EQ(reply.error().code, ErrorCode::kOverloaded);
        return last;
      }
      last = reply->decision;
      ++filled_;
    }
    ADD_FAILURE() << "never refused";
    return last;
  }

  EngineWorld world_{{}, 2, adjust};
  std::uint64_t filled_ = 0;  // how many it took
};

TEST_F(Backlog, RankingsClicksAndItemsAreRefusedUntilItHasCaughtUp) {
  ASSERT_TRUE(world_.put("books", {}).ok());
  ASSERT_TRUE(world_.add_ids("books", {"a", "b", "c"}).ok());
  const std::string decision = fill("books");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(world_.click("books", decision, "a").error().code, ErrorCode::kOverloaded);
    EXPECT_EQ(world_.add_ids("books", {"d"}).error().code, ErrorCode::kOverloaded);
  }
  world_.engine().settle();
  EXPECT_TRUE(world_.rank_ids("books", {"a", "b", "c"}, 3).ok());
  const auto clicked = world_.click("books", decision, "a");
  ASSERT_TRUE(clicked.ok()) << to_string(clicked.error());
  EXPECT_EQ(clicked->accepted, 1U);
  const CollectionStats stats = world_.stats("books");
  EXPECT_EQ(stats.clicks.received, 1U) << "what was refused was not counted";
  EXPECT_EQ(stats.items, 3U);
}

TEST_F(Backlog, OtherCollectionsDoNotNoticeIt) {
  ASSERT_TRUE(world_.put("books", {}).ok());
  ASSERT_TRUE(world_.put("films", {}).ok());
  ASSERT_TRUE(world_.add_ids("books", {"a", "b", "c"}).ok());
  ASSERT_TRUE(world_.add_ids("films", {"a", "b", "c"}).ok());
  fill("books");
  const auto reply = world_.rank_ids("films", {"a", "b", "c"}, 3);
  ASSERT_TRUE(reply.ok());
  EXPECT_TRUE(world_.click("films", reply->decision, "b").ok());
}

TEST_F(Backlog, WhatTheLogDidNotTakeIsCountedAndNoLongerWaitedFor) {
  ASSERT_TRUE(world_.put("books", {}).ok());
  ASSERT_TRUE(world_.add_ids("books", {"a", "b", "c"}).ok());
  const std::string lost = fill("books");
  world_.store().refuse_appends(true);
  world_.engine().settle();
  EXPECT_GE(world_.stats("books").lost_decisions, kMost);
  const auto told = [this] {
    return std::count_if(world_.warnings().begin(), world_.warnings().end(),
                         [](const std::string& line) {
                           return line.find("decisions were not logged") != std::string::npos;
                         });
  };
  EXPECT_EQ(told(), 1);
  EXPECT_EQ(world_.rank_ids("books", {"a", "b", "c"}, 3).error().code, ErrorCode::kOverloaded)
      << "another one would be lost as well";
  world_.store().refuse_appends(false);
  world_.pass(1000);
  const auto reply = world_.rank_ids("books", {"a", "b", "c"}, 3);
  ASSERT_TRUE(reply.ok()) << to_string(reply.error());
  EXPECT_EQ(world_.click("books", reply->decision, "a")->accepted, 1U);
  EXPECT_EQ(world_.click("books", lost, "a")->accepted, 1U);
  const CollectionStats stats = world_.stats("books");
  EXPECT_EQ(stats.clicks.learned, 1U);
  EXPECT_EQ(stats.clicks.pending, 1U) << "until its window ends: then it is unjoined";
  world_.engine().settle();
  fill("books");
  EXPECT_EQ(filled_, kMost + 1) << "nothing was taken off twice, and nothing was left";
  world_.store().refuse_appends(true);
  world_.pass(9'000);
  EXPECT_FALSE(world_.add_ids("books", {"d"}).ok());
  world_.engine().settle();
  EXPECT_EQ(told(), 2) << "and it is told again, not too soon";
}

TEST_F(Backlog, ARestartBeginsWithoutOne) {
  ASSERT_TRUE(world_.put("books", {}).ok());
  ASSERT_TRUE(world_.add_ids("books", {"a", "b", "c"}).ok());
  fill("books");
  world_.restart();
  EXPECT_TRUE(world_.rank_ids("books", {"a", "b", "c"}, 3).ok());
}

}  // namespace
}  // namespace hindsight
