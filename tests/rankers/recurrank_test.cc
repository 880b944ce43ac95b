#include "src/rankers/recurrank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "hindsight/signals.h"
#include "src/core/bytes.h"

namespace hindsight {
namespace {

/// Items of two features, the n-th of which is as attractive as its second one says.
class Shop {
 public:
  explicit Shop(std::uint32_t n, ParamMap params = {}) {
    params.emplace("positions", 3.0);
    params.emplace("horizon", 20'000.0);
    ranker = *make_ranker("recurrank", params);
    grow(n);
  }

  void grow(std::uint32_t n) {
    while (size_ < n) {
      Item item;
      item.index = size_++;
      item.dense = {1.0, attraction(item.index)};
      EXPECT_TRUE(ranker->add_items(std::span(&item, 1)).ok());
    }
  }
  /// 0.05 to 0.95, each item another.
  static double attraction(ItemIndex item) {
    return 0.05 + 0.9 * std::fmod(0.618034 * static_cast<double>(item), 1.0);
  }
  Result<Decision> rank(std::size_t k = 3) {
    Request request;
    request.decision.counter = ++lists_;
    request.whole_library = true;
    request.k = k;
    Rng rng = Rng::for_decision(7, request.decision);
    return ranker->rank(request, signals_, rng);
  }
  Feedback user(const Decision& decision) {
    Feedback feedback{.decision = decision.id, .closed = true};
    for (std::size_t k = 0; k < decision.shown_count; ++k) {
      if (users_.uniform() < attraction(decision.items[k]) / static_cast<double>(k + 1)) {
        feedback.clicked.push_back(decision.items[k]);
      }
    }
    return feedback;
  }
  Result<LearnReport> learn(const Decision& decision, const Feedback& feedback) {
    return ranker->learn(decision, feedback, signals_);
  }
  void play(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const Decision decision = *rank();
      EXPECT_TRUE(learn(decision, user(decision)).ok());
    }
  }
  /// Of the items of the next list.
  double mean_attraction() {
    const Decision decision = *rank();
    double sum = 0.0;
    for (const ItemIndex item : decision.items) {
      sum += attraction(item);
    }
    return sum / 3.0;
  }
  std::string said(const std::string& key) const {
    for (const auto& [name, value] : ranker->describe()) {
      if (name == key) {
        return value;
      }
    }
    return {};
  }

  std::unique_ptr<Ranker> ranker;

 private:
  std::uint32_t size_ = 0;
  std::uint64_t lists_ = 0;
  Signals signals_;
  Rng users_{11};
};

TEST(RecurRankRanker, BeginsWithTheFirstFeedbackAndFindsTheBest) {
  Shop shop(30);
  EXPECT_EQ(shop.said("runs begun"), "0");
  EXPECT_EQ(shop.rank()->items, (std::vector<ItemIndex>{0, 1, 2}));
  shop.play(20'000);
  EXPECT_EQ(shop.said("runs begun"), "1");
  EXPECT_GT(shop.mean_attraction(), 0.85);
}

TEST(RecurRankRanker, PhaseBlockAndProbeTravelWithTheDecision) {
  Shop shop(30);
  shop.play(1);
  const Decision decision = *shop.rank();
  ASSERT_EQ(decision.aux.size(), 16U);  // one block, one probe
  ByteReader in(decision.aux);
  std::uint64_t serial = 0;
  std::uint32_t place = 1;
  in.get(serial);
  in.get(place);
  EXPECT_GE(serial, 1U);
  EXPECT_EQ(place, 0U);
  EXPECT_TRUE(decision.log_propensity.has_value());
  EXPECT_GT(decision.prob_first[0], 0.0);
}

// Answers that are hundreds of lists late, in any order, some of them never, lead to the same end.
TEST(RecurRankRanker, LearnsFromLateAnswersInAnyOrder) {
  Shop shop(30);
  Rng rng(5);
  std::deque<Decision> open;
  for (int round = 0; round < 30'000; ++round) {
    open.push_back(*shop.rank());
    if (open.size() > 300) {
      const std::size_t at = rng.below(open.size());
      if (rng.below(10) != 0) {  // one in ten never comes
        EXPECT_TRUE(shop.learn(open[at], shop.user(open[at])).ok());
      }
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  EXPECT_GT(shop.mean_attraction(), 0.8);
}

TEST(RecurRankRanker, WaitsForTheWindowToClose) {
  Shop shop(30);
  shop.play(1);
  const Decision decision = *shop.rank();
  const std::string before = model_hash(*shop.ranker);
  const Feedback early{.decision = decision.id, .clicked = {decision.items[0]}};
  const LearnReport report = *shop.learn(decision, early);
  EXPECT_EQ(report.learned, 0U);
  EXPECT_EQ(report.ignored, 1U);
  EXPECT_EQ(model_hash(*shop.ranker), before);
  const Feedback closed{.decision = decision.id, .clicked = {decision.items[0]}, .closed = true};
  EXPECT_EQ(shop.learn(decision, closed)->learned, 1U);
  EXPECT_NE(model_hash(*shop.ranker), before);
}

TEST(RecurRankRanker, FeedbackOfAnotherBlockIsRefusedAndChangesNothing) {
  Shop shop(30);
  shop.play(1);
  const Decision decision = *shop.rank();
  const Feedback feedback{.decision = decision.id, .closed = true};
  const std::string before = model_hash(*shop.ranker);
  const auto refused = [&](std::size_t byte, std::byte flip) {
    Decision other = decision;
    other.aux[byte] ^= flip;
    const auto report = shop.learn(other, feedback);
    return !report.ok() && report.error().code == ErrorCode::kInvalidArgument &&
           model_hash(*shop.ranker) == before;
  };
  EXPECT_TRUE(refused(0, std::byte{0x40}));   // a block that was never there
  EXPECT_TRUE(refused(8, std::byte{0x01}));   // on another place
  EXPECT_TRUE(refused(8, std::byte{0x04}));   // on a place that was not shown
  EXPECT_TRUE(refused(12, std::byte{0x01}));  // another item of the design
  Decision cut = decision;
  cut.aux.pop_back();
  EXPECT_FALSE(shop.learn(cut, feedback).ok());
  Decision swapped = decision;
  std::swap(swapped.items[0], swapped.items[1]);  // the click would go to the wrong item
  EXPECT_FALSE(shop.learn(swapped, feedback).ok());
  EXPECT_EQ(model_hash(*shop.ranker), before);
}

TEST(RecurRankRanker, ListsOfOthersTeachItNothing) {
  Shop shop(30);
  shop.play(1);
  Decision foreign = *shop.rank();
  foreign.ranker = "random";
  foreign.aux = {std::byte{1}, std::byte{2}};
  const std::string before = model_hash(*shop.ranker);
  const auto report =
      shop.learn(foreign, {.decision = foreign.id, .clicked = {foreign.items[0]}, .closed = true});
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->ignored, 1U);
  EXPECT_EQ(model_hash(*shop.ranker), before);
}

TEST(RecurRankRanker, ItemsThatArriveJoinTheLastBlock) {
  Shop shop(10);
  shop.play(50);
  shop.grow(14);
  shop.play(20'000);
  // 13 is among the best three of the fourteen.
  std::vector<ItemIndex> order(14);
  for (ItemIndex i = 0; i < 14; ++i) {
    order[i] = i;
  }
  std::sort(order.begin(), order.end(),
            [](ItemIndex a, ItemIndex b) { return Shop::attraction(a) > Shop::attraction(b); });
  ASSERT_TRUE(order[0] >= 10 || order[1] >= 10 || order[2] >= 10);
  const Decision decision = *shop.rank();
  EXPECT_TRUE(std::any_of(decision.items.begin(), decision.items.end(),
                          [](ItemIndex item) { return item >= 10; }));
}

TEST(RecurRankRanker, BadItemsAreRefused) {
  Shop shop(3);
  const auto code = [&](std::vector<double> dense) {
    Item item;
    item.index = 3;
    item.dense = std::move(dense);
    const auto added = shop.ranker->add_items(std::span(&item, 1));
    return added.ok() ? ErrorCode::kInternal : added.error().code;
  };
  EXPECT_EQ(code({0.0, 0.0}), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code({1.0, NAN}), ErrorCode::kNotFinite);
  EXPECT_EQ(code({1e7}), ErrorCode::kFeatureTooLong);
  EXPECT_EQ(code(std::vector<double>(129, 1.0)), ErrorCode::kTooLarge);
  EXPECT_EQ(shop.ranker->items_added(), 3U);
  EXPECT_EQ(code({}), ErrorCode::kInternal);  // without features: behind all others
  EXPECT_EQ(shop.rank(4)->items.back(), 3U);
  EXPECT_FALSE(shop.rank(5).ok());
  EXPECT_FALSE(make_ranker("recurrank", {{"positions", 65.0}}).ok());
  EXPECT_FALSE(make_ranker("recurrank", {{"positions", 0.0}}).ok());
}

}  // namespace
}  // namespace hindsight
