#include "src/sim/adversary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "hindsight/registry.h"
#include "src/core/regret.h"

namespace hindsight {
namespace {

struct Played {
  std::unique_ptr<Ranker> ranker;
  ReplayResult result;
};

Played play(std::string_view name, const AdversaryParams& params = {}) {
  auto ranker = make_ranker(name, {{"choice_set", std::string("candidates")}});
  EXPECT_TRUE(ranker.ok());
  auto result = play_adversary(**ranker, params, 1);
  EXPECT_TRUE(result.ok()) << to_string(result.error());
  return {*std::move(ranker), *std::move(result)};
}

// [Delage09] Remark 3.1: every user finds the wanted item at the bottom.
TEST(Adversary, PutsThePickOfEveryDeterministicRankerLast) {
  int deterministic = 0;
  for (const RankerInfo& info : ranker_registry()) {
    // What learns from shown lists alone has no choice set.
    const bool chooses =
        std::any_of(info.params.begin(), info.params.end(),
                    [](const ParamSpec& spec) { return spec.name == "choice_set"; });
    if (info.law == ListLaw::kDeterministic && chooses) {
      ++deterministic;
      const ReplayResult result = play(info.name).result;
      // (n - 1) / n, but for the rare score that comes to equal another's to the last bit.
      EXPECT_GT(result.metrics.rel_distance.value(), 0.949) << info.name;
      EXPECT_EQ(result.metrics.first_rate.value(), 0.0) << info.name;
      EXPECT_TRUE(std::isinf(result.metrics.kl_cost.value())) << info.name;
    }
  }
  EXPECT_GE(deterministic, 6);
}

// The best fixed policy costs ln n per round at most, and Theorem 4.4 bounds what is paid beyond
// it. The click distance tends to that of Random, 0.475: over the last eighth of 8,192 rounds its
// standard error is below 0.29 / 32 = 0.009, and scores that still differ add a little.
TEST(Adversary, CannotHurtNoRegretKlRankInTheLongRun) {
  const Played played = play("noregret-klrank");
  const ReplayResult& result = played.result;
  const double random_cost = std::log(20.0);
  EXPECT_LT(result.metrics.rel_distance.value(), 0.65);
  double late_distance = 0.0;
  for (std::size_t i = 56; i < 64; ++i) {
    late_distance += result.curve[i].rel_distance / 8.0;
  }
  EXPECT_LT(late_distance, 0.56);
  EXPECT_LT(result.curve.back().kl_cost, random_cost + 0.25);
  ASSERT_EQ(result.regret.size(), result.checkpoints.size());
  for (const RegretAccount& point : result.regret) {
    const double regret_against_uniform =
        point.learned_cost() - random_cost * static_cast<double>(point.clicks());
    EXPECT_LE(regret_against_uniform, point.data_bound()) << point.clicks();
    EXPECT_LE(regret_against_uniform, point.theorem_bound()) << point.clicks();
  }
}

// With the first slot drawn and the rest sorted the cost keeps its promise; the position does not.
TEST(Adversary, HurtsThePositionsButNotTheCostOfKlRank) {
  const ReplayResult drawn = play("noregret-klrank").result;
  const ReplayResult sorted_rest = play("klrank").result;
  ASSERT_EQ(sorted_rest.cost_at.size(), drawn.cost_at.size());
  for (std::size_t i = 0; i < drawn.cost_at.size(); ++i) {
    EXPECT_NEAR(sorted_rest.cost_at[i] / drawn.cost_at[i], 1.0, 1e-9);  // sums in another order
  }
  EXPECT_GT(sorted_rest.metrics.rel_distance.value(), 0.85);
}

// 8,192 uniform positions: relative distance 0.475, six standard errors are 0.02.
TEST(Adversary, CannotHurtRandomAtAll) {
  const ReplayResult result = play("random").result;
  EXPECT_NEAR(result.metrics.rel_distance.value(), 0.475, 0.02);
  EXPECT_NEAR(result.metrics.kl_cost.value(), std::log(20.0), 1e-12);
}

TEST(Adversary, RefusesALibraryOfOneAndNoQueries) {
  const auto refused = [](const AdversaryParams& params) {
    auto ranker = make_ranker("random");
    return !play_adversary(**ranker, params, 1).ok();
  };
  EXPECT_TRUE(refused({.items = 1}));
  EXPECT_TRUE(refused({.queries = 0}));
  EXPECT_TRUE(refused({.tie_breaker = std::nan("")}));
}

}  // namespace
}  // namespace hindsight
