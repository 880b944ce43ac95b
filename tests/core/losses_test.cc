#include "src/core/losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "src/core/choice_objective.h"
#include "src/core/kernels.h"
#include "tests/support/random_choices.h"

namespace hindsight {
namespace {

using testing::random_vector;

using Loss = std::function<LossSlope(std::span<const double>, std::size_t, std::span<double>)>;

const std::vector<std::pair<const char*, Loss>>& losses() {
  static const std::vector<std::pair<const char*, Loss>> all = {
      {"kl", [](std::span<const double> s, std::size_t picked,
                std::span<double> raw) { return kl_cost(s, max_of(s), picked, raw); }},
      {"pairwise", pairwise_cost},
      {"two-class", two_class_cost},
  };
  return all;
}

TEST(Losses, SlopesAgreeWithFiniteDifferences) {
  constexpr double kStep = 1e-6;
  for (const auto& [name, loss] : losses()) {
    Rng rng(11);
    for (int round = 0; round < 200; ++round) {
      const std::size_t n = 1 + rng.below(9);
      const std::size_t picked = rng.below(n);
      std::vector<double> scores = random_vector(n, rng);
      std::vector<double> raw(n);
      std::vector<double> other(n);
      const LossSlope slope = loss(scores, picked, raw);
      for (std::size_t i = 0; i < n; ++i) {
        const double claimed = slope.factor * raw[i] + (i == picked ? slope.picked_extra : 0.0);
        const double at = scores[i];
        scores[i] = at + kStep;
        const double above = loss(scores, picked, other).loss;
        scores[i] = at - kStep;
        const double below = loss(scores, picked, other).loss;
        scores[i] = at;
        EXPECT_NEAR(claimed, (above - below) / (2 * kStep), 1e-8) << name;
      }
    }
  }
}

TEST(Losses, KlCostIsTheNegativeLogProbabilityOfThePick) {
  const std::vector<double> scores = {0.0, std::log(2.0), std::log(5.0)};
  std::vector<double> raw(3);
  EXPECT_NEAR(kl_cost_value(scores, 0, raw), std::log(8.0), 1e-15);
  EXPECT_NEAR(kl_cost_value(scores, 2, raw), std::log(8.0 / 5.0), 1e-15);
}

TEST(Losses, PairwiseCostIsTheMeanOverTheOtherCandidates) {
  const std::vector<double> scores = {1.0, 0.0, 3.0};
  std::vector<double> raw(3);
  const double expected = 0.5 * (std::log1p(std::exp(-1.0)) + std::log1p(std::exp(2.0)));
  EXPECT_NEAR(pairwise_cost(scores, 0, raw).loss, expected, 1e-15);
  EXPECT_EQ(pairwise_cost(std::span(scores).first(1), 0, std::span(raw).first(1)).loss, 0.0);
}

TEST(Losses, StayFiniteForHugeScores) {
  const std::vector<double> scores = {-1e8, 0.0, 1e8};
  std::vector<double> raw(3);
  for (const auto& [name, loss] : losses()) {
    const LossSlope slope = loss(scores, 0, raw);
    EXPECT_TRUE(std::isfinite(slope.loss)) << name;
    EXPECT_TRUE(all_finite(raw)) << name;
  }
}

// [Delage09] 3.2: the gradient is E[Phi] - Phi(picked), the Hessian the covariance of Phi; here
// against differences, for every mix of features.
TEST(ChoiceObjective, GradientAndHessianAgreeWithFiniteDifferences) {
  constexpr double kStep = 1e-5;
  constexpr std::size_t kTerms = 5;
  for (const testing::ChoiceShape& shape : testing::all_shapes()) {
    Rng rng(23);
    std::vector<Choice> choices;
    for (int i = 0; i < 20; ++i) {
      Choice& choice = choices.emplace_back(testing::random_choice(shape, rng));
      if (i % 2 == 0) {  // half of them with context terms, perhaps shared
        choice.factor = 0.7;
        for (std::size_t j = 0; j < choice.n; ++j) {
          choice.context.push_back(static_cast<std::uint32_t>(rng.below(kTerms)));
        }
      }
    }
    ChoiceObjective::Sizes sizes = testing::sizes_of(shape);
    sizes.context = kTerms;
    ChoiceObjective objective(choices, sizes, 3.0);
    const std::size_t n = objective.dim();
    std::vector<double> theta = random_vector(n, rng);
    const std::vector<double> v = random_vector(n, rng);
    std::vector<double> gradient(n);
    std::vector<double> above(n);
    std::vector<double> below(n);
    std::vector<double> product(n);
    objective.evaluate(theta, gradient);
    objective.hessian_times(v, product);
    const auto moved = [&](double t, std::vector<double>& out) {
      std::vector<double> x = theta;
      for (std::size_t i = 0; i < n; ++i) {
        x[i] += t * v[i];
      }
      return objective.evaluate(x, out);
    };
    const double value_above = moved(kStep, above);
    const double value_below = moved(-kStep, below);
    EXPECT_NEAR(dot(gradient, v), (value_above - value_below) / (2 * kStep), 1e-6);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_NEAR(product[i], (above[i] - below[i]) / (2 * kStep), 1e-6);
    }
    EXPECT_GE(dot(v, product), 0.0);
    std::vector<double> costs(choices.size());
    objective.costs(theta, costs);
    EXPECT_NEAR(3.0 * std::accumulate(costs.begin(), costs.end(), 0.0),
                objective.evaluate(theta, gradient), 1e-9);
  }
}

}  // namespace
}  // namespace hindsight
