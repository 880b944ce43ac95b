#include "src/core/sorted_policy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "src/core/plackett_luce.h"
#include "tests/core/list_law.h"

namespace hindsight {
namespace {

using testing::all_lists;
using testing::expect_draws_follow;
using testing::Law;
using testing::List;

const std::vector<std::vector<double>> kScores = {
    {0.5},       {0, 0}, {1, 0, 1}, {0, 0, 0, 0}, {2, -1, 2, 0, -1}, {1e6, -1e6, 1e6, 0, 0},
    {3, 2, 1, 0}};

// Sequential definition: each next place is uniform among the best of what is left.
Law sorted_law(const std::vector<double>& scores, std::size_t k, List prefix = {}) {
  if (prefix.size() == k) {
    return {{prefix, 1.0}};
  }
  List best;
  for (std::uint32_t i = 0; i < scores.size(); ++i) {
    if (std::find(prefix.begin(), prefix.end(), i) != prefix.end()) {
      continue;
    }
    if (!best.empty() && scores[i] > scores[best[0]]) {
      best.clear();
    }
    if (best.empty() || scores[i] == scores[best[0]]) {
      best.push_back(i);
    }
  }
  Law law;
  for (const std::uint32_t i : best) {
    List longer = prefix;
    longer.push_back(i);
    for (const auto& [list, prob] : sorted_law(scores, k, longer)) {
      law[list] += prob / static_cast<double>(best.size());
    }
  }
  return law;
}

Law first_then_sort_law(const std::vector<double>& scores, std::size_t k) {
  std::vector<double> first(scores.size());
  first_slot_probs(scores, first);
  Law law;
  for (std::uint32_t i = 0; i < scores.size(); ++i) {
    if (first[i] == 0) {
      continue;
    }
    for (const auto& [list, prob] : sorted_law(scores, k, {i})) {
      law[list] += first[i] * prob;
    }
  }
  return law;
}

TEST(SortedPolicy, DrawsFollowTheLaw) {
  for (const auto& scores : kScores) {
    for (std::size_t k = 1; k <= scores.size(); ++k) {
      Rng rng(11, k);
      expect_draws_follow(sorted_law(scores, k),
                          [&] { return sort_with_random_ties(scores, k, rng).value(); });
    }
  }
}

TEST(FirstThenSort, DrawsFollowTheLaw) {
  for (const auto& scores : kScores) {
    for (std::size_t k = 1; k <= scores.size(); ++k) {
      Rng rng(12, k);
      expect_draws_follow(first_then_sort_law(scores, k),
                          [&] { return draw_first_then_sort(scores, k, rng).value(); });
    }
  }
}

// Over every list that there is, so that impossible lists are covered too.
TEST(SortedPolicy, LogPropensityIsThatOfTheLaw) {
  for (const auto& scores : kScores) {
    for (std::size_t k = 1; k <= scores.size(); ++k) {
      Law sorted = sorted_law(scores, k);
      Law first = first_then_sort_law(scores, k);
      for (const List& list : all_lists(scores.size(), k)) {
        EXPECT_NEAR(std::exp(log_propensity_sorted(scores, list)), sorted[list], 1e-13);
        EXPECT_NEAR(std::exp(log_propensity_first_then_sort(scores, list)), first[list], 1e-13);
      }
    }
  }
}

TEST(SortedPolicy, LargeTieGroupsKeepTheirLogPropensity) {
  const std::vector<double> scores(5000, 0.25);
  List order(5000);
  std::iota(order.begin(), order.end(), 0U);
  EXPECT_NEAR(log_propensity_sorted(scores, order), -std::lgamma(5001.0), 1e-8);
  order.resize(10);
  EXPECT_NEAR(log_propensity_sorted(scores, order), std::lgamma(4991.0) - std::lgamma(5001.0),
              1e-9);
}

TEST(SortedPolicy, OrderIsThatOfAPlainSort) {
  Rng rng(5);
  for (const std::size_t n : {1, 2, 3, 17, 100, 1000, 5000}) {
    std::vector<double> scores(n);
    for (double& s : scores) {
      s = rng.normal();
    }
    // Neighbours that differ in the last bit only, beside exact ties.
    for (std::size_t i = 0; i + 3 < n; i += 4) {
      scores[i + 1] = std::nextafter(scores[i], 10.0);
      scores[i + 2] = scores[i];
    }
    for (const std::size_t k : {std::size_t{1}, (n + 2) / 3, n}) {
      List expected(n);
      std::iota(expected.begin(), expected.end(), 0U);
      std::stable_sort(expected.begin(), expected.end(),
                       [&](auto a, auto b) { return scores[a] > scores[b]; });
      const List order = sort_with_random_ties(scores, k, rng).value();
      ASSERT_EQ(order.size(), k);
      List seen = order;
      std::sort(seen.begin(), seen.end());
      EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
      for (std::size_t j = 0; j < k; ++j) {
        ASSERT_EQ(scores[order[j]], scores[expected[j]]);
      }
    }
  }
}

TEST(SortedPolicy, ZeroAndMinusZeroTie) {
  const std::vector<double> scores = {0.0, -0.0};
  Rng rng(3);
  expect_draws_follow(Law{{{0, 1}, 0.5}, {{1, 0}, 0.5}},
                      [&] { return sort_with_random_ties(scores, 2, rng).value(); });
  std::vector<double> probs(2);
  sorted_first_slot_probs(scores, probs);
  EXPECT_EQ(probs, (std::vector<double>{0.5, 0.5}));
}

TEST(SortedPolicy, FirstSlotIsSharedByTheBestGroup) {
  const std::vector<double> scores = {2, 5, 5, -1, 5};
  std::vector<double> probs(5);
  sorted_first_slot_probs(scores, probs);
  EXPECT_EQ(probs, (std::vector<double>{0, 1.0 / 3, 1.0 / 3, 0, 1.0 / 3}));
}

TEST(SortedPolicy, BadInputIsAnError) {
  Rng rng(1);
  const std::vector<double> scores = {1, 2};
  const std::vector<double> bad = {1, std::numeric_limits<double>::quiet_NaN()};
  const std::vector<double> none;
  for (const auto draw : {sort_with_random_ties, draw_first_then_sort}) {
    EXPECT_EQ(draw(none, 1, rng).error().code, ErrorCode::kEmptyCandidates);
    EXPECT_EQ(draw(scores, 0, rng).error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(draw(scores, 3, rng).error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(draw(bad, 1, rng).error().code, ErrorCode::kNotFinite);
    EXPECT_EQ(draw(bad, 1, rng).error().field, "scores[1]");
  }
}

}  // namespace
}  // namespace hindsight
