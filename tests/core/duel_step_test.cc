#include "src/core/duel_step.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "src/core/kernels.h"
#include "src/core/unit_vector.h"

namespace hindsight {
namespace {

constexpr WeightSpace kBall{.kind = WeightSpace::Kind::kBall, .radius = 2.0};
constexpr WeightSpace kSphere{.kind = WeightSpace::Kind::kSphere};

// 20,000 draws: means within 6 standard errors of 0 and of 1/d (a false alarm: 2e-9 each).
TEST(UnitVector, IsUniformOnTheSphere) {
  for (const std::size_t d : {1, 2, 3, 46, 130}) {
    Rng rng(d);
    constexpr int kDraws = 20'000;
    std::vector<double> u(d);
    std::vector<double> mean(d);
    std::vector<double> square(d);
    double product = 0.0;
    for (int draw = 0; draw < kDraws; ++draw) {
      draw_unit_vector(rng, u);
      ASSERT_NEAR(dot(u, u), 1.0, 1e-12);
      for (std::size_t i = 0; i < d; ++i) {
        mean[i] += u[i] / kDraws;
        square[i] += u[i] * u[i] / kDraws;
      }
      product += u.front() * u.back() / kDraws;
    }
    const auto n = static_cast<double>(d);
    for (std::size_t i = 0; i < d; ++i) {
      EXPECT_NEAR(mean[i], 0.0, 6.0 / std::sqrt(n * kDraws));
      // Var(u_i^2) = 2 (d - 1) / (d^2 (d + 2))
      EXPECT_NEAR(square[i], 1.0 / n,
                  1e-12 + 6.0 * std::sqrt(2.0 * (n - 1) / (n * n * (n + 2)) / kDraws));
    }
    if (d > 1) {
      EXPECT_NEAR(product, 0.0, 6.0 / std::sqrt(n * (n + 2) * kDraws));
    }
  }
}

TEST(UnitVector, ComesAgainFromTheSameSeed) {
  std::vector<double> first(50);
  std::vector<double> second(50);
  Rng a(9);
  Rng b(9);
  draw_unit_vector(a, first);
  draw_unit_vector(b, second);
  EXPECT_EQ(first, second);
  draw_unit_vector(a, first);
  EXPECT_NE(first, second);
}

TEST(DuelStep, BallKeepsWhatIsInsideAndShortensTheRest) {
  std::vector<double> inside = {1.0, -1.0};
  project(kBall, inside);
  EXPECT_EQ(inside, (std::vector<double>{1.0, -1.0}));
  std::vector<double> outside = {3.0, 4.0};
  project(kBall, outside);
  EXPECT_NEAR(outside[0], 1.2, 1e-15);
  EXPECT_NEAR(outside[1], 1.6, 1e-15);
}

TEST(DuelStep, SphereNormalisesAndLeavesTheOrigin) {
  std::vector<double> w = {0.3, 0.4};
  project(kSphere, w);
  EXPECT_NEAR(w[0], 0.6, 1e-15);
  std::vector<double> origin = {0.0, 0.0};
  project(kSphere, origin);
  EXPECT_EQ(origin, (std::vector<double>{0.0, 0.0}));
  std::vector<double> moved(2);
  move_along(kSphere, origin, std::vector<double>{0.0, 1.0}, 0.1, moved);
  EXPECT_EQ(moved, (std::vector<double>{0.0, 1.0}));
}

TEST(DuelStep, SizesAreThoseOfThePaper) {
  const auto theorem = theorem2_steps(10, 50, 0.25, 1e6);
  ASSERT_TRUE(theorem.ok());
  EXPECT_NEAR(theorem->probe, std::sqrt(1000.0) / (std::sqrt(3.25) * std::pow(1e6, 0.25)), 1e-12);
  EXPECT_NEAR(theorem->step, 0.01, 1e-15);
  const auto section5 = section5_steps(10, 50, 0.8, 1e6);
  ASSERT_TRUE(section5.ok());
  EXPECT_NEAR(section5->probe, std::pow(1e6, -0.25) * 0.8 * std::sqrt(200.0), 1e-12);
  // Corollary 2's delta with L = 1 / delta_L^2.
  EXPECT_NEAR(section5->probe,
              std::sqrt(2 * 10 * 50.0) / (std::sqrt(5 / 0.64) * std::pow(1e6, 0.25)), 1e-12);
}

TEST(DuelStep, BoundNeedsEnoughRoundsAndApproachesItsLimit) {
  EXPECT_FALSE(theorem2_bound(10, 50, 0.25, 20, 0.1, 10).ok());
  const auto bound = theorem2_bound(10, 50, 0.25, 1, 0.1, 1e12);
  ASSERT_TRUE(bound.ok());
  EXPECT_NEAR(*bound / (2 * 1e9 * std::sqrt(26 * 10 * 50 * 0.25)), 1.0, 0.01);
}

TEST(DuelStep, RefusesSizesThatMakeNoSense) {
  EXPECT_EQ(theorem2_steps(0, 50, 1, 10).error().field, "radius");
  EXPECT_EQ(theorem2_steps(1, 0, 1, 10).error().field, "dim");
  EXPECT_EQ(section5_steps(1, 5, NAN, 10).error().field, "delta_l");
  EXPECT_EQ(section5_steps(1, 5, 1, INFINITY).error().field, "rounds");
}

}  // namespace
}  // namespace hindsight
