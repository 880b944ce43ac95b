#include "src/core/ridge_estimate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "src/core/bytes.h"
#include "src/core/vector_set.h"

namespace hindsight {
namespace {

std::vector<double> random_row(std::size_t dim, Rng& rng) {
  std::vector<double> x(dim);
  for (double& value : x) {
    value = rng.normal();
  }
  return x;
}

TEST(RidgeEstimate, SolvesTheNormalEquations) {
  Rng rng(1);
  RidgeEstimate estimate(4);
  std::vector<std::vector<double>> rows;
  std::vector<double> rewards;
  for (int i = 0; i < 30; ++i) {
    rows.push_back(random_row(4, rng));
    rewards.push_back(rng.uniform());
    estimate.add(rows.back(), rewards.back());
  }
  estimate.refresh();
  // (I + sum x x^T) theta = sum x y, row by row.
  for (std::size_t r = 0; r < 4; ++r) {
    double left = estimate.theta()[r];
    double right = 0.0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      double product = 0.0;
      for (std::size_t c = 0; c < 4; ++c) {
        product += rows[i][c] * estimate.theta()[c];
      }
      left += rows[i][r] * product;
      right += rows[i][r] * rewards[i];
    }
    EXPECT_NEAR(left, right, 1e-10);
  }
}

TEST(RidgeEstimate, NormsShrinkWithWhatIsKnown) {
  RidgeEstimate estimate(2);
  VectorSet set(2, 2);
  set.at(0, 0) = 1.0;
  set.at(1, 1) = 1.0;
  const auto lengths = [&] {
    std::vector<double> out(2);
    squared_lengths_of(set, estimate.whitening(), out);
    return out;
  };
  EXPECT_EQ(lengths(), (std::vector<double>{1.0, 1.0}));
  estimate.add(std::vector<double>{1.0}, 1.0);  // what is missing is zero
  estimate.refresh();
  EXPECT_NEAR(lengths()[0], 0.5, 1e-15);
  EXPECT_EQ(lengths()[1], 1.0);
  std::vector<double> bounds(2);
  upper_bounds_of(set, estimate.theta(), estimate.whitening(), 0.4, 1.0, bounds);
  EXPECT_NEAR(bounds[0], 0.5 + 0.4 * std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(bounds[1], 0.4, 1e-15);
  upper_bounds_of(set, estimate.theta(), estimate.whitening(), 4.0, 1.0, bounds);
  EXPECT_EQ(bounds, (std::vector<double>{1.0, 1.0}));
}

TEST(RidgeEstimate, GrowsWithoutForgetting) {
  Rng rng(2);
  RidgeEstimate small(2);
  RidgeEstimate large(5);
  for (int i = 0; i < 10; ++i) {
    const auto x = random_row(2, rng);
    small.add(x, 0.5);
    large.add(x, 0.5);
  }
  small.grow(5);
  large.refresh();
  EXPECT_EQ(small.theta(), large.theta());
  EXPECT_EQ(small.whitening(), large.whitening());
}

// Sample means of N = 20,000 draws of variance at most 1: off by 0.05 with probability below 1e-11.
TEST(RidgeEstimate, SamplesHaveTheRightMeanAndSpread) {
  Rng rng(3);
  RidgeEstimate estimate(2);
  estimate.add(std::vector<double>{1.0, 1.0}, 1.0);
  estimate.refresh();
  double mean[2] = {};
  double cross = 0.0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const auto theta = estimate.sample(1.0, rng);
    mean[0] += theta[0] / kDraws;
    mean[1] += theta[1] / kDraws;
    cross += (theta[0] - estimate.theta()[0]) * (theta[1] - estimate.theta()[1]) / kDraws;
  }
  EXPECT_NEAR(mean[0], 1.0 / 3.0, 0.05);
  EXPECT_NEAR(mean[1], 1.0 / 3.0, 0.05);
  EXPECT_NEAR(cross, -1.0 / 3.0, 0.05);  // V^-1 of (2 1; 1 2)
}

TEST(RidgeEstimate, SavesAndLoads) {
  Rng rng(4);
  RidgeEstimate estimate(3);
  estimate.add(random_row(3, rng), 1.0);
  estimate.refresh();
  ByteWriter out;
  estimate.save(out);
  RidgeEstimate copy;
  ByteReader in(out.bytes());
  ASSERT_TRUE(copy.load(in).ok());
  EXPECT_EQ(copy.theta(), estimate.theta());
  EXPECT_EQ(copy.whitening(), estimate.whitening());
  ByteReader cut(std::span(out.bytes()).first(out.bytes().size() - 1));
  EXPECT_FALSE(copy.load(cut).ok());
}

TEST(RidgeEstimate, TheProvenWidthIsThatOfTheFormula) {
  EXPECT_NEAR(proven_width(5, 5'000'000), std::sqrt(5 * std::log(1 + 1e6) + 2 * std::log(2e7)) + 1,
              1e-12);
}

}  // namespace
}  // namespace hindsight
