#include "src/rankers/cascade_linear.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hindsight/signals.h"

namespace hindsight {
namespace {

class Shop {
 public:
  explicit Shop(const ParamMap& params = {}, const char* name = "cascade-linucb")
      : ranker(*make_ranker(name, params)) {
    for (ItemIndex i = 0; i < 10; ++i) {
      Item item;
      item.index = i;
      item.dense = {0.5, 0.1 * static_cast<double>(i)};
      EXPECT_TRUE(ranker->add_items(std::span(&item, 1)).ok());
    }
  }
  Result<Decision> rank(std::size_t k, const FeatureRows* features = nullptr) {
    Request request;
    request.decision.counter = ++lists_;
    request.candidates = kAll;
    request.features = features;
    request.k = k;
    Rng rng = Rng::for_decision(7, request.decision);
    return ranker->rank(request, signals_, rng);
  }
  Result<LearnReport> learn(const Decision& decision, std::vector<ItemIndex> clicked,
                            bool closed = true) {
    return ranker->learn(decision,
                         {.decision = decision.id, .clicked = std::move(clicked), .closed = closed},
                         signals_);
  }

  std::unique_ptr<Ranker> ranker;

 private:
  const std::vector<ItemIndex> kAll = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::uint64_t lists_ = 0;
  Signals signals_;
};

/// Users who stop at the first click, and like items of a high number.
void play(Shop& shop, int rounds) {
  Rng users(2);
  for (int round = 0; round < rounds; ++round) {
    const Decision decision = *shop.rank(3);
    std::vector<ItemIndex> clicked;
    for (const ItemIndex item : decision.shown()) {
      if (users.uniform() < 0.05 + 0.05 * static_cast<double>(item)) {
        clicked = {item};
        break;
      }
    }
    ASSERT_TRUE(shop.learn(decision, clicked).ok());
  }
}

TEST(CascadeLinUcb, FindsTheBestOfUsersWhoStopAtTheFirstClick) {
  Shop shop;
  play(shop, 2'000);
  EXPECT_EQ(shop.rank(3)->items, (std::vector<ItemIndex>{9, 8, 7}));
}

TEST(CascadeLinTs, FindsTheBestAndStatesNoLaw) {
  Shop shop({}, "cascade-lints");
  play(shop, 20'000);
  const Decision decision = *shop.rank(3);
  EXPECT_EQ(decision.items, (std::vector<ItemIndex>{9, 8, 7}));
  EXPECT_TRUE(decision.prob_first.empty());
  EXPECT_FALSE(decision.log_propensity.has_value());
}

TEST(CascadeLinTs, ListsDifferWhileLittleIsKnown) {
  Shop shop({}, "cascade-lints");
  const std::vector<ItemIndex> first = shop.rank(3)->items;
  bool other = false;
  for (int i = 0; i < 20; ++i) {
    other = other || shop.rank(3)->items != first;
  }
  EXPECT_TRUE(other);
}

TEST(CascadeLinUcb, LearnsDownToTheFirstClickOnly) {
  Shop one;
  Shop two;
  const Decision decision = *one.rank(4);
  EXPECT_EQ(two.rank(4)->items, decision.items);
  // A second click, further down, changes nothing: the user is taken to have stopped.
  ASSERT_TRUE(one.learn(decision, {decision.items[1]}).ok());
  const LearnReport report = *two.learn(decision, {decision.items[3], decision.items[1]});
  EXPECT_EQ(report.learned, 1U);
  EXPECT_EQ(report.ignored, 1U);
  EXPECT_EQ(model_hash(*one.ranker), model_hash(*two.ranker));
  const auto described = one.ranker->describe();
  EXPECT_EQ(described[2].second, "2");  // items examined
}

TEST(CascadeLinUcb, WithoutAClickAllOfTheListWasExamined) {
  Shop shop;
  const Decision decision = *shop.rank(4);
  const std::string before = model_hash(*shop.ranker);
  EXPECT_TRUE(shop.learn(decision, {}, false).ok());  // the window is still open
  EXPECT_EQ(model_hash(*shop.ranker), before);
  EXPECT_TRUE(shop.learn(decision, {}).ok());
  EXPECT_EQ(shop.ranker->describe()[2].second, "4");
}

TEST(CascadeLinUcb, ScoresAreTheEstimateAndItsBonusCappedAtOne) {
  Shop shop({{"c", 0.2}});
  Decision decision = *shop.rank(10);
  for (std::size_t i = 0; i < 10; ++i) {  // nothing is known: the bonus alone, V = I
    const double x = 0.1 * static_cast<double>(decision.items[i]);
    EXPECT_NEAR(decision.score[i], 0.2 * std::sqrt(0.25 + x * x), 1e-12);
  }
  Shop wide({{"c", 100.0}});
  decision = *wide.rank(10);
  EXPECT_EQ(decision.score, std::vector<double>(10, 1.0));
}

TEST(CascadeLinUcb, FeaturesOfTheRequestCount) {
  Shop shop;
  FeatureRows rows{.dense_dim = 1, .dense = std::vector<double>(10, 0.1)};
  rows.dense[4] = 0.9;
  EXPECT_EQ(shop.rank(1, &rows)->items, std::vector<ItemIndex>{4});
  rows.dense[4] = 1e7;
  EXPECT_EQ(shop.rank(1, &rows).error().code, ErrorCode::kFeatureTooLong);
}

TEST(CascadeLinUcb, AHorizonGivesTheProvenWidth) {
  Shop shop({{"horizon", 1000.0}});
  const Decision decision = *shop.rank(3);
  ASSERT_TRUE(shop.learn(decision, {}).ok());
  const double expected = std::sqrt(2 * std::log(501.0) + 2 * std::log(4000.0)) + 1;
  EXPECT_NEAR(std::stod(shop.ranker->describe()[3].second), expected, 1e-4);
}

}  // namespace
}  // namespace hindsight
