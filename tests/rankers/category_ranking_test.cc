#include "src/rankers/category_ranking.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <vector>

#include "hindsight/random.h"

namespace hindsight {
namespace {

double squared(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double value : x) {
    sum += value * value;
  }
  return sum;
}

TEST(CategoryProjection, LeavesWeightsAloneWhereThePickLeadsAlready) {
  const std::vector<double> w = {3.0, 1.9, 2.0};
  std::vector<double> change(3, 7.0);
  category_projection(w, 0, 1.0, change);
  EXPECT_EQ(change, (std::vector<double>{0.0, 0.0, 0.0}));
}

TEST(CategoryProjection, SplitsTheGapBetweenTwoItems) {
  const std::vector<double> w = {0.0, 1.0};
  std::vector<double> change(2);
  category_projection(w, 0, 1.0, change);
  EXPECT_NEAR(change[0], 1.0, 1e-15);
  EXPECT_NEAR(change[1], -1.0, 1e-15);
}

// Feasible, and no feasible point is nearer: the projection y of w on a convex set is the point
// with (w - y).(z - y) <= 0 for every z of the set.
RC_GTEST_PROP(CategoryProjection, IsTheNearestPointWhereThePickLeads, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 12);
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  Rng rng(seed);
  const std::size_t picked = rng.below(n);
  const double margin = 0.1 + rng.uniform();
  std::vector<double> w(n);
  for (double& value : w) {
    value = rng.below(4) == 0 ? 1.0 : 2.0 * rng.normal();  // ties on purpose
  }
  std::vector<double> change(n);
  category_projection(w, picked, margin, change);
  for (std::size_t i = 0; i < n; ++i) {
    RC_ASSERT(i == picked || w[picked] + change[picked] >= w[i] + change[i] + margin - 1e-12);
  }
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<double> z(n);
    double top = -1e9;
    for (std::size_t i = 0; i < n; ++i) {
      z[i] = w[i] + 2.0 * rng.normal();
      top = i == picked ? top : std::max(top, z[i]);
    }
    z[picked] = std::max(z[picked], top + margin);
    double product = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      product += -change[i] * (z[i] - (w[i] + change[i]));
    }
    RC_ASSERT(product <= 1e-9 * (1.0 + squared(w) + squared(z)));
  }
}

}  // namespace
}  // namespace hindsight
