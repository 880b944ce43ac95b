// What a KLRank ranker says it paid for is what it paid for: its steps taken again on the choices
// that it names cost the same, click by click.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/core/choice_objective.h"
#include "src/core/kernels.h"
#include "src/core/regret.h"

namespace hindsight {
namespace {

constexpr std::size_t kItems = 12;
constexpr std::size_t kTerms = 16;

std::unique_ptr<Ranker> ranker_of(const std::string& name, const std::string& phi) {
  auto ranker = make_ranker(
      name, {{"phi", phi}, {"feature_bound", 2.0}, {"context_terms", static_cast<double>(kTerms)}});
  std::vector<Item> items(kItems);
  for (std::size_t i = 0; i < kItems; ++i) {
    const double x = static_cast<double>(i) / kItems;
    items[i].index = static_cast<ItemIndex>(i);
    items[i].dense = {x, 1.0 - x};
    items[i].sparse_index = {static_cast<std::uint32_t>(i % 3)};
    items[i].sparse_value = {0.5};
  }
  EXPECT_TRUE((*ranker)->add_items(items).ok());
  return *std::move(ranker);
}

Decision decide(const Ranker& ranker, const Signals& signals, std::uint64_t number, Rng& rng) {
  std::vector<ItemIndex> candidates;
  std::vector<double> prior;
  for (ItemIndex i = 0; i < kItems; ++i) {
    if (rng.below(2) == 0 || candidates.size() < 2) {
      candidates.push_back(i);
      prior.push_back(rng.normal());
    }
  }
  Request request;
  request.decision = {.source = 0, .counter = number};
  request.candidates = candidates;
  if (rng.below(2) == 0) {
    request.prior = prior;
  }
  request.k = 2 + rng.below(candidates.size() - 1);
  request.context_key = rng.below(3);  // 0: none
  auto decision = ranker.rank(request, signals, rng);
  EXPECT_TRUE(decision.ok());
  decision->id = request.decision;
  decision->context_key = request.context_key;
  return *std::move(decision);
}

TEST(ChoiceOf, StepsOnItsChoicesCostWhatTheRankerBooks) {
  for (const char* name : {"klrank", "noregret-klrank", "greedy-klrank"}) {
    for (const char* phi : {"items", "features", "items+features"}) {
      SCOPED_TRACE(std::string(name) + " " + phi);
      const auto ranker = ranker_of(name, phi);
      ASSERT_TRUE(ranker->books_kl_cost());
      const Signals signals;
      Rng rng(9);
      const ChoiceObjective::Sizes sizes{
          .items = kItems, .dense = 2, .sparse = 3, .context = kTerms};
      std::vector<double> theta(kItems + 5 + kTerms, 0.0);
      std::vector<double> gradient(theta.size());
      for (std::uint64_t t = 1; t <= 200; ++t) {
        const Decision decision = decide(*ranker, signals, t, rng);
        const ItemIndex clicked = decision.items[rng.below(decision.shown_count)];
        const std::vector<Choice> choice = {*ranker->choice_of(decision, clicked)};
        const double cost = ChoiceObjective(choice, sizes).evaluate(theta, gradient);
        const Step step = ranker->regret()->next_step();
        const Feedback feedback{.decision = decision.id, .clicked = {clicked}};
        ASSERT_TRUE(ranker->learn(decision, feedback, signals).ok());
        ASSERT_NEAR(ranker->regret()->last_learned_cost(), cost, 1e-9) << t;
        for (std::size_t i = 0; i < theta.size(); ++i) {
          theta[i] -= step.eta * gradient[i];
        }
        const double norm = std::sqrt(dot(theta, theta));
        for (double& weight : theta) {
          weight *= norm > step.radius ? step.radius / norm : 1.0;
        }
      }
    }
  }
}

// The mixture's best fixed policy in hindsight is that of klrank.
TEST(ChoiceOf, AutoNamesTheChoiceOfKlRank) {
  Decision decision;
  decision.items = {4, 1, 3};
  decision.shown_count = 3;
  decision.prior = {0.5, 0.0, -1.0};
  decision.context_key = 77;
  const auto mixed = (*make_ranker("auto"))->choice_of(decision, 1);
  const auto plain = (*make_ranker("klrank"))->choice_of(decision, 1);
  ASSERT_TRUE(mixed && plain);
  EXPECT_EQ(mixed->items, plain->items);
  EXPECT_EQ(mixed->prior, plain->prior);
  EXPECT_EQ(mixed->picked, plain->picked);
  EXPECT_EQ(mixed->n, plain->n);
  EXPECT_EQ(mixed->context, plain->context);
  EXPECT_EQ(mixed->context.size(), 3U);
  EXPECT_EQ(mixed->factor, plain->factor);
}

TEST(ChoiceOf, OtherRankersNameNone) {
  for (const RankerInfo& info : ranker_registry()) {
    const auto ranker = make_ranker(info.name);
    const bool kl = info.name == "auto" || (info.name.find("klrank") != std::string_view::npos &&
                                            info.name != "feature-klrank");
    EXPECT_EQ((*ranker)->books_kl_cost(), kl) << info.name;
    if (!kl) {
      Decision decision;
      decision.items = {0, 1};
      decision.shown_count = 2;
      EXPECT_FALSE((*ranker)->choice_of(decision, 0)) << info.name;
    }
  }
}

}  // namespace
}  // namespace hindsight
