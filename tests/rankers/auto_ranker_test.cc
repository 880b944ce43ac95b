// What `auto` and `feature-klrank` promise beyond the conformance suite.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/core/signal_features.h"
#include "tests/support/stream.h"
#include "tests/support/world.h"

namespace hindsight {
namespace {

using testing::World;

ParamMap all_candidates(ParamMap params = {}) {
  params["choice_set"] = std::string("candidates");
  return params;
}

/// A ranker, its library and the log so far.
class Shop {
 public:
  Shop(const char* name, const ParamMap& params, std::size_t items)
      : ranker_(*make_ranker(name, params)) {
    grow(items);
  }

  void grow(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const Item item = testing::plain_item(static_cast<ItemIndex>(ranker_->items_added()));
      EXPECT_TRUE(ranker_->add_items(std::span(&item, 1)).ok());
      signals_.item_added(item.index, 0);
      candidates_.push_back(item.index);
    }
  }

  Request request(std::uint64_t session = 0, std::uint64_t context_key = 0) {
    Request request;
    request.decision = {0, ++counter_};
    request.candidates = candidates_;
    request.k = candidates_.size();
    request.session = session;
    request.context_key = context_key;
    return request;
  }
  Decision rank(std::uint64_t session = 0, std::uint64_t context_key = 0) {
    const Request wish = request(session, context_key);
    Rng rng = Rng::for_decision(1, wish.decision);
    return *ranker_->rank(wish, signals_, rng);
  }
  void click(const Decision& decision, ItemIndex item) {
    const Feedback feedback{.decision = decision.id, .clicked = {item}};
    ASSERT_TRUE(ranker_->learn(decision, feedback, signals_).ok());
    signals_.picked(item, 0, decision.session, decision.group);
  }
  Explanation explain(ItemIndex item, std::uint64_t session = 0) {
    return *ranker_->explain(request(session), signals_, item);
  }

  const Ranker& ranker() const { return *ranker_; }
  Ranker& ranker() { return *ranker_; }
  const Signals& signals() const { return signals_; }
  Signals& signals() { return signals_; }

 private:
  std::unique_ptr<Ranker> ranker_;
  Signals signals_;
  std::vector<ItemIndex> candidates_;
  std::uint64_t counter_ = 0;
};

// The theorem, to rounding: cost(auto) <= min over experts + ln N (+ what a share costs).
void expect_within_bound(const Ranker& ranker, const Explanation& explanation, double share = 0.0) {
  const auto regret = *ranker.regret_summary();
  double best = std::numeric_limits<double>::infinity();
  for (const Explanation::Expert& expert : explanation.experts) {
    best = std::min(best, expert.cost);
  }
  const double rounds = std::max(1.0, static_cast<double>(regret.clicks)) - 1.0;
  const double bound = best + std::log(static_cast<double>(explanation.experts.size())) -
                       rounds * std::log(1.0 - share);
  EXPECT_LE(regret.learned_cost, bound + 1e-9 * (1.0 + bound));
  EXPECT_GT(explanation.experts.size(), 5U);
  // The regret bound that is shown is the one of its first expert, klrank with alpha 3, and the
  // same.
  const double clicks = static_cast<double>(regret.clicks);
  const double shown = 60.0 * (std::pow(clicks, 0.75) + 1.0) + bound - best;
  EXPECT_NEAR(regret.theorem_bound, shown, 1e-9 * shown);
}

TEST(Auto, PaysAtMostLnNMoreThanTheBestExpertInAnyLife) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const char* share : {"none", "some"}) {
      const double part = std::string(share) == "none" ? 0.0 : 0.01;
      auto ranker = *make_ranker("auto", {{"share", part}});
      World world({.seed = seed, .context_keys = seed % 2 == 0});
      ASSERT_EQ(world.run(*ranker, 150), "");  // late, repeated, odd; items come and go
      Request request;
      request.candidates = world.live();
      request.k = world.live().size();
      const auto explanation = ranker->explain(request, world.signals(), world.live()[0]);
      ASSERT_TRUE(explanation.ok());
      expect_within_bound(*ranker, *explanation, part);
    }
  }
}

TEST(Auto, PaysAtMostLnNMoreThanTheBestExpertAgainstAnAdversary) {
  Shop shop("auto", all_candidates(), 8);
  for (int t = 0; t < 600; ++t) {
    const Decision decision = shop.rank(1 + static_cast<std::uint64_t>(t) / 5);
    const auto least = std::min_element(decision.score.begin(), decision.score.end());
    shop.click(decision, decision.items[static_cast<std::size_t>(least - decision.score.begin())]);
    if (t % 100 == 99) {
      shop.grow(1);
      expect_within_bound(shop.ranker(), shop.explain(0));
    }
  }
}

/// A stream with a change: for so many rounds everybody wants what was wanted last, then what was
/// wanted most.
double cost_of_change(double share, bool check) {
  Shop shop("auto", all_candidates({{"share", share}}), 10);
  Rng rng(5);
  for (int t = 0; t < 1200; ++t) {
    const Decision decision = shop.rank();
    const ItemIndex item = t < 600 ? static_cast<ItemIndex>(t / 7 % 10)
                                   : static_cast<ItemIndex>(rng.below(4) == 0 ? rng.below(10) : 3);
    shop.click(decision, item);
  }
  if (check) {
    expect_within_bound(shop.ranker(), shop.explain(0), share);
  }
  return shop.ranker().regret_summary()->learned_cost;
}

TEST(Auto, PaysAtMostItsBoundOnAStreamWithAChange) {
  cost_of_change(0.0, true);
  cost_of_change(0.02, true);
}

TEST(Auto, KeepsItsBoundWhenEveryClickIsLate) {
  Shop shop("auto", all_candidates(), 12);
  std::vector<Decision> open;
  for (int t = 0; t < 400; ++t) {
    open.push_back(shop.rank(1 + static_cast<std::uint64_t>(t) % 9));
    if (open.size() > 40) {
      shop.click(open.front(), static_cast<ItemIndex>(t * t % 12));
      open.erase(open.begin());
    }
  }
  expect_within_bound(shop.ranker(), shop.explain(0));
  EXPECT_GT(shop.ranker().regret_summary()->served_cost, 0.0);
}

TEST(Auto, WhatItServesIsWhatItIsChargedWhenClicksComeAtOnce) {
  Shop shop("auto", all_candidates(), 9);
  double served = 0.0;
  for (int t = 0; t < 100; ++t) {
    const Decision decision = shop.rank(1 + static_cast<std::uint64_t>(t) / 4);
    const auto item = static_cast<ItemIndex>(t * 5 % 9 % 4);
    const auto place = static_cast<std::size_t>(
        std::find(decision.items.begin(), decision.items.end(), item) - decision.items.begin());
    served -= std::log(decision.prob_first[place]);
    shop.click(decision, item);
  }
  EXPECT_NEAR(shop.ranker().regret_summary()->learned_cost, served, 1e-6);
  EXPECT_NEAR(shop.ranker().regret_summary()->served_cost, served, 1e-6);
}

TEST(Auto, ProbabilitiesTooSmallForNumbersAreAddedAsLogarithms) {
  Shop shop("auto", all_candidates(), 3);
  Request request = shop.request();
  const std::vector<double> prior = {0.0, -2000.0, -1e6};
  request.prior = prior;
  Rng rng(1);
  const Decision decision = *shop.ranker().rank(request, shop.signals(), rng);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(decision.score[i], prior[decision.items[i]], 1e-6);
  }
}

double score_in(const Decision& decision, ItemIndex item) {
  const auto at = std::find(decision.items.begin(), decision.items.end(), item);
  return decision.score[static_cast<std::size_t>(at - decision.items.begin())];
}

// A user who asks for "jaguar" wants item 1, one who asks for "puma" item 2.
TEST(Auto, EachContextKeyLearnsItsOwnOrder) {
  constexpr std::uint64_t kJaguar = 0x1234;
  constexpr std::uint64_t kPuma = 0x98765432123;
  for (const char* name : {"auto", "feature-klrank"}) {
    Shop shop(name, all_candidates(), 5);
    for (int t = 0; t < 400; ++t) {
      const std::uint64_t key = t % 2 == 0 ? kJaguar : kPuma;
      shop.click(shop.rank(0, key), key == kJaguar ? 1 : 2);
    }
    const Decision jaguar = shop.rank(0, kJaguar);
    const Decision puma = shop.rank(0, kPuma);
    const Decision plain = shop.rank();
    EXPECT_GT(score_in(jaguar, 1), score_in(jaguar, 2) + 2.0) << name;
    EXPECT_GT(score_in(puma, 2), score_in(puma, 1) + 2.0) << name;
    EXPECT_LT(std::abs(score_in(plain, 1) - score_in(plain, 2)), 1.0) << name;
    EXPECT_GT(score_in(plain, 1), score_in(plain, 0) + 1.0) << name;
    const Explanation why = *shop.ranker().explain(shop.request(0, kJaguar), shop.signals(), 1);
    EXPECT_EQ(why.parts.back().name, "the item under this context key");
    EXPECT_GT(why.parts.back().contribution, 0.5) << name;
  }
}

TEST(FeatureKlRank, RefusesKeysThatItCouldNotLearnUnder) {
  for (const char* none : {"item_rate", "context_terms"}) {
    Shop shop("feature-klrank", all_candidates({{none, 0.0}}), 3);
    const Request request = shop.request(0, 5);
    Rng rng(1);
    const auto refused = shop.ranker().rank(request, shop.signals(), rng);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(refused.error().message.find(none), std::string::npos);
  }
}

// Under keys, too, the first expert is klrank itself, so that its theorem can be leant on.
TEST(Auto, ItsFirstExpertPaysWhatKlRankPays) {
  Shop shop("auto", all_candidates(), 6);
  auto alone = *make_ranker("klrank", all_candidates({{"alpha", 3.0}}));
  for (ItemIndex i = 0; i < 6; ++i) {
    const Item item = testing::plain_item(i);
    ASSERT_TRUE(alone->add_items(std::span(&item, 1)).ok());
  }
  Rng rng(11);
  for (int t = 0; t < 300; ++t) {
    const Decision decision = shop.rank(1 + rng.below(9), rng.below(4));
    const auto item = static_cast<ItemIndex>(rng.below(1 + rng.below(6)));
    shop.click(decision, item);
    const Feedback feedback{.decision = decision.id, .clicked = {item}};
    ASSERT_TRUE(alone->learn(decision, feedback, shop.signals()).ok());
  }
  const double cost = alone->regret_summary()->learned_cost;
  EXPECT_NEAR(shop.explain(0).experts[0].cost, cost, 1e-9 * cost);
}

// The budget of a collection counts on it.
TEST(Auto, KnowsWhatItsTermsTake) {
  Shop shop("auto", {}, 1000);
  const std::size_t before = shop.ranker().memory_bytes();
  EXPECT_GE(before, 1000U * (1 + 2 * 8 + 7 * 8 + 8));
  EXPECT_LE(before, 3 * 1000U * (1 + 2 * 8 + 7 * 8 + 8));
  shop.click(shop.rank(0, 5), 3);  // under a key: the table of context terms is there
  EXPECT_GE(shop.ranker().memory_bytes(), before + 65'536U * 9 * 8);
}

TEST(Auto, ExplainsItsExpertsAndWhatTheyLookAt) {
  Shop shop("auto", all_candidates(), 6);
  for (int t = 0; t < 60; ++t) {
    shop.click(shop.rank(1 + static_cast<std::uint64_t>(t) / 3), static_cast<ItemIndex>(t % 3));
  }
  const Explanation explanation = shop.explain(2, 99);
  double weights = 0.0;
  double prob = 0.0;
  for (const Explanation::Expert& expert : explanation.experts) {
    weights += expert.weight;
    prob += expert.weight * expert.prob_first;
  }
  EXPECT_NEAR(weights, 1.0, 1e-9);
  ASSERT_TRUE(explanation.prob_first);
  EXPECT_NEAR(prob, *explanation.prob_first, 1e-9);
  EXPECT_NEAR(explanation.score, std::log(prob), 1e-9);
  ASSERT_GE(explanation.parts.size(), kSignalColumns);
  EXPECT_EQ(explanation.parts[0].name, "picks");
  EXPECT_NEAR(explanation.parts[0].value, std::log(21.0), 1e-12);
  EXPECT_FALSE(shop.ranker().explain(shop.request(), shop.signals(), 77).ok());
}

TEST(FeatureKlRank, ItsPartsAddUpToItsScore) {
  Shop shop("feature-klrank", all_candidates(), 6);
  for (int t = 0; t < 60; ++t) {
    shop.click(shop.rank(1 + static_cast<std::uint64_t>(t) / 3), static_cast<ItemIndex>(t % 3));
  }
  const Decision decision = shop.rank(99);
  for (std::size_t i = 0; i < decision.items.size(); ++i) {
    const Explanation explanation = shop.explain(decision.items[i], 99);
    EXPECT_NEAR(explanation.score, decision.score[i], 1e-9);
    EXPECT_NEAR(*explanation.prob_first, decision.prob_first[i], 1e-9);
  }
}

// Two sessions that pick the same two items: the second pick is foreseen.
TEST(FeatureKlRank, LearnsWhatGoesTogether) {
  Shop shop("feature-klrank", all_candidates(), 20);
  for (std::uint64_t session = 1; session <= 150; ++session) {
    const auto pair = static_cast<ItemIndex>(session % 10);
    shop.click(shop.rank(session), 2 * pair);
    shop.click(shop.rank(session), 2 * pair + 1);
  }
  shop.click(shop.rank(1000), 6);
  const Decision decision = shop.rank(1000);
  const auto best = std::max_element(decision.score.begin(), decision.score.end());
  EXPECT_EQ(decision.items[static_cast<std::size_t>(best - decision.score.begin())], 7U);
}

TEST(EveryRanker, ExplainsAnItem) {
  for (const RankerInfo& info : ranker_registry()) {
    auto ranker = *make_ranker(info.name, {});
    World world({.seed = 3, .learns = info.learns});
    ASSERT_EQ(world.run(*ranker, 60), "") << info.name;
    Request request;
    request.candidates = world.live();
    request.k = world.live().size();
    for (const bool whole_library : {false, true}) {
      request.whole_library = whole_library;
      request.candidates = whole_library ? std::span<const ItemIndex>() : world.live();
      const auto explanation = ranker->explain(request, world.signals(), world.live()[1]);
      ASSERT_TRUE(explanation.ok()) << info.name;
      EXPECT_TRUE(std::isfinite(explanation->score)) << info.name;
      EXPECT_FALSE(explanation->parts.empty()) << info.name;
    }
  }
}

}  // namespace
}  // namespace hindsight
