#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/support/feature_shop.h"

namespace hindsight::testing {
namespace {

ParamMap steps(double delta, double gamma) { return {{"delta", delta}, {"gamma", gamma}}; }

ParamMap with(ParamMap params, const char* name, const ParamValue& value) {
  params[name] = value;
  return params;
}

TEST(DuelRanker, LearnsWhichFeatureUsersWant) {
  const ParamMap base = steps(1.0, 0.1);
  const std::pair<const char*, ParamMap> forms[] = {
      {"dbgd", base},
      {"dbgd", with(base, "space", std::string("ball"))},
      {"dbgd", with(base, "interleaving", std::string("balanced"))},
      {"dbgd", with(base, "interleaving", std::string("probabilistic"))},
      {"dbgd", with(base, "samples", 5.0)},
      {"mgd", base},
  };
  for (const auto& [name, params] : forms) {
    FeatureShop shop(name, params);
    shop.serve(3000);
    int better = 0;  // pairs of a good item and another one that are in order
    int pairs = 0;
    for (ItemIndex i = 0; i < FeatureShop::kItems; ++i) {
      for (ItemIndex j = 0; j < FeatureShop::kItems; ++j) {
        if (FeatureShop::good(i) && !FeatureShop::good(j)) {
          ++pairs;
          better += shop.ranker->item_score(i) > shop.ranker->item_score(j) ? 1 : 0;
        }
      }
    }
    EXPECT_GT(better, pairs * 9 / 10) << name;
  }
}

TEST(DuelRanker, SaysNoProbabilityOfAList) {
  FeatureShop shop("dbgd", {});
  const Decision decision = shop.rank();
  EXPECT_TRUE(decision.prob_first.empty());
  EXPECT_FALSE(decision.log_propensity);
}

// The direction is made again from the seed in aux: feedback in any order of arrival has the step
// of its own list, however much the model has moved since.
TEST(DuelRanker, LateClicksStepAlongTheDirectionOfTheirList) {
  FeatureShop late("dbgd", with(steps(1.0, 0.05), "space", std::string("ball")));
  FeatureShop soon("dbgd", with(steps(1.0, 0.05), "space", std::string("ball")));
  const Decision decision = late.rank();
  ASSERT_TRUE(soon.learn(soon.rank(), FeatureShop::clicks(decision)).ok());
  const double step = soon.ranker->item_score(0) - 0.0;
  late.serve(20);
  const double before = late.ranker->item_score(0);
  ASSERT_TRUE(late.learn(decision, FeatureShop::clicks(decision)).ok());
  EXPECT_NEAR(late.ranker->item_score(0) - before, step, 1e-12);
}

TEST(DuelRanker, ATieMovesNothing) {
  FeatureShop shop("dbgd", {});
  shop.serve(50);
  const double before = shop.ranker->item_score(0);
  const Decision decision = shop.rank();
  ASSERT_TRUE(shop.learn(decision, {.decision = decision.id, .closed = true}).ok());
  EXPECT_EQ(shop.ranker->item_score(0), before);
}

TEST(DuelRanker, ListsOfABatchShareTheirRivalAndLateOnesAreLeftOut) {
  FeatureShop shop("dbgd", {{"samples", 3.0}});
  const Decision first = shop.rank();
  shop.serve(2);
  EXPECT_EQ(shop.ranker->item_score(0), 0.0);  // two of three
  shop.serve(1);
  const std::string hash = model_hash(*shop.ranker);
  const auto report = shop.learn(first, FeatureShop::clicks(first));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->learned, 0U);
  EXPECT_EQ(report->ignored, FeatureShop::clicks(first).clicked.size());
  EXPECT_EQ(model_hash(*shop.ranker), hash);
}

TEST(DuelRanker, WaitsForTheWindowToClose) {
  FeatureShop shop("mgd", {});
  const Decision decision = shop.rank();
  const std::string hash = model_hash(*shop.ranker);
  Feedback feedback{.decision = decision.id, .clicked = {decision.items[1]}};
  EXPECT_EQ(shop.learn(decision, feedback)->ignored, 1U);
  EXPECT_EQ(model_hash(*shop.ranker), hash);
}

TEST(DuelRanker, StaysOnTheSphere) {
  FeatureShop shop("dbgd", steps(1.0, 0.5));
  shop.serve(100);
  // Items 0 and 3 differ by 3/12 in the second feature, and have 1 in the first.
  const double second = (shop.ranker->item_score(3) - shop.ranker->item_score(0)) * 4.0;
  const double first = shop.ranker->item_score(0);
  EXPECT_NEAR(first * first + second * second, 1.0, 1e-9);
}

TEST(DuelRanker, NewColumnsJoinWhileClicksAreOnTheirWay) {
  FeatureShop shop("dbgd", steps(1.0, 0.1));
  const Decision decision = shop.rank();
  Item item;
  item.index = static_cast<ItemIndex>(shop.ranker->items_added());
  item.dense = {0.1, 0.2, 0.3};
  item.sparse_index = {4};
  item.sparse_value = {0.5};
  ASSERT_TRUE(shop.ranker->add_items(std::span(&item, 1)).ok());
  shop.serve(30);
  ASSERT_TRUE(shop.learn(decision, FeatureShop::clicks(decision)).ok());
  EXPECT_TRUE(std::isfinite(shop.ranker->item_score(item.index)));
}

TEST(DuelRanker, ListsOfOtherRankersTeachNothing) { expect_lists_of_others_teach_nothing("dbgd"); }

TEST(DuelRanker, RefusesADecisionWhoseAuxDoesNotFit) {
  FeatureShop shop("dbgd", {});
  const Decision decision = shop.rank();
  const Feedback feedback = FeatureShop::clicks(decision);
  Decision cut = decision;
  cut.aux.pop_back();
  EXPECT_EQ(shop.learn(cut, feedback).error().field, "decision.aux");
  Decision foreign = decision;
  foreign.aux.back() = std::byte{2};  // a team that is not there
  EXPECT_EQ(shop.learn(foreign, feedback).error().field, "decision.aux");
}

TEST(DuelRanker, RefusesRanksThatDoNotFit) {
  FeatureShop shop("dbgd", {{"interleaving", std::string("balanced")}});
  const Decision decision = shop.rank();
  const Feedback feedback = FeatureShop::clicks(decision);
  Decision high = decision;
  high.aux.back() = std::byte{1};  // a rank of 256 or more in a list of five
  EXPECT_EQ(shop.learn(high, feedback).error().field, "decision.aux");
  Decision cut = decision;
  cut.aux.pop_back();
  EXPECT_EQ(shop.learn(cut, feedback).error().field, "decision.aux");
  FeatureShop teams("dbgd", {});  // made for other interleaving, as after a change of parameters
  EXPECT_EQ(shop.learn(teams.rank(), feedback).error().field, "decision.aux");
  EXPECT_EQ(teams.learn(decision, feedback).error().field, "decision.aux");
}

// Weights that nobody has moved score all items alike: chance alone says who stands first. 3,000
// lists; a false alarm beyond 6 standard errors, 2e-9 per item.
TEST(DuelRanker, TiedItemsStandInRandomOrder) {
  for (const char* way : {"team-draft", "balanced", "probabilistic"}) {
    const auto ranker = *make_ranker("dbgd", {{"interleaving", std::string(way)}});
    constexpr std::size_t kItems = 4;
    std::vector<Item> items(kItems);
    std::vector<ItemIndex> all(kItems);
    for (ItemIndex i = 0; i < kItems; ++i) {
      items[i].index = i;
      items[i].dense = {0.5};  // constant: the rival cannot tell them apart, either
      all[i] = i;
    }
    ASSERT_TRUE(ranker->add_items(items).ok());
    std::vector<int> first(kItems, 0);
    constexpr int kLists = 3000;
    for (std::uint64_t i = 0; i < kLists; ++i) {
      Request request;
      request.decision = {.source = 1, .counter = i};
      request.candidates = all;
      request.k = 3;
      Rng rng = Rng::for_decision(7, request.decision);
      ++first[ranker->rank(request, Signals(), rng)->items[0]];
    }
    for (const int count : first) {
      EXPECT_NEAR(count, kLists / 4.0, 6 * std::sqrt(kLists * 0.25 * 0.75)) << way;
    }
  }
}

TEST(DuelRanker, OneDocumentAndMoreClicksThanDocumentsPoisonNothing) {
  for (const char* name : {"dbgd", "mgd", "pdgd"}) {
    FeatureShop shop(name, {});
    Request request;
    request.decision = {.source = 9, .counter = 1};
    const ItemIndex only = 3;
    request.candidates = std::span(&only, 1);
    request.k = 1;
    Rng rng(1);
    const auto one = shop.ranker->rank(request, Signals(), rng);
    ASSERT_TRUE(one.ok()) << name << to_string(one.error());
    ASSERT_TRUE(shop.learn(*one, {.decision = one->id, .clicked = {only}, .closed = true}).ok());

    const Decision decision = shop.rank();
    Feedback many{.decision = decision.id, .closed = true};
    for (int i = 0; i < 1000; ++i) {  // each item two hundred times: once each
      many.clicked.push_back(decision.items[static_cast<std::size_t>(i) % FeatureShop::kShown]);
    }
    const auto report = shop.learn(decision, many);
    ASSERT_TRUE(report.ok()) << name;
    EXPECT_EQ(report->learned, FeatureShop::kShown) << name;
    EXPECT_TRUE(std::isfinite(shop.ranker->item_score(0))) << name;
    many.clicked.push_back(FeatureShop::kItems);
    EXPECT_EQ(shop.learn(decision, many).error().code, ErrorCode::kItemNotShown) << name;
  }
}

TEST(DuelRanker, ShowsNoMoreThanItsAuxCanHold) {
  const auto ranker = *make_ranker("dbgd");
  std::vector<Item> items(5000);
  std::vector<ItemIndex> all(items.size());
  for (ItemIndex i = 0; i < items.size(); ++i) {
    items[i].index = i;
    items[i].dense = {0.5};
    all[i] = i;
  }
  ASSERT_TRUE(ranker->add_items(items).ok());
  Request request;
  request.candidates = all;
  request.k = 5000;
  Rng rng(1);
  EXPECT_EQ(ranker->rank(request, Signals(), rng).error().code, ErrorCode::kTooLarge);
  request.k = 4000;
  EXPECT_TRUE(ranker->rank(request, Signals(), rng).ok());
  const auto balanced = *make_ranker("dbgd", {{"interleaving", std::string("balanced")}});
  ASSERT_TRUE(balanced->add_items(items).ok());
  EXPECT_EQ(balanced->rank(request, Signals(), rng).error().field, "k");
  request.k = 808;
  const auto longest = balanced->rank(request, Signals(), rng);
  ASSERT_TRUE(longest.ok());
  EXPECT_LE(longest->aux.size(), Decision::kMaxAuxBytes);
  EXPECT_GT(longest->aux.size() + 5, Decision::kMaxAuxBytes);
}

}  // namespace
}  // namespace hindsight::testing
