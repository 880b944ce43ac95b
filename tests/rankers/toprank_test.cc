#include "src/rankers/toprank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "hindsight/signals.h"
#include "src/core/top_rank.h"
#include "tests/support/stream.h"

namespace hindsight {
namespace {

class Shop {
 public:
  explicit Shop(std::uint32_t n) : ranker(*make_ranker("toprank", {{"horizon", 5'000.0}})) {
    std::vector<Item> items;
    for (ItemIndex i = 0; i < n; ++i) {
      items.push_back(testing::plain_item(i));
    }
    EXPECT_TRUE(ranker->add_items(items).ok());
  }

  Result<Decision> rank(std::span<const ItemIndex> candidates, std::size_t k) {
    Request request;
    request.decision.counter = ++lists_;
    request.candidates = candidates;
    request.whole_library = candidates.empty();
    request.k = k;
    Rng rng = Rng::for_decision(7, request.decision);
    return ranker->rank(request, signals_, rng);
  }
  /// The higher its number, the more often an item is clicked.
  Feedback user(const Decision& decision) {
    Feedback feedback{.decision = decision.id, .closed = true};
    for (const ItemIndex item : decision.shown()) {
      if (users_.uniform() <
          static_cast<double>(item + 1) / static_cast<double>(ranker->items_added() + 1)) {
        feedback.clicked.push_back(item);
      }
    }
    return feedback;
  }
  Result<LearnReport> learn(const Decision& decision, const Feedback& feedback) {
    return ranker->learn(decision, feedback, signals_);
  }
  void play(int rounds, std::span<const ItemIndex> candidates, std::size_t k) {
    for (int i = 0; i < rounds; ++i) {
      const Decision decision = *rank(candidates, k);
      EXPECT_TRUE(learn(decision, user(decision)).ok());
    }
  }

  std::unique_ptr<Ranker> ranker;

 private:
  std::uint64_t lists_ = 0;
  Signals signals_;
  Rng users_{3};
};

TEST(TopRankRanker, FindsTheOrder) {
  Shop shop(8);
  shop.play(8'000, {}, 3);
  EXPECT_EQ(shop.rank({}, 2)->items, (std::vector<ItemIndex>{7, 6}));
}

TEST(TopRankRanker, OfSomeCandidatesOnlyTheShownAreCompared) {
  Shop shop(8);
  const std::vector<ItemIndex> some = {0, 3, 6};
  shop.play(3'000, some, 3);
  EXPECT_EQ(shop.rank(some, 3)->items, (std::vector<ItemIndex>{6, 3, 0}));
  // The others have never been compared with anything.
  EXPECT_EQ(shop.ranker->item_score(7), 0.0);
  EXPECT_EQ(shop.ranker->item_score(6), 0.0);
}

TEST(TopRankRanker, OldAndOpenListsAreSafe) {
  Shop shop(6);
  const Decision old = *shop.rank({}, 3);
  shop.play(4'000, {}, 3);
  const auto late =
      shop.learn(old, {.decision = old.id, .clicked = {old.items[0]}, .closed = true});
  ASSERT_TRUE(late.ok());
  const Decision open = *shop.rank({}, 3);
  const std::string before = model_hash(*shop.ranker);
  EXPECT_EQ(shop.learn(open, {.decision = open.id, .clicked = {open.items[0]}})->ignored, 1U);
  Decision foreign = open;
  foreign.ranker = "random";
  foreign.aux.clear();
  EXPECT_TRUE(shop.learn(foreign, {.decision = open.id, .closed = true}).ok());
  EXPECT_EQ(model_hash(*shop.ranker), before);
  Decision damaged = open;
  damaged.aux.pop_back();
  EXPECT_FALSE(shop.learn(damaged, {.decision = open.id, .closed = true}).ok());
  EXPECT_EQ(model_hash(*shop.ranker), before);
}

TEST(TopRankRanker, DoesNotRankMoreItemsThanItCanCompare) {
  Shop shop(static_cast<std::uint32_t>(TopRank::kMaxItems));
  const std::vector<ItemIndex> some = {0, 1, 2};
  EXPECT_TRUE(shop.rank(some, 2).ok());
  const Item item = testing::plain_item(static_cast<ItemIndex>(TopRank::kMaxItems));
  EXPECT_TRUE(shop.ranker->add_items(std::span(&item, 1)).ok());
  const auto refused = shop.rank(some, 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace hindsight
