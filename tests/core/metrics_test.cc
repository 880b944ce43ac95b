#include "src/core/metrics.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace hindsight {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Metrics, KlCostIsMinusTheLogOfTheFirstSlotProbability) {
  EXPECT_EQ(kl_cost(1.0), 0.0);
  EXPECT_FALSE(std::signbit(kl_cost(1.0)));
  EXPECT_NEAR(kl_cost(0.25), 1.3862943611198906, 1e-15);
  EXPECT_EQ(kl_cost(0.0), kInfinity);
  EXPECT_NEAR(kl_cost(std::numeric_limits<double>::denorm_min()), 744.4400719213812, 1e-12);
}

TEST(Metrics, RelativeClickDistanceDividesByTheWholeList) {
  EXPECT_EQ(relative_click_distance(1, 1), 0.0);
  EXPECT_EQ(relative_click_distance(1, 4), 0.0);
  EXPECT_EQ(relative_click_distance(4, 4), 0.75);
}

TEST(Metrics, ClickNdcgIsLog2OverLogOfOnePlusPosition) {
  EXPECT_EQ(click_ndcg(1), 1.0);
  EXPECT_NEAR(click_ndcg(2), 0.6309297535714574, 1e-15);
  EXPECT_EQ(click_ndcg(3), 0.5);
  EXPECT_EQ(click_ndcg(7), 1.0 / 3.0);
}

// Grades 2, 0, 1: gains 3, 0, 1. Listed: 3 + 1/2 = 3.5; ideal order 2, 1, 0: 3 + 1/log2(3).
TEST(Metrics, NdcgAtKMatchesAHandComputedList) {
  const std::vector<double> grades = {2, 0, 1};
  EXPECT_NEAR(ndcg_at(grades, 3).value(), 3.5 / (3.0 + 0.6309297535714574), 1e-15);
  EXPECT_NEAR(ndcg_at(grades, 2).value(), 3.0 / (3.0 + 0.6309297535714574), 1e-15);
  EXPECT_EQ(ndcg_at(grades, 1).value(), 1.0);
  EXPECT_NEAR(ndcg_at(grades, 10).value(), 3.5 / (3.0 + 0.6309297535714574), 1e-15);
  EXPECT_EQ(ndcg_at(std::vector<double>{0, 0, 1}, 2).value(), 0.0);
}

TEST(Metrics, NdcgOfAListWithoutRelevantDocumentsIsNothing) {
  EXPECT_FALSE(ndcg_at(std::vector<double>{0, 0}, 2).has_value());
  EXPECT_FALSE(ndcg_at({}, 2).has_value());
}

TEST(Metrics, ReciprocalRankLooksForTheFirstRelevantDocument) {
  EXPECT_EQ(reciprocal_rank(std::vector<double>{0, 0, 2, 1}), 1.0 / 3.0);
  EXPECT_EQ(reciprocal_rank(std::vector<double>{0, 0}), 0.0);
}

TEST(Metrics, PrecisionDividesByKAlsoForShortLists) {
  const std::vector<double> grades = {1, 0, 2};
  EXPECT_EQ(precision_at(grades, 1), 1.0);
  EXPECT_EQ(precision_at(grades, 2), 0.5);
  EXPECT_EQ(precision_at(grades, 10), 0.2);
}

RC_GTEST_PROP(Metrics, NdcgIsOneForTheIdealOrderAndAtMostOneForAnyOther, ()) {
  auto grades = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(0, 5), [](int grade) { return static_cast<double>(grade); })));
  const auto k = *rc::gen::inRange<std::size_t>(1, 12);
  const auto any = ndcg_at(grades, k);
  RC_ASSERT(!any || (*any >= 0.0 && *any <= 1.0 + 1e-12));
  std::sort(grades.begin(), grades.end(), std::greater<>());
  const auto ideal = ndcg_at(grades, k);
  RC_ASSERT(ideal.has_value() == any.has_value());
  RC_ASSERT(!ideal || std::abs(*ideal - 1.0) < 1e-12);
}

TEST(Mean, GivesMeanAndStandardErrorOfAHandComputedSample) {
  Mean mean;
  EXPECT_EQ(mean.value(), 0.0);
  mean.add(2.0);
  EXPECT_FALSE(mean.standard_error().has_value());
  mean.add(4.0);
  mean.add(9.0);
  EXPECT_EQ(mean.count(), 3U);
  EXPECT_DOUBLE_EQ(mean.value(), 5.0);
  // Squared distances 9 + 1 + 16 = 26; variance 13; standard error sqrt(13 / 3).
  EXPECT_DOUBLE_EQ(mean.standard_error().value(), std::sqrt(13.0 / 3.0));
}

TEST(Mean, IsInfiniteAsSoonAsOneNumberIs) {
  Mean mean;
  mean.add(1.0);
  mean.add(kInfinity);
  mean.add(1.0);
  EXPECT_EQ(mean.value(), kInfinity);
  EXPECT_FALSE(mean.standard_error().has_value());
}

TEST(Mean, DoesNotCancelBesideALargeOffset) {
  Mean mean;
  for (int i = 0; i < 1000; ++i) {
    mean.add(1e9 + (i % 2));
  }
  // Half zeros, half ones: variance 1/4 * 1000/999.
  EXPECT_NEAR(mean.standard_error().value(), std::sqrt(0.25 / 999.0), 1e-9);
}

TEST(ClickMetrics, CollectsTheFourColumns) {
  ClickMetrics metrics;
  metrics.add(1, 2, 0.5);
  metrics.add(3, 4, 0.125);
  EXPECT_NEAR(metrics.kl_cost.value(), 2.0 * std::log(2.0), 1e-15);
  EXPECT_DOUBLE_EQ(metrics.rel_distance.value(), 0.25);
  EXPECT_DOUBLE_EQ(metrics.first_rate.value(), 0.5);
  EXPECT_DOUBLE_EQ(metrics.ndcg.value(), 0.75);
}

}  // namespace
}  // namespace hindsight
