// The sentences of the contract about clicks and windows, one by one.

#include <gtest/gtest.h>

#include <set>

#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

constexpr std::int64_t kWindowMs = 60'000;
constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;

class Joins : public testing::Test {
 protected:
  void SetUp() override {
    CollectionPatch patch;
    patch.ranker = "noregret-klrank";
    patch.seed = 7;
    patch.window_ms = kWindowMs;
    ASSERT_TRUE(world_.put("books", patch).ok());
    ASSERT_TRUE(world_.add_ids("books", {"a", "b", "c"}).ok());
  }

  std::string decide(const std::vector<std::string>& ids = {"a", "b", "c"}) {
    const Result<RankReply> reply = world_.rank_ids("books", ids);
    EXPECT_TRUE(reply.ok());
    return reply.ok() ? reply->decision : "";
  }
  ClickCounts counts() { return world_.stats("books").clicks; }

  EngineWorld world_;
};

TEST_F(Joins, AClickIsLearnedOnce) {
  const std::string before = world_.stats("books").model_hash;
  const auto reply = world_.click("books", decide(), "a");
  ASSERT_TRUE(reply.ok()) << to_string(reply.error());
  EXPECT_EQ(reply->accepted, 1U);
  EXPECT_EQ(counts().learned, 1U);
  EXPECT_NE(world_.stats("books").model_hash, before);
}

TEST_F(Joins, StatsReflectEveryAcknowledgedClick) {
  const std::string decision = decide();
  for (std::uint64_t i = 1; i <= 20; ++i) {
    ASSERT_TRUE(world_.click("books", decision, "a", std::to_string(i)).ok());
    const auto stats = world_.engine().stats("books", false);
    ASSERT_TRUE(stats.ok());
    EXPECT_EQ(stats->clicks.received, i);
  }
}

TEST_F(Joins, TheSameClientEventIsADuplicateEvenForAnotherItem) {
  const std::string decision = decide();
  EXPECT_EQ(world_.click("books", decision, "a", "e1")->accepted, 1U);
  EXPECT_EQ(world_.click("books", decision, "a", "e1")->duplicate, 1U);
  EXPECT_EQ(world_.click("books", decision, "b", "e1")->duplicate, 1U);
  EXPECT_EQ(counts().learned, 1U);
  EXPECT_EQ(counts().duplicate, 2U);
}

TEST_F(Joins, WithoutAClientEventTheItemIsTheKey) {
  const std::string decision = decide();
  EXPECT_EQ(world_.click("books", decision, "a")->accepted, 1U);
  EXPECT_EQ(world_.click("books", decision, "a")->duplicate, 1U);
  EXPECT_EQ(world_.click("books", decision, "b")->accepted, 1U);
}

TEST_F(Joins, AnItemIsLearnedOnceEvenUnderTwoClientEvents) {
  const std::string decision = decide();
  EXPECT_EQ(world_.click("books", decision, "a", "e1")->accepted, 1U);
  const std::string hash = world_.stats("books").model_hash;
  EXPECT_EQ(world_.click("books", decision, "a", "e2")->accepted, 1U);
  EXPECT_EQ(world_.stats("books").model_hash, hash);
}

TEST_F(Joins, AnItemThatWasNotShownIsQuarantinedWithTheReason) {
  const std::string decision = decide({"a", "b"});
  EXPECT_EQ(world_.click("books", decision, "c")->quarantined, 1U);
  const CollectionStats stats = world_.stats("books");
  ASSERT_EQ(stats.quarantine_reasons.size(), 1U);
  EXPECT_EQ(stats.quarantine_reasons[0].first, "item_not_shown");
}

TEST_F(Joins, AForgedDecisionIsQuarantinedAndNeverPending) {
  std::string decision = decide();
  decision.back() = decision.back() == 'A' ? 'B' : 'A';
  EXPECT_EQ(world_.click("books", decision, "a")->quarantined, 1U);
  EXPECT_EQ(counts().pending, 0U);
  EXPECT_EQ(world_.stats("books").quarantine_reasons[0].first, "decision_not_issued_here");
}

TEST_F(Joins, ADecisionOfAnotherCollectionIsNotIssuedHere) {
  ASSERT_TRUE(world_.put("films", {}).ok());
  ASSERT_TRUE(world_.add_ids("films", {"a", "b", "c"}).ok());
  EXPECT_EQ(world_.click("films", decide(), "a")->quarantined, 1U);
}

TEST_F(Joins, AMalformedDecisionIsRefusedAndNothingIsLogged) {
  const Position before = world_.stats("books").position;
  const auto reply = world_.click("books", "d_short", "a");
  ASSERT_FALSE(reply.ok());
  EXPECT_EQ(reply.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(reply.error().field, "clicks[0].decision");
  EXPECT_EQ(world_.stats("books").position, before);
}

TEST_F(Joins, ClicksAfterTheWindowClosedAreLateAndNotLearned) {
  const std::string decision = decide();
  world_.stats("books");  // the decision is in the log
  world_.pass(kWindowMs);
  world_.tick();
  const std::string hash = world_.stats("books").model_hash;
  EXPECT_EQ(world_.click("books", decision, "a")->late, 1U);
  EXPECT_EQ(world_.click("books", decision, "a")->duplicate, 1U);
  EXPECT_EQ(world_.stats("books").model_hash, hash);
  EXPECT_EQ(world_.stats("books").open_decisions, 0U);
}

TEST_F(Joins, TheWindowDoesNotCloseBeforeItsTime) {
  const std::string decision = decide();
  world_.stats("books");
  world_.pass(kWindowMs - 1);
  world_.tick();
  EXPECT_EQ(world_.click("books", decision, "a")->accepted, 1U);
}

TEST_F(Joins, QuarantineComesBeforeDuplicateAndLate) {
  const std::string decision = decide({"a", "b"});
  EXPECT_EQ(world_.click("books", decision, "a", "e1")->accepted, 1U);
  EXPECT_EQ(world_.click("books", decision, "c", "e1")->quarantined, 1U);
  world_.pass(kWindowMs);
  world_.tick();
  EXPECT_EQ(world_.click("books", decision, "c", "e9")->quarantined, 1U);
}

TEST_F(Joins, KeysAreKeptADayBeyondTheCloseAndThenEveryClickIsLate) {
  const std::string decision = decide();
  EXPECT_EQ(world_.click("books", decision, "a")->accepted, 1U);
  world_.pass(kWindowMs);
  world_.tick();
  world_.pass(kDayMs - 1);
  decide();
  world_.tick();
  EXPECT_EQ(world_.click("books", decision, "a")->duplicate, 1U);
  world_.pass(kWindowMs + 1);
  world_.tick();  // the second decision's close moves the time on
  EXPECT_EQ(world_.click("books", decision, "a")->late, 1U);
  EXPECT_EQ(world_.click("books", decision, "a")->late, 1U);
}

TEST_F(Joins, WhoeverFillsTheMemoryOfKeysTakesNobodysClick) {
  CollectionPatch patch;
  patch.memory_budget = std::uint64_t{1} << 20;
  ASSERT_TRUE(world_.put("books", patch).ok());
  const auto click_often = [&](const std::string& decision, int calls) {
    std::uint64_t accepted = 0;
    for (int call = 0; call < calls; ++call) {
      std::vector<ClickInput> clicks;
      for (int i = 0; i < 1000; ++i) {
        clicks.push_back(
            {.decision = decision, .item = "a", .event = std::to_string(call * 1000 + i)});
      }
      accepted += world_.clicks("books", std::move(clicks))->accepted;
    }
    return accepted;
  };
  const std::uint64_t before = world_.stats("books").memory_bytes;
  EXPECT_EQ(click_often(decide(), 10), (1U << 20) / 8 / 16 + 1 + 32);
  EXPECT_EQ(click_often(decide(), 1), 32U);
  // What the keys take is told, and is bounded.
  EXPECT_GT(world_.stats("books").memory_bytes, before + (1U << 20) / 8);
  EXPECT_LT(world_.stats("books").memory_bytes, before + (1U << 20) / 7);

  const std::string decision = decide();
  EXPECT_EQ(world_.click("books", decision, "b", "e1")->accepted, 1U);
  EXPECT_EQ(world_.click("books", decision, "b", "e1")->duplicate, 1U);
  const CollectionStats full = world_.stats("books");
  ASSERT_EQ(full.quarantine_reasons.size(), 1U);
  EXPECT_EQ(full.quarantine_reasons[0],
            std::pair(std::string("too_many_clicks"), full.clicks.quarantined));
  world_.restart();
  EXPECT_EQ(world_.stats("books").clicks.quarantined, full.clicks.quarantined);
  EXPECT_EQ(click_often(decide(), 1), 32U);

  world_.pass(kWindowMs + 1);
  world_.tick();
  world_.pass(kDayMs + 1);
  world_.tick();
  EXPECT_EQ(click_often(decide(), 1), 1000U);
}

TEST_F(Joins, LateClicksBeyondTheUsualAreLateEachTimeAndTakeNoMemory) {
  const std::string decision = decide();
  const auto click = [&](int event) {
    return *world_.click("books", decision, "a", std::to_string(event));
  };
  for (int event = 0; event < 31; ++event) {
    EXPECT_EQ(click(event).accepted, 1U);
  }
  world_.pass(kWindowMs + 1);
  world_.tick();
  EXPECT_EQ(click(31).late, 1U);
  EXPECT_EQ(click(31).duplicate, 1U);
  const std::uint64_t before = world_.stats("books").memory_bytes;
  EXPECT_EQ(click(32).late, 1U);
  EXPECT_EQ(click(32).late, 1U);
  EXPECT_EQ(click(0).duplicate, 1U);
  EXPECT_EQ(world_.stats("books").memory_bytes, before);
}

TEST_F(Joins, OverMaxOpenTheOldestCloseEarlyAndAreCounted) {
  CollectionPatch patch;
  patch.max_open = 3;
  ASSERT_TRUE(world_.put("books", patch).ok());
  std::vector<std::string> decisions;
  for (int i = 0; i < 5; ++i) {
    decisions.push_back(decide());
  }
  const CollectionStats stats = world_.stats("books");
  EXPECT_EQ(stats.closed_early, 2U);
  EXPECT_EQ(stats.open_decisions, 3U);
  EXPECT_EQ(world_.click("books", decisions[1], "a")->late, 1U);
  EXPECT_EQ(world_.click("books", decisions[2], "a")->accepted, 1U);
}

TEST_F(Joins, DecisionIdsAreNeverIssuedTwiceAcrossRestarts) {
  std::set<std::string> seen;
  for (int boot = 0; boot < 4; ++boot) {
    for (int i = 0; i < 20; ++i) {
      EXPECT_TRUE(seen.insert(decide()).second);
    }
    boot % 2 == 0 ? world_.restart() : world_.crash();
  }
}

TEST_F(Joins, TheAccountsSurviveARestart) {
  const std::string decision = decide({"a", "b"});
  for (const char* item : {"a", "a", "c"}) {
    ASSERT_TRUE(world_.click("books", decision, item).ok());
  }
  const CollectionStats before = world_.stats("books");
  for (const bool crash : {false, true}) {
    crash ? world_.crash() : world_.restart();
    const CollectionStats after = world_.stats("books");
    EXPECT_EQ(after.clicks, before.clicks);
    EXPECT_EQ(after.model_hash, before.model_hash);
    EXPECT_EQ(after.ranker_arm, before.ranker_arm);
    EXPECT_TRUE(adds_up(after.clicks));
  }
  EXPECT_EQ(world_.click("books", decision, "a")->duplicate, 1U);
}

}  // namespace
}  // namespace hindsight
