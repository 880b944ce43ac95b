#include "src/core/newton.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "src/core/choice_objective.h"
#include "src/core/kernels.h"
#include "tests/support/random_choices.h"

namespace hindsight {
namespace {

// sum_i d_i (x_i - c_i)^2 / 2: the minimum over a ball is known up to one scalar equation.
class Quadratic final : public ConvexObjective {
 public:
  Quadratic(std::vector<double> d, std::vector<double> c) : d_(std::move(d)), c_(std::move(c)) {}
  std::size_t dim() const override { return d_.size(); }
  double evaluate(std::span<const double> x, std::span<double> g) override {
    double f = 0.0;
    for (std::size_t i = 0; i < d_.size(); ++i) {
      g[i] = d_[i] * (x[i] - c_[i]);
      f += 0.5 * g[i] * (x[i] - c_[i]);
    }
    return f;
  }
  void hessian_times(std::span<const double> v, std::span<double> out) const override {
    for (std::size_t i = 0; i < d_.size(); ++i) {
      out[i] = d_[i] * v[i];
    }
  }

 private:
  std::vector<double> d_;
  std::vector<double> c_;
};

TEST(Newton, FindsAnInteriorMinimum) {
  Quadratic f({1.0, 10.0, 0.1}, {1.0, -2.0, 0.5});
  const NewtonResult best = minimize_in_ball(f, {.radius = 10.0});
  EXPECT_TRUE(best.converged);
  EXPECT_NEAR(best.theta[0], 1.0, 1e-5);
  EXPECT_NEAR(best.theta[1], -2.0, 1e-5);
  EXPECT_NEAR(best.theta[2], 0.5, 1e-3);
}

TEST(Newton, FindsTheMinimumOnTheSphere) {
  const std::vector<double> d = {1.0, 5.0, 20.0, 0.5};
  const std::vector<double> c = {3.0, -2.0, 1.0, 4.0};
  Quadratic f(d, c);
  const NewtonResult best = minimize_in_ball(f, {.radius = 1.5, .relative_gap = 1e-12});
  EXPECT_TRUE(best.converged);
  EXPECT_NEAR(std::sqrt(dot(best.theta, best.theta)), 1.5, 1e-6);
  // x_i = d_i c_i / (d_i + lambda), lambda by bisection.
  double low = 0.0;
  double high = 1e3;
  std::vector<double> x(4);
  for (int i = 0; i < 200; ++i) {
    const double lambda = 0.5 * (low + high);
    for (std::size_t j = 0; j < 4; ++j) {
      x[j] = d[j] * c[j] / (d[j] + lambda);
    }
    (dot(x, x) > 2.25 ? low : high) = lambda;
  }
  for (std::size_t j = 0; j < 4; ++j) {
    EXPECT_NEAR(best.theta[j], x[j], 1e-4);
  }
}

// Whatever happens, value - gap is below the value of every other point of the ball.
TEST(Newton, CertificateHoldsEvenWhenItStopsEarly) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    std::vector<Choice> choices;
    for (int i = 0; i < 50; ++i) {
      choices.push_back(testing::random_choice({.items = true, .dense = true}, rng));
    }
    const testing::ChoiceShape shape{.items = true, .dense = true};
    ChoiceObjective objective(choices, testing::sizes_of(shape));
    for (const double radius : {0.1, 1.0, 10.0}) {
      const NewtonResult good = minimize_in_ball(objective, {.radius = radius});
      EXPECT_TRUE(good.converged) << seed << " " << radius;
      const NewtonResult early =
          minimize_in_ball(objective, {.radius = radius, .max_iterations = 1});
      EXPECT_GE(early.value + 1e-9, good.value - good.gap);
      EXPECT_LE(early.value - early.gap, good.value + 1e-9);
      EXPECT_LE(std::sqrt(dot(early.theta, early.theta)), radius * (1 + 1e-12));
      std::vector<double> gradient(objective.dim());
      for (int i = 0; i < 20; ++i) {
        std::vector<double> other = testing::random_vector(objective.dim(), rng);
        const double norm = std::sqrt(dot(other, other));
        for (double& x : other) {
          x *= radius / norm;
        }
        EXPECT_GE(objective.evaluate(other, gradient), good.value - good.gap);
      }
    }
  }
}

TEST(Newton, ReportsFallingValuesLineByLine) {
  Rng rng(5);
  std::vector<Choice> choices;
  for (int i = 0; i < 50; ++i) {
    choices.push_back(testing::random_choice({.items = true}, rng));
  }
  ChoiceObjective objective(choices, testing::sizes_of({.items = true}));
  std::vector<double> values;
  const NewtonResult best =
      minimize_in_ball(objective, {.radius = 3.0}, {},
                       [&](const NewtonStatus& status) { values.push_back(status.value); });
  ASSERT_GE(values.size(), 2U);
  EXPECT_TRUE(std::is_sorted(values.rbegin(), values.rend()));
  EXPECT_EQ(values.back(), best.value);
}

}  // namespace
}  // namespace hindsight
