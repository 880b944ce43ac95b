#include <gtest/gtest.h>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "tests/support/stream.h"

namespace hindsight {
namespace {

void teach(Ranker& ranker, const std::vector<ItemIndex>& candidates, ItemIndex pick, int times) {
  static std::uint64_t counter = 0;
  const Signals signals;
  for (int i = 0; i < times; ++i) {
    Request request;
    request.decision = {0, ++counter};
    request.candidates = candidates;
    request.k = candidates.size();
    Rng rng(counter);
    const auto decision = ranker.rank(request, signals, rng);
    ASSERT_TRUE(decision.ok());
    Feedback feedback;
    feedback.decision = decision->id;
    feedback.clicked = {pick};
    ASSERT_TRUE(ranker.learn(*decision, feedback, signals).ok());
  }
}

TEST(McRank, ClosedFormIsPicksOverAppearances) {
  auto ranker = *make_ranker("mcrank");
  for (ItemIndex i = 0; i < 4; ++i) {
    const Item item = testing::plain_item(i);
    ASSERT_TRUE(ranker->add_items(std::span(&item, 1)).ok());
  }
  teach(*ranker, {0, 1, 2}, 0, 3);
  teach(*ranker, {0, 1}, 1, 1);
  EXPECT_DOUBLE_EQ(ranker->item_score(0), 0.75);
  EXPECT_DOUBLE_EQ(ranker->item_score(1), 0.25);
  EXPECT_DOUBLE_EQ(ranker->item_score(2), 0.0);
  EXPECT_DOUBLE_EQ(ranker->item_score(3), 0.0);  // never appeared
}

TEST(McRank, OnlineFormComesToTheSameOrder) {
  auto ranker = *make_ranker("mcrank", {{"form", std::string("online")}, {"alpha", 3.0}});
  for (ItemIndex i = 0; i < 3; ++i) {
    const Item item = testing::plain_item(i);
    ASSERT_TRUE(ranker->add_items(std::span(&item, 1)).ok());
  }
  for (int i = 0; i < 100; ++i) {
    teach(*ranker, {0, 1, 2}, 0, 6);
    teach(*ranker, {0, 1, 2}, 1, 3);
    teach(*ranker, {0, 1, 2}, 2, 1);
  }
  EXPECT_GT(ranker->item_score(0), ranker->item_score(1));
  EXPECT_GT(ranker->item_score(1), ranker->item_score(2));
}

}  // namespace
}  // namespace hindsight
