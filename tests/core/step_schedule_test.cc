#include "src/core/step_schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/core/ball_weights.h"
#include "src/core/kernels.h"
#include "src/core/newton.h"
#include "src/core/regret.h"
#include "tests/support/random_choices.h"

namespace hindsight {
namespace {

StepSchedule gper(double alpha, double feature_bound = 1.0, bool warm = true) {
  return *StepSchedule::make({.alpha = alpha, .feature_bound = feature_bound, .warm_restart = warm},
                             true);
}

// [Delage09] Table 1: cycle m covers t = 2^(m-1) ... 2^m - 1.
TEST(Gper, CyclesDoubleInLength) {
  EXPECT_EQ(gper_cycle(1), 1U);
  EXPECT_EQ(gper_cycle(2), 2U);
  EXPECT_EQ(gper_cycle(3), 2U);
  EXPECT_EQ(gper_cycle(4), 3U);
  EXPECT_EQ(gper_cycle(26'842), 15U);
  EXPECT_EQ(gper_cycle((std::uint64_t{1} << 40) - 1), 40U);
}

TEST(Gper, StepsAndBallsAreThoseOfTableOne) {
  const StepSchedule schedule = gper(3.0, 2.0);
  for (const std::uint64_t t : {1ULL, 2ULL, 3ULL, 5ULL, 100ULL, 1000ULL, 123'456ULL}) {
    const double m = std::floor(std::log2(static_cast<double>(t))) + 1;
    const double k = static_cast<double>(t) - std::pow(2.0, m - 1) + 1;
    const double diameter = 2 * 3.0 * std::pow(2.0, m / 4) / 2.0;
    const Step step = schedule.at(t);
    EXPECT_NEAR(step.radius, diameter / 2, 1e-12 * diameter);
    EXPECT_NEAR(step.eta, diameter / (2 * std::sqrt(2.0) * 2.0) / std::sqrt(k), 1e-12 * diameter);
    EXPECT_FALSE(step.clear_first);
  }
}

TEST(Gper, ColdRestartClearsAtTheStartOfEachCycleOnly) {
  const StepSchedule schedule = gper(3.0, 1.0, false);
  for (std::uint64_t t = 1; t < 100; ++t) {
    EXPECT_EQ(schedule.at(t).clear_first, (t & (t - 1)) == 0) << t;
  }
}

TEST(Gper, BoundIsThatOfTheoremFourFour) {
  // K = 2 alpha; at alpha = 3 and 26,842 clicks 4.69 nats a click.
  EXPECT_NEAR(gper(3.0).regret_bound(26'842) / 26'842, 4.69, 0.005);
  EXPECT_NEAR(gper(10.0).regret_bound(16), 200 * (8.0 + 1.0), 1e-9);
}

TEST(Gp, StepsUseTheKnownHorizon) {
  const auto schedule =
      StepSchedule::make({.method = StepMethod::kGp, .alpha = 2.0, .horizon = 10'000}, true);
  ASSERT_TRUE(schedule.ok());
  const Step step = schedule->at(25);
  EXPECT_NEAR(step.radius, 20.0, 1e-12);
  EXPECT_NEAR(step.eta, 40.0 / (2 * std::sqrt(2.0)) / 5.0, 1e-12);
  EXPECT_NEAR(schedule->regret_bound(10'000), 2 * std::sqrt(2.0) * 4.0 * 1000.0, 1e-9);
}

TEST(Ogd, RefusesPerItemWeightsAndUndeclaredCurvature) {
  const StepParams params{.method = StepMethod::kOgd, .horizon = 100, .curvature = 0.1};
  EXPECT_EQ(StepSchedule::make(params, true).error().code, ErrorCode::kUnsupported);
  StepParams flat = params;
  flat.curvature = 0.0;
  EXPECT_EQ(StepSchedule::make(flat, false).error().code, ErrorCode::kInvalidArgument);
  StepParams endless = params;
  endless.horizon = 0;
  EXPECT_EQ(StepSchedule::make(endless, false).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(StepSchedule::make(params, false).ok());
}

TEST(StepSchedule, RefusesAlphaAndBoundOutOfRange) {
  for (const double bad : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    EXPECT_FALSE(StepSchedule::make({.alpha = bad}, true).ok()) << bad;
    EXPECT_FALSE(StepSchedule::make({.feature_bound = bad}, true).ok()) << bad;
  }
}

// Runs a method on random choices. RETURNS: the account, and the least cost of a fixed theta in the
// ball of the last step.
struct Played {
  RegretAccount account;
  double best = 0.0;
};

Played play(const StepSchedule& schedule, const testing::ChoiceShape& shape, int clicks,
            std::uint64_t seed) {
  Rng rng(seed);
  BallWeights weights;
  weights.grow_items(testing::kChoiceSizes.items);
  std::vector<Choice> choices;
  Played played{RegretAccount(schedule)};
  for (int t = 0; t < clicks; ++t) {
    Choice choice = testing::random_choice(shape, rng);
    for (double& x : choice.rows.dense) {
      x *= 0.1;  // three columns of size 0.1 and e_i stay within F = 2
    }
    const ChoiceFeatures features{.items = choice.items, .rows = &choice.rows, .n = choice.n};
    const Step step = played.account.next_step();
    if (step.clear_first) {
      weights.clear();
    }
    std::vector<double> scores(choice.n);
    std::vector<double> raw(choice.n);
    const double top = weights.scores(features, scores);
    const LossSlope slope = kl_cost(scores, top, choice.picked, raw);
    const double squared = weights.step(features, raw, choice.picked, slope, step.eta, step.radius);
    played.account.book(step, slope.loss, slope.loss, squared);
    choices.push_back(std::move(choice));
  }
  ChoiceObjective objective(choices, testing::sizes_of(shape));
  const NewtonResult best = minimize_in_ball(
      objective, {.radius = schedule.at(static_cast<std::uint64_t>(clicks)).radius});
  EXPECT_TRUE(best.converged);
  played.best = best.value;
  return played;
}

// Theorem 4.2 and its data-dependent form hold pathwise, for any sequence.
TEST(Gp, RegretStaysUnderItsBounds) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto schedule = StepSchedule::make(
        {.method = StepMethod::kGp, .alpha = 0.5, .feature_bound = 2.0, .horizon = 2000}, true);
    const Played played = play(*schedule, {.items = true, .dense = true}, 2000, seed);
    const double regret = played.account.learned_cost() - played.best;
    EXPECT_LE(regret, played.account.data_bound());
    EXPECT_LE(played.account.data_bound(), played.account.theorem_bound());
  }
}

TEST(Gper, RegretStaysUnderItsBoundsWarmAndCold) {
  for (const bool warm : {true, false}) {
    const Played played = play(gper(0.5, 1.0, warm), {.items = true}, 3000, 7);
    const double regret = played.account.learned_cost() - played.best;
    EXPECT_LE(regret, played.account.data_bound());
    EXPECT_LE(played.account.data_bound(), played.account.theorem_bound());
  }
}

}  // namespace
}  // namespace hindsight
