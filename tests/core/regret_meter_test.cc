#include "src/core/regret_meter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/core/ball_weights.h"
#include "src/core/bytes.h"
#include "src/core/choice_objective.h"
#include "src/core/kernels.h"
#include "tests/support/random_choices.h"

namespace hindsight {
namespace {

class MeterTest : public ::testing::Test {
 protected:
  // Two items, the first picked with probability 0.8: one free weight, so that Eq. (2) can be
  // searched by hand.
  void play(int clicks) {
    Rng rng(3);
    BallWeights weights;
    weights.grow_items(2);
    for (int t = 0; t < clicks; ++t) {
      Choice choice{.items = {0, 1}, .n = 2, .picked = rng.uniform() < 0.8 ? 0U : 1U};
      const Step step = account_.next_step();
      std::vector<double> scores(2);
      std::vector<double> raw(2);
      const ChoiceFeatures features{.items = choice.items, .n = 2};
      const double top = weights.scores(features, scores);
      const LossSlope slope = kl_cost(scores, top, choice.picked, raw);
      const double squared =
          weights.step(features, raw, choice.picked, slope, step.eta, step.radius);
      account_.book(step, slope.loss, slope.loss + 1.0, squared);
      choices_.push_back(choice);
    }
  }

  RegretMeter meter() {
    return RegretMeter([this](std::uint64_t first, std::uint64_t last) {
      return std::make_unique<ChoiceObjective>(
          std::span(choices_).subspan(first - 1, last - first + 1),
          ChoiceObjective::Sizes{.items = 2});
    });
  }

  // The comparator of Eq. (2) at theta = (x, -x): projected on each cycle's ball.
  double projected_cost(double x) {
    double total = 0.0;
    std::uint64_t first = 0;
    for (const CycleAccount& cycle : account_.cycles()) {
      const double limit = cycle.radius / std::sqrt(2.0);
      const double inside = std::clamp(x, -limit, limit);
      for (std::uint64_t t = first; t < first + cycle.clicks; ++t) {
        const double difference = choices_[t].picked == 0 ? 2 * inside : -2 * inside;
        total += std::log1p(std::exp(-difference));
      }
      first += cycle.clicks;
    }
    return total;
  }

  RegretAccount account_{*StepSchedule::make({.alpha = 0.2}, true)};
  std::vector<Choice> choices_;
};

TEST_F(MeterTest, BracketHoldsTheRegretOfEquationTwo) {
  play(700);
  double best = INFINITY;
  for (double x = -3.0; x <= 3.0; x += 1e-3) {
    best = std::min(best, projected_cost(x));
  }
  const double regret = account_.learned_cost() - best;
  const RegretBracket bracket = meter().measure(account_);
  EXPECT_EQ(bracket.clicks, 700U);
  EXPECT_LE(bracket.lower, regret + 1e-6);
  EXPECT_GE(bracket.upper, regret - 1e-6);
  EXPECT_LE(bracket.upper, bracket.data_bound);
  EXPECT_LE(bracket.data_bound, bracket.theorem_bound);
  EXPECT_NEAR(bracket.served_cost, bracket.cost + 700.0, 1e-9);
}

TEST_F(MeterTest, KeepingTheMinimaOfCompleteCyclesChangesNothing) {
  RegretMeter kept = meter();
  for (int block = 0; block < 5; ++block) {
    play(60);
    const RegretBracket a = kept.measure(account_);
    const RegretBracket b = meter().measure(account_);
    EXPECT_NEAR(a.lower, b.lower, 1e-4);
    EXPECT_NEAR(a.upper, b.upper, 1e-4);
  }
}

TEST_F(MeterTest, DataBoundIsTheSumOverCyclesOfTheProof) {
  play(3);
  const Step first = account_.schedule().at(1);
  const Step third = account_.schedule().at(3);
  double expected = 0.0;
  expected += 4 * first.radius * first.radius / (2 * first.eta);
  expected += 4 * third.radius * third.radius / (2 * third.eta);
  for (const CycleAccount& cycle : account_.cycles()) {
    expected += 0.5 * cycle.eta_gradient;
  }
  EXPECT_NEAR(account_.data_bound(), expected, 1e-12);
  ASSERT_EQ(account_.cycles().size(), 2U);
  EXPECT_EQ(account_.cycles()[1].clicks, 2U);
}

TEST_F(MeterTest, AccountSurvivesSavingAndRefusesDamage) {
  play(100);
  ByteWriter out;
  account_.save(out);
  RegretAccount loaded(account_.schedule());
  ByteReader in(out.bytes());
  ASSERT_TRUE(loaded.load(in).ok());
  EXPECT_EQ(loaded.learned_cost(), account_.learned_cost());
  EXPECT_EQ(loaded.data_bound(), account_.data_bound());
  for (std::size_t cut = 0; cut < out.bytes().size(); ++cut) {
    RegretAccount broken(account_.schedule());
    ByteReader shorter(std::span(out.bytes()).first(cut));
    EXPECT_FALSE(broken.load(shorter).ok());
  }
}

}  // namespace
}  // namespace hindsight
