#include "src/core/quicksort_policy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "src/core/kernels.h"
#include "src/core/plackett_luce.h"
#include "tests/core/list_law.h"

namespace hindsight {
namespace {

using testing::all_lists;
using testing::expect_draws_follow;
using testing::Law;
using testing::List;
using testing::prob_before;
using testing::total;

const std::vector<std::vector<double>> kScores = {{7.5},
                                                  {0, 1},
                                                  {0, 0, 0},
                                                  {1, -1, 0.5, 0},
                                                  {0.1, -2, 1, 1, 0},
                                                  {1e6, 1e6 + 1, 1e6 - 0.5},
                                                  {0, -1000, -1000, -1001},
                                                  {-1e6, 1e6, -1e6, 1e6}};

// [Ailon13] Algorithm 2 by its definition: every pivot, every way to split the others.
Law quicksort_law(const std::vector<double>& scores, const List& items) {
  if (items.empty()) {
    return {{{}, 1.0}};
  }
  Law law;
  for (std::size_t at = 0; at < items.size(); ++at) {
    List others = items;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(at));
    for (unsigned split = 0; split < 1U << others.size(); ++split) {
      double prob = 1.0 / static_cast<double>(items.size());
      List left;
      List right;
      for (std::size_t j = 0; j < others.size(); ++j) {
        const double p_left = 1 / (1 + std::exp(scores[items[at]] - scores[others[j]]));
        const bool to_left = (split >> j & 1U) != 0;
        prob *= to_left ? p_left : 1 - p_left;
        (to_left ? left : right).push_back(others[j]);
      }
      if (prob == 0) {
        continue;
      }
      for (const auto& [l, prob_l] : quicksort_law(scores, left)) {
        for (const auto& [r, prob_r] : quicksort_law(scores, right)) {
          List list = l;
          list.push_back(items[at]);
          list.insert(list.end(), r.begin(), r.end());
          law[list] += prob * prob_l * prob_r;
        }
      }
    }
  }
  return law;
}

Law quicksort_law(const std::vector<double>& scores) {
  List items(scores.size());
  std::iota(items.begin(), items.end(), 0U);
  return quicksort_law(scores, items);
}

TEST(QuicksortPolicy, DrawsFollowTheLaw) {
  for (const auto& scores : kScores) {
    const Law full = quicksort_law(scores);
    for (std::size_t k = 1; k <= scores.size(); ++k) {
      Law law;
      for (const auto& [list, prob] : full) {
        law[List(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(k))] += prob;
      }
      Rng rng(51, k);
      expect_draws_follow(law, [&] { return draw_quicksort(scores, k, rng).value(); });
    }
  }
}

TEST(QuicksortPolicy, LogPropensityIsThatOfTheLaw) {
  for (const auto& scores : kScores) {
    Law law = quicksort_law(scores);
    for (const List& list : all_lists(scores.size(), scores.size())) {
      EXPECT_NEAR(std::exp(log_propensity_quicksort(scores, list).value()), law[list], 1e-13);
    }
  }
}

// [Ailon13] Lemma 6.1: the order of two items has Plackett-Luce's pairwise law, although the law of
// lists is another one. Exact, from the propensities of all lists.
RC_GTEST_PROP(QuicksortPolicy, OrderOfAPairDependsOnThePairAlone, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(2, 6);
  const auto milli = *rc::gen::container<std::vector<int>>(n, rc::gen::inRange(-5000, 5000));
  std::vector<double> scores;
  for (const int m : milli) {
    scores.push_back(m / 1000.0);
  }
  Law law;
  for (const List& list : all_lists(n, n)) {
    law[list] = std::exp(log_propensity_quicksort(scores, list).value());
  }
  RC_ASSERT(std::abs(total(law) - 1.0) < 1e-12);
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = 0; b < n; ++b) {
      if (a != b) {
        RC_ASSERT(std::abs(prob_before(law, a, b) - 1 / (1 + std::exp(scores[b] - scores[a]))) <
                  1e-12);
      }
    }
  }
}

TEST(QuicksortPolicy, IsNotPlackettLuce) {
  const std::vector<double> scores = {2, 1, 0};
  EXPECT_GT(std::abs(*log_propensity_quicksort(scores, List{0, 1, 2}) -
                     log_propensity_plackett_luce(scores, List{0, 1, 2})),
            0.01);
}

TEST(QuicksortPolicy, HugeScoresLeaveNoChoice) {
  Rng rng(1);
  const std::vector<double> scores = {0, 1e308, -1e308, 5e307};
  const List only = {1, 3, 0, 2};
  EXPECT_EQ(draw_quicksort(scores, 4, rng).value(), only);
  EXPECT_NEAR(*log_propensity_quicksort(scores, only), 0.0, 1e-15);
  EXPECT_EQ(*log_propensity_quicksort(scores, List{2, 0, 3, 1}),
            -std::numeric_limits<double>::infinity());
}

TEST(QuicksortPolicy, EqualScoresOfALongListAreAShuffle) {
  // The slot of item 0 is uniform: its mean over m lists has standard deviation n / sqrt(12 m), and
  // 5 of them are exceeded with probability below 1e-6.
  constexpr std::size_t n = 3000;
  const std::vector<double> scores(n, 0.5);
  Rng rng(52);
  double sum = 0;
  constexpr int m = 300;
  for (int draw = 0; draw < m; ++draw) {
    List list = draw_quicksort(scores, n, rng).value();
    sum += static_cast<double>(std::find(list.begin(), list.end(), 0U) - list.begin());
    std::sort(list.begin(), list.end());
    ASSERT_EQ(std::adjacent_find(list.begin(), list.end()), list.end());
    ASSERT_EQ(list.back(), n - 1);
  }
  EXPECT_NEAR(sum / m, (n - 1) / 2.0, 5 * n / std::sqrt(12.0 * m));
  // Every order is equally likely.
  const std::vector<double> few(100, 0.5);
  List order(100);
  std::iota(order.begin(), order.end(), 0U);
  EXPECT_NEAR(*log_propensity_quicksort(few, order), -std::lgamma(101.0), 1e-9);
}

TEST(QuicksortPolicy, PropensityIsGivenForFullListsOfModestLengthOnly) {
  const std::vector<double> scores(kMaxQuicksortPropensity + 1, 0.0);
  List order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  EXPECT_FALSE(log_propensity_quicksort(scores, order).has_value());
  EXPECT_FALSE(log_propensity_quicksort(std::vector<double>{1, 2}, List{0}).has_value());
}

TEST(QuicksortPolicy, DrawsAreTheSameUnderEverySimdTarget) {
  const auto draw_many = [] {
    List all;
    for (const double spread : {1.0, 1000.0}) {
      for (const std::size_t n : {2, 30, 500}) {
        Rng rng(53, n);
        std::vector<double> scores(n);
        for (double& s : scores) {
          s = spread * rng.normal();
        }
        const List list = draw_quicksort(scores, n, rng).value();
        all.insert(all.end(), list.begin(), list.end());
      }
    }
    return all;
  };
  const List reference = draw_many();
  for (const std::int64_t target : simd_targets()) {
    restrict_simd_target_for_test(target);
    EXPECT_EQ(draw_many(), reference) << simd_target_name(target);
  }
  restrict_simd_target_for_test(0);
}

TEST(QuicksortPolicy, BadInputIsAnError) {
  Rng rng(1);
  const std::vector<double> scores = {1, 2};
  const std::vector<double> bad = {1, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(draw_quicksort({}, 1, rng).error().code, ErrorCode::kEmptyCandidates);
  EXPECT_EQ(draw_quicksort(scores, 0, rng).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(draw_quicksort(scores, 3, rng).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(draw_quicksort(bad, 1, rng).error().code, ErrorCode::kNotFinite);
}

}  // namespace
}  // namespace hindsight
