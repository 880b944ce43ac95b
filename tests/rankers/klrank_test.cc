// What the rankers of the KLRank family promise beyond the conformance suite.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/core/regret.h"
#include "tests/support/stream.h"

namespace hindsight {
namespace {

class KlRankTest : public ::testing::Test {
 protected:
  std::unique_ptr<Ranker> make(const char* name, const ParamMap& params = {}, ItemIndex items = 6) {
    auto ranker = *make_ranker(name, params);
    for (ItemIndex i = 0; i < items; ++i) {
      const Item item = testing::plain_item(i);
      EXPECT_TRUE(ranker->add_items(std::span(&item, 1)).ok());
    }
    return ranker;
  }

  Result<Decision> rank(const Ranker& ranker, const std::vector<ItemIndex>& candidates,
                        std::size_t k, std::uint64_t counter = 1,
                        std::span<const double> prior = {}, std::uint64_t context_key = 0) {
    Request request;
    request.context_key = context_key;
    request.decision = {0, counter};
    request.candidates = candidates;
    request.k = k;
    request.prior = prior;
    Rng rng = Rng::for_decision(1, request.decision);
    return ranker.rank(request, signals_, rng);
  }

  void click(Ranker& ranker, const Decision& decision, std::vector<ItemIndex> clicked) {
    Feedback feedback;
    feedback.decision = decision.id;
    feedback.clicked = std::move(clicked);
    ASSERT_TRUE(ranker.learn(decision, feedback, signals_).ok());
  }

  Signals signals_;
};

// [Delage09] Table 1 by hand: two items, theta = 0, the first click moves theta by eta (1 - 1/2)
// each way.
TEST_F(KlRankTest, FirstStepIsThatOfTableOne) {
  auto ranker = make("klrank", {{"alpha", 3.0}, {"choice_set", std::string("candidates")}});
  const auto decision = rank(*ranker, {1, 4}, 2);
  click(*ranker, *decision, {4});
  const double eta = 2 * 3.0 * std::pow(2.0, 0.25) / (2 * std::sqrt(2.0));
  EXPECT_NEAR(ranker->item_score(4), 0.5 * eta, 1e-12);
  EXPECT_NEAR(ranker->item_score(1), -0.5 * eta, 1e-12);
  EXPECT_EQ(ranker->item_score(0), 0.0);
  EXPECT_NEAR(ranker->regret()->learned_cost(), std::log(2.0), 1e-15);
}

TEST_F(KlRankTest, ThreeListsAreMadeFromOneLearner) {
  const ParamMap params = {{"choice_set", std::string("candidates")}};
  auto first = make("klrank", params);
  auto whole = make("noregret-klrank", params);
  auto greedy = make("greedy-klrank", params);
  const std::vector<ItemIndex> candidates = {0, 1, 2, 3, 4, 5};
  for (std::uint64_t t = 1; t <= 200; ++t) {
    const auto pick = static_cast<ItemIndex>(t * t % 5);
    for (Ranker* ranker : {first.get(), whole.get(), greedy.get()}) {
      click(*ranker, *rank(*ranker, candidates, 6, t), {pick});
    }
  }
  for (ItemIndex i = 0; i < 6; ++i) {
    // The sums run in the order of the lists, which differ: equal up to rounding.
    EXPECT_NEAR(first->item_score(i), whole->item_score(i), 1e-12);
    EXPECT_NEAR(first->item_score(i), greedy->item_score(i), 1e-12);
  }
  EXPECT_NEAR(first->regret()->learned_cost(), greedy->regret()->learned_cost(), 1e-9);
  EXPECT_NEAR(first->regret()->served_cost(), greedy->regret()->served_cost(), 1e-9);
}

TEST_F(KlRankTest, AListOfOneOutOfSeveralIsRefusedOnlyWhereThePickIsAmongTheShown) {
  auto shown = make("klrank");
  const auto refused = rank(*shown, {0, 1, 2}, 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_TRUE(rank(*shown, {0}, 1).ok());
  auto all = make("klrank", {{"choice_set", std::string("candidates")}});
  EXPECT_TRUE(rank(*all, {0, 1, 2}, 1).ok());
  EXPECT_TRUE(rank(*make("random"), {0, 1, 2}, 1).ok());
}

// The learning loss is the choice among the shown items: what was not shown does not move.
TEST_F(KlRankTest, OnlyTheShownItemsLearn) {
  auto ranker = make("klrank");
  const auto decision = rank(*ranker, {0, 1, 2, 3, 4, 5}, 3);
  ASSERT_EQ(decision->items.size(), 3U);
  const ItemIndex picked = decision->items[1];
  click(*ranker, *decision, {picked});
  for (ItemIndex i = 0; i < 6; ++i) {
    const bool was_shown =
        std::find(decision->items.begin(), decision->items.end(), i) != decision->items.end();
    EXPECT_EQ(ranker->item_score(i) != 0.0, was_shown);
  }
  EXPECT_NEAR(ranker->regret()->learned_cost(), std::log(3.0), 1e-15);
}

TEST_F(KlRankTest, NoClickIsNoStepAndNoCost) {
  auto ranker = make("klrank");
  const std::string before = model_hash(*ranker);
  click(*ranker, *rank(*ranker, {0, 1, 2}, 2), {});
  EXPECT_EQ(model_hash(*ranker), before);
}

TEST_F(KlRankTest, SeveralClicksAreLearnedOneAfterTheOther) {
  auto at_once = make("klrank");
  auto apart = make("klrank");
  const auto decision = rank(*at_once, {0, 1, 2, 3}, 4);
  click(*at_once, *decision, {2, 0, 2});  // the repeat counts once
  click(*apart, *decision, {2});
  click(*apart, *decision, {0});
  EXPECT_EQ(model_hash(*at_once), model_hash(*apart));
  EXPECT_EQ(at_once->regret()->clicks(), 2U);
}

TEST_F(KlRankTest, PriorsAreAddedToTheScoreAndLearnedAround) {
  auto ranker = make("greedy-klrank");
  const std::vector<double> prior = {0.0, 5.0, 1.0};
  const auto decision = rank(*ranker, {0, 1, 2}, 3, 1, prior);
  EXPECT_EQ(decision->items, (std::vector<ItemIndex>{1, 2, 0}));
  EXPECT_EQ(decision->prior, (std::vector<double>{5.0, 1.0, 0.0}));
  click(*ranker, *decision, {1});
  // The favourite was picked: the prior had foreseen it, so that little is learned.
  EXPECT_LT(ranker->item_score(1), 0.2);
  EXPECT_GT(ranker->item_score(1), 0.0);
}

TEST_F(KlRankTest, HugePriorsAreRefusedNotRepaired) {
  auto ranker = make("klrank");
  const std::vector<double> huge = {1e308, -1e308};
  const auto refused = rank(*ranker, {0, 1}, 2, 1, huge);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
  const std::vector<double> large = {kMaxPrior, -kMaxPrior};
  const auto decision = rank(*ranker, {0, 1}, 2, 1, large);
  ASSERT_TRUE(decision.ok());
  click(*ranker, *decision, {1});
  EXPECT_TRUE(std::isfinite(ranker->item_score(0)));
  EXPECT_NEAR(ranker->regret_summary()->learned_cost, 2 * kMaxPrior, 1.0);
}

// A decision that no ranker could have made teaches nothing, and says so.
TEST_F(KlRankTest, ImpossibleDecisionsAreRefused) {
  auto ranker = make("klrank", {{"choice_set", std::string("candidates")}});
  const auto good = rank(*ranker, {0, 1, 2}, 3);
  const std::string before = model_hash(*ranker);
  const std::vector<std::function<void(Decision&)>> faults = {
      [](Decision& d) { d.prob_first[1] = 7.0; },
      [](Decision& d) { d.prob_first[1] = -0.1; },
      [](Decision& d) { d.prob_first[1] = std::nan(""); },
      [](Decision& d) { d.log_propensity = std::nan(""); },
      [](Decision& d) { d.log_propensity = 0.5; },
      [](Decision& d) { d.score[0] = 1e300; },
      [](Decision& d) {
        d.prior = {0.0, 1e7, 0.0};
      },
      [](Decision& d) { d.choice_set = static_cast<ChoiceSet>(77); },
      [](Decision& d) { d.choice_set = ChoiceSet::kShown, d.shown_count = 2; },
      [](Decision& d) { d.items[2] = 1'000'000; },
      [](Decision& d) { d.items[2] = d.items[1]; },
      [](Decision& d) { d.score.pop_back(); },
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    Decision bad = *good;
    faults[i](bad);
    Feedback feedback;
    feedback.decision = bad.id;
    feedback.clicked = {bad.items[0]};
    EXPECT_FALSE(ranker->learn(bad, feedback, signals_).ok()) << i;
    EXPECT_EQ(model_hash(*ranker), before) << i;
  }
}

// With redraw, P(first | shown set) is the softmax over the set. Scores 2, 1, 0, -1 by learning
// would be tedious: priors. 40,000 lists of 2 out of 4; each count within 5 standard deviations,
// false alarm below 4e-6.
TEST_F(KlRankTest, RedrawMakesTheFirstSlotTheSoftmaxOverTheShownSet) {
  for (const char* name : {"noregret-klrank", "klrank"}) {
    auto ranker = make(name, {{"redraw", true}});
    const std::vector<double> prior = {2.0, 1.0, 0.0, -1.0};
    double together = 0.0;
    double zero_first = 0.0;
    for (std::uint64_t t = 1; t <= 40'000; ++t) {
      const auto decision = rank(*ranker, {0, 1, 2, 3}, 2, t, prior);
      EXPECT_FALSE(decision->log_propensity.has_value());
      const ItemIndex a = decision->items[0];
      const ItemIndex b = decision->items[1];
      if (std::min(a, b) == 0 && std::max(a, b) == 2) {
        together += 1.0;
        zero_first += a == 0 ? 1.0 : 0.0;
        EXPECT_NEAR(decision->prob_first[a == 0 ? 0 : 1], 1 / (1 + std::exp(-2.0)), 1e-12);
      }
    }
    const double p = 1 / (1 + std::exp(-2.0));
    ASSERT_GT(together, 1000.0);
    EXPECT_NEAR(zero_first, together * p, 5 * std::sqrt(together * p * (1 - p))) << name;
  }
}

TEST_F(KlRankTest, FeaturesAreLearnedAndLongOnesRefused) {
  auto ranker = *make_ranker("klrank", {{"phi", std::string("features")}, {"feature_bound", 2.0}});
  std::vector<Item> items(4);
  for (ItemIndex i = 0; i < 4; ++i) {
    items[i].index = i;
    items[i].dense = {i % 2 == 0 ? 1.0 : -1.0, 0.5};
    items[i].sparse_index = {i};
    items[i].sparse_value = {0.1};
  }
  ASSERT_TRUE(ranker->add_items(items).ok());
  for (std::uint64_t t = 1; t <= 100; ++t) {
    const auto decision = rank(*ranker, {0, 1}, 2, t);
    ASSERT_EQ(decision->features.dense_dim, 2U);
    click(*ranker, *decision, {0});
  }
  EXPECT_GT(ranker->item_score(2), ranker->item_score(3));  // never seen, but features like 0's
  Item too_long = testing::plain_item(4);
  too_long.dense = {2.0, 1.0};
  const std::string before = model_hash(*ranker);
  const auto refused = ranker->add_items(std::span(&too_long, 1));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kFeatureTooLong);
  EXPECT_EQ(model_hash(*ranker), before);
}

TEST_F(KlRankTest, RequestsMayBringFeaturesOfTheirOwnThatGrow) {
  auto ranker = make("klrank", {{"phi", std::string("items+features")}, {"feature_bound", 3.0}});
  const std::vector<ItemIndex> candidates = {0, 1};
  for (std::uint64_t t = 1; t <= 50; ++t) {
    FeatureRows rows{.dense_dim = 0,
                     .dense = {},
                     .row_begin = {0, 1, 2},
                     .sparse_index = {static_cast<std::uint32_t>(t), 0},
                     .sparse_value = {1.0, 1.0}};
    Request request;
    request.decision = {0, t};
    request.candidates = candidates;
    request.k = 2;
    request.features = &rows;
    Rng rng(t);
    const auto decision = ranker->rank(request, signals_, rng);
    ASSERT_TRUE(decision.ok());
    click(*ranker, *decision, {1});
  }
  EXPECT_GT(ranker->item_score(1), ranker->item_score(0));
}

TEST_F(KlRankTest, LateClicksAreChargedAtLearningAndAsServed) {
  auto ranker = make("klrank", {{"choice_set", std::string("candidates")}});
  const auto early = rank(*ranker, {0, 1}, 2, 1);
  for (std::uint64_t t = 2; t <= 50; ++t) {
    click(*ranker, *rank(*ranker, {0, 1}, 2, t), {0});
  }
  const double learned = ranker->regret()->learned_cost();
  const double served = ranker->regret()->served_cost();
  click(*ranker, *early, {1});  // by now the model would bet against it
  EXPECT_NEAR(ranker->regret()->served_cost() - served, std::log(2.0), 1e-12);
  EXPECT_GT(ranker->regret()->learned_cost() - learned, 1.0);
}

// A user who asks for "jaguar" wants item 1, one who asks for "puma" item 2; item 0 is wanted by
// none.
TEST_F(KlRankTest, EachContextKeyLearnsItsOwnOrder) {
  for (const char* name : {"noregret-klrank", "greedy-klrank", "klrank", "online-ranknet"}) {
    auto ranker = make(name);
    constexpr std::uint64_t kJaguar = 0x1234;
    constexpr std::uint64_t kPuma = 0x98765432123;
    for (std::uint64_t t = 1; t <= 400; ++t) {
      const std::uint64_t key = t % 2 == 0 ? kJaguar : kPuma;
      const auto decision = rank(*ranker, {0, 1, 2}, 3, t, {}, key);
      ASSERT_EQ(decision->context_key, key);
      click(*ranker, *decision, {key == kJaguar ? ItemIndex{1} : ItemIndex{2}});
    }
    const auto score = [&](std::uint64_t key, ItemIndex item) {
      const auto decision = rank(*ranker, {0, 1, 2}, 3, 1000, {}, key);
      return decision->score[static_cast<std::size_t>(
          std::find(decision->items.begin(), decision->items.end(), item) -
          decision->items.begin())];
    };
    EXPECT_GT(score(kJaguar, 1), score(kJaguar, 2) + 1.0) << name;
    EXPECT_GT(score(kPuma, 2), score(kPuma, 1) + 1.0) << name;
    // Without a key, and under a new one, only what all users share is known.
    EXPECT_NEAR(score(0, 1), score(0, 2), 0.6) << name;
    EXPECT_GT(score(0, 1), score(0, 0)) << name;
    EXPECT_NEAR(score(7, 1), score(0, 1) / std::sqrt(2.0), 1e-12) << name;
  }
}

// One click under a key moves the pair by as much as the item: under the key the score gains twice
// of what it gains under another.
TEST_F(KlRankTest, AClickUnderAKeyCountsTwiceThere) {
  auto ranker = make("klrank", {{"choice_set", std::string("candidates")}});
  click(*ranker, *rank(*ranker, {1, 4}, 2, 1, {}, 5), {4});
  const auto gain = [&](std::uint64_t key) {
    const auto decision = rank(*ranker, {1, 4}, 2, 2, {}, key);
    return decision->score[decision->items[0] == 4 ? 0 : 1];
  };
  const double eta = 2 * 3.0 * std::pow(2.0, 0.25) / (2 * std::sqrt(2.0));
  EXPECT_NEAR(gain(5), 0.5 * eta, 1e-12);  // (1/2) * 2 terms * factor^2
  EXPECT_NEAR(gain(6), 0.25 * eta, 1e-12);
  EXPECT_NEAR(ranker->item_score(4), 0.5 * eta / std::sqrt(2.0), 1e-12);
}

TEST_F(KlRankTest, WithoutContextTermsKeysAreRefusedAndOldDecisionsLearnWithoutThem) {
  auto with = make("klrank");
  const auto decision = rank(*with, {0, 1, 2}, 3, 1, {}, 9);
  auto without = make("klrank", {{"context_terms", 0.0}});
  const auto refused = rank(*without, {0, 1, 2}, 3, 1, {}, 9);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(refused.error().field, "context_key");
  click(*without, *decision, {1});
  Decision plain = *decision;
  plain.context_key = 0;
  auto other = make("klrank");
  click(*other, plain, {1});
  EXPECT_EQ(model_hash(*without), model_hash(*other));
}

// Memory is that of the table, whatever keys there are.
TEST_F(KlRankTest, AnyNumberOfKeysSharesTheTable) {
  auto one = make("klrank", {{"context_terms", 16.0}});
  auto many = make("klrank", {{"context_terms", 16.0}});
  for (std::uint64_t t = 1; t <= 500; ++t) {
    const std::vector<ItemIndex> picks = {static_cast<ItemIndex>(t % 3)};
    click(*one, *rank(*one, {0, 1, 2}, 3, t, {}, 77), picks);
    click(*many, *rank(*many, {0, 1, 2}, 3, t, {}, t * t), picks);
  }
  EXPECT_EQ(save_ranker(*one).size(), save_ranker(*many).size());
}

TEST_F(KlRankTest, RemovedItemsLeaveTheListsButTheirOpenDecisionsStillLearn) {
  auto ranker = make("klrank");
  const auto open = rank(*ranker, {0, 1, 2}, 3);
  const ItemIndex gone = 1;
  ASSERT_TRUE(ranker->remove_items(std::span(&gone, 1)).ok());
  EXPECT_EQ(rank(*ranker, {0, 1}, 2).error().code, ErrorCode::kUnknownItem);
  click(*ranker, *open, {1});
  EXPECT_EQ(ranker->regret()->clicks(), 1U);
  const Item again = testing::plain_item(1);
  EXPECT_FALSE(ranker->add_items(std::span(&again, 1)).ok());
}

}  // namespace
}  // namespace hindsight
