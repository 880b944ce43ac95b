// Rankers that duel inside their lists, served by the engine: features come with the candidates,
// clicks are judged when the window closes.

#include <gtest/gtest.h>

#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

constexpr std::int64_t kWindowMs = 1'000;
constexpr int kDocuments = 6;

std::string id_of(int i) { return std::string(1, static_cast<char>('a' + i)); }

/// A query whose documents say themselves what they are like; even ones are good.
RankInput query(int turn) {
  RankInput input;
  for (int i = 0; i < kDocuments; ++i) {
    input.candidates.push_back({.id = id_of(i),
                                .features = {{"good", i % 2 == 0 ? 1.0 : 0.0},
                                             {"noise", static_cast<double>((i + turn) % 5) / 5.0}},
                                .prior = 0.0});
  }
  input.has_features = true;
  input.k = 4;
  return input;
}

class Duels : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    CollectionPatch patch;
    patch.ranker = GetParam();
    if (patch.ranker != "pdgd") {
      patch.params = ParamMap{{"gamma", 0.2}};
    }
    patch.seed = 7;
    patch.window_ms = kWindowMs;
    ASSERT_TRUE(world_.put("docs", patch).ok());
  }

  /// A list, clicks on what is good in it, and the end of its window. RETURNS: the first item.
  std::string serve(int turn) {
    const Result<RankReply> reply = world_.rank("docs", query(turn));
    EXPECT_TRUE(reply.ok()) << to_string(reply.error());
    std::vector<ClickInput> clicks;
    for (const RankedItem& item : reply->items) {
      if ((item.id[0] - 'a') % 2 == 0) {
        clicks.push_back({.decision = reply->decision, .item = item.id});
      }
    }
    EXPECT_TRUE(world_.clicks("docs", clicks).ok());
    world_.pass(kWindowMs + 1);
    world_.tick();
    return reply->items[0].id;
  }

  EngineWorld world_;
};

TEST_P(Duels, TheServiceLearnsFromListsThatUsersClickIn) {
  for (int turn = 0; turn < 120; ++turn) {
    serve(turn);
  }
  int good = 0;
  for (int turn = 120; turn < 140; ++turn) {
    good += (serve(turn)[0] - 'a') % 2 == 0 ? 1 : 0;
  }
  EXPECT_GE(good, 13);  // of 20; a list at random has a good one first in half of them
  EXPECT_EQ(world_.stats("docs").clicks.quarantined, 0U);
}

TEST_P(Duels, AFoldOfTheLogGivesTheSameModel) {
  for (int turn = 0; turn < 20; ++turn) {
    serve(turn);
  }
  const std::string hash = world_.stats("docs").model_hash;
  world_.crash();
  EXPECT_EQ(world_.stats("docs").model_hash, hash);
}

INSTANTIATE_TEST_SUITE_P(EveryRanker, Duels, testing::Values("dbgd", "mgd", "pdgd"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace hindsight
