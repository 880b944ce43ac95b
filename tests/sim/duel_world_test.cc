#include "src/sim/duel_world.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "hindsight/random.h"
#include "src/core/duel_step.h"

namespace hindsight {
namespace {

// [Yue09] 5.1, written down once more, with the paper's indices.
double slow_value(DuelProblem problem, const std::vector<double>& w) {
  double v = 0.0;
  for (std::size_t at = 0; at < w.size(); ++at) {
    const double x = w[at];
    const std::size_t i = at + 1;
    const double third = i % 2 == 1 ? x * x : std::abs(x);
    switch (problem) {
      case DuelProblem::kP1:
        v -= x * x;
        break;
      case DuelProblem::kP2:
        v -= std::abs(x);
        break;
      case DuelProblem::kP3:
        v -= third;
        break;
      case DuelProblem::kP4:
        v -= std::exp(x) + std::exp(-x);
        break;
      case DuelProblem::kP5:
        v -= third + (i % 3 == 1 ? std::exp(std::max(x, 0.0)) : 0.0) +
             (i % 3 == 2 ? std::exp(std::max(-x, 0.0)) : 0.0);
        break;
    }
  }
  return v;
}

TEST(DuelWorld, ValuesAreThoseOfThePaper) {
  Rng rng(1);
  std::vector<double> scratch(50);
  for (const std::size_t d : {1, 2, 3, 7, 50}) {
    for (int round = 0; round < 20; ++round) {
      std::vector<double> w(d);
      for (double& x : w) {
        x = rng.normal();
      }
      for (const DuelProblem problem : kDuelProblems) {
        const double expected = slow_value(problem, w);
        EXPECT_NEAR(duel_value(problem, w, scratch), expected, 1e-12 * (1 + std::abs(expected)));
      }
    }
  }
}

TEST(DuelWorld, TheOriginIsTheBestPointOfEveryProblem) {
  Rng rng(2);
  std::vector<double> scratch(50);
  const std::vector<double> origin(50, 0.0);
  for (const DuelProblem problem : kDuelProblems) {
    for (int round = 0; round < 100; ++round) {
      std::vector<double> w(50);
      for (double& x : w) {
        x = 0.1 * rng.normal();
      }
      EXPECT_LT(duel_value(problem, w, scratch), duel_value(problem, origin, scratch));
    }
  }
}

TEST(DuelWorld, RunsComeAgainFromTheirSeed) {
  DuelRunParams params{.rounds = 2000, .seed = 5, .curve_points = 10};
  const auto first = run_duels(params);
  const auto again = run_duels(params);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(first->avg_regret, again->avg_regret);
  EXPECT_EQ(first->curve, again->curve);
  EXPECT_EQ(first->curve.size(), 10U);
  EXPECT_EQ(first->curve.back(), first->avg_regret);
  params.stream = 1;
  EXPECT_NE(run_duels(params)->avg_regret, first->avg_regret);
}

TEST(DuelWorld, ProgressAddsUpToTheRounds) {
  std::uint64_t done = 0;
  ASSERT_TRUE(run_duels({.rounds = 40'000}, [&](std::uint64_t rounds) { done += rounds; }).ok());
  EXPECT_EQ(done, 40'000U);
}

// BGD1 moves in every round, and by most where rivals are bad: at this size it only drifts.
TEST(DuelWorld, AverageRegretFalls) {
  for (const DuelMethod method : {DuelMethod::kDbgd, DuelMethod::kBgd2}) {
    const auto run =
        run_duels({.method = method, .delta_l = 2.0, .rounds = 50'000, .curve_points = 10});
    ASSERT_TRUE(run.ok());
    EXPECT_LT(run->curve.back(), run->curve.front() - 0.05) << duel_method_name(method);
  }
}

// In two dimensions the value has its Lipschitz constants at hand: sqrt 2 for P2, 1/4 for the
// logistic link and 1 / (6 sqrt 3) for its slope. Theorem 2's bound must hold; it is generous.
TEST(DuelWorld, Theorem2BoundsTheRegret) {
  constexpr double kRounds = 100'000;
  const auto bound =
      theorem2_bound(3.0, 2, 0.25, std::sqrt(2.0), 1.0 / (6.0 * std::sqrt(3.0)), kRounds);
  const auto run = run_duels({.problem = DuelProblem::kP2,
                              .delta_l = std::sqrt(2.0 / 13.0 / (0.25 * std::sqrt(2.0)) / 0.4),
                              .dim = 2,
                              .radius = 3.0,
                              .rounds = static_cast<std::uint64_t>(kRounds)});
  ASSERT_TRUE(bound.ok() && run.ok());
  EXPECT_GT(run->avg_regret, 0.0);
  EXPECT_LT(run->avg_regret * kRounds, *bound);
}

TEST(DuelWorld, RefusesSizesThatMakeNoSense) {
  EXPECT_EQ(run_duels({.rounds = 0}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(run_duels({.dim = 0}).error().field, "dim");
  EXPECT_EQ(run_duels({.rounds = 5, .curve_points = 6}).error().field, "curve_points");
}

}  // namespace
}  // namespace hindsight
