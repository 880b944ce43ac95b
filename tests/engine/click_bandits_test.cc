// Rankers that learn from "shown, not clicked": when a window closes, and the same after a crash.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/engine_support/engine_world.h"

namespace hindsight {
namespace {

constexpr std::int64_t kWindowMs = 1'000;

class ClickBandits : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    CollectionPatch patch;
    patch.ranker = GetParam();
    patch.seed = 5;
    patch.window_ms = kWindowMs;
    ASSERT_TRUE(world_.put("c", patch).ok());
    std::vector<ItemInput> items;
    for (int i = 0; i < 12; ++i) {
      items.push_back({.id = "i" + std::to_string(i),
                       .topics = {},
                       .features = {{"one", 1.0}, {"size", 0.08 * i}},
                       .links = {}});
    }
    ASSERT_TRUE(world_.add("c", std::move(items)).ok());
  }

  /// Lists of three, of which some first items are clicked.
  void serve(int lists) {
    for (int i = 0; i < lists; ++i) {
      world_.pass(10);
      RankInput library;
      library.k = 3;
      const auto reply = world_.rank("c", library);
      ASSERT_TRUE(reply.ok()) << to_string(reply.error());
      if (i % 3 == 0) {
        ASSERT_TRUE(world_.click("c", reply->decision, reply->items[0].id).ok());
      }
    }
  }

  /// Until a ranker that has been changed has learned the history.
  void wait_for_build() {
    while (world_.engine().collection("c")->building) {
      world_.tick();
    }
  }

  EngineWorld world_;
};

TEST_P(ClickBandits, LearnWhenWindowsCloseAndComeBackAfterACrash) {
  serve(60);
  const std::string before = world_.stats("c").model_hash;
  world_.pass(kWindowMs + 1);
  world_.tick();
  const CollectionStats closed = world_.stats("c");
  EXPECT_NE(closed.model_hash, before);
  EXPECT_EQ(closed.clicks.received, 20U);
  EXPECT_EQ(closed.clicks.learned, 20U);
  EXPECT_TRUE(adds_up(closed.clicks));
  world_.crash();
  EXPECT_EQ(world_.stats("c").model_hash, closed.model_hash);
  serve(30);
  world_.pass(kWindowMs + 1);
  world_.tick();
  const CollectionStats later = world_.stats("c");
  EXPECT_NE(later.model_hash, closed.model_hash);
  world_.restart();
  EXPECT_EQ(world_.stats("c").model_hash, later.model_hash);
}

TEST_P(ClickBandits, TakeOverFromAnotherRankerAndItemsWithoutFeatures) {
  serve(10);
  ASSERT_TRUE(world_.add_ids("c", {"bare", "barer"}).ok());
  CollectionPatch other;
  other.ranker = "noregret-klrank";
  ASSERT_TRUE(world_.put("c", other).ok());
  wait_for_build();
  serve(10);
  CollectionPatch back;
  back.ranker = GetParam();
  const auto changed = world_.put("c", back);
  ASSERT_TRUE(changed.ok()) << to_string(changed.error());
  wait_for_build();
  world_.pass(kWindowMs + 1);
  world_.tick();
  serve(10);
  world_.pass(kWindowMs + 1);
  world_.tick();
  const CollectionStats stats = world_.stats("c");
  EXPECT_TRUE(adds_up(stats.clicks));
  EXPECT_EQ(stats.items, 14U);
}

INSTANTIATE_TEST_SUITE_P(EveryOne, ClickBandits,
                         ::testing::Values("recurrank", "cascade-linucb", "cascade-lints",
                                           "toprank"),
                         [](const ::testing::TestParamInfo<const char*>& row) {
                           std::string name = row.param;
                           name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
                           return name;
                         });

}  // namespace
}  // namespace hindsight
