// Laws of random lists by exact enumeration, and counted draws held against them.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "hindsight/random.h"

namespace hindsight::testing {

using List = std::vector<std::uint32_t>;
/// The probability of every list that can come out.
using Law = std::map<List, double>;

/// The first k of Plackett-Luce by its definition, in long double. Zero weights never come out.
inline Law plackett_luce_law(const std::vector<long double>& weights, std::size_t k) {
  Law law;
  List prefix;
  std::vector<char> used(weights.size(), 0);
  const auto extend = [&](const auto& self, long double prob) -> void {
    if (prefix.size() == k) {
      law[prefix] += static_cast<double>(prob);
      return;
    }
    long double rest = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      rest += used[i] != 0 ? 0 : weights[i];
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (used[i] == 0 && weights[i] > 0) {
        used[i] = 1;
        prefix.push_back(static_cast<std::uint32_t>(i));
        self(self, prob * weights[i] / rest);
        prefix.pop_back();
        used[i] = 0;
      }
    }
  };
  extend(extend, 1);
  return law;
}

inline std::vector<long double> weights_of(std::span<const double> scores) {
  const double best = *std::max_element(scores.begin(), scores.end());
  std::vector<long double> weights;
  for (const double s : scores) {
    weights.push_back(expl(static_cast<long double>(s) - best));
  }
  return weights;
}

/// Every ordered list of k of the positions 0..n-1.
inline std::vector<List> all_lists(std::size_t n, std::size_t k) {
  std::vector<List> lists;
  for (const auto& [list, prob] : plackett_luce_law(std::vector<long double>(n, 1), k)) {
    lists.push_back(list);
  }
  return lists;
}

inline double total(const Law& law) {
  return std::accumulate(law.begin(), law.end(), 0.0,
                         [](double sum, const auto& row) { return sum + row.second; });
}

/// P(a stands before b) under a law of full lists.
inline double prob_before(const Law& law, std::uint32_t a, std::uint32_t b) {
  double sum = 0;
  for (const auto& [list, prob] : law) {
    sum +=
        std::find(list.begin(), list.end(), a) < std::find(list.begin(), list.end(), b) ? prob : 0;
  }
  return sum;
}

/// Pearson's chi-square of counted draws against the law, cells below 50 expected draws pooled.
///
/// False alarm: for x = ln 10^6, a chi-square variable of d degrees of freedom exceeds
/// d + 2 sqrt(d x) + 2 x with probability at most e^-x = 1e-6 (Laurent and Massart 2000, Lemma 1).
/// Sample size: a law at chi-square distance sum (q - p)^2 / p = 0.05^2 from ours moves the
/// statistic by N 0.05^2; N makes that four times the distance from d to the threshold.
template <class Draw>
void expect_draws_follow(const Law& law, Draw draw) {
  ASSERT_NEAR(total(law), 1.0, 1e-12);
  constexpr double kLogAlarm = 13.815510557964274;
  const auto degrees = static_cast<double>(law.size() - 1);
  const double margin = 2 * std::sqrt(degrees * kLogAlarm) + 2 * kLogAlarm;
  const auto draws = static_cast<std::size_t>(4 * margin / (0.05 * 0.05));
  std::map<List, std::size_t> counts;
  for (std::size_t i = 0; i < draws; ++i) {
    const List list = draw();
    ASSERT_TRUE(law.contains(list))
        << "a list of probability zero: " << ::testing::PrintToString(list);
    ++counts[list];
  }
  double statistic = 0;
  double cells = 0;
  double pooled_expected = 0;
  double pooled_count = 0;
  for (const auto& [list, prob] : law) {
    const double expected = prob * static_cast<double>(draws);
    const auto count = static_cast<double>(counts[list]);
    if (expected < 50) {
      pooled_expected += expected;
      pooled_count += count;
      continue;
    }
    statistic += (count - expected) * (count - expected) / expected;
    ++cells;
  }
  if (pooled_expected >= 5) {
    statistic +=
        (pooled_count - pooled_expected) * (pooled_count - pooled_expected) / pooled_expected;
    ++cells;
  } else {
    // Poisson: 30 or more of fewer than 5 expected has probability below 1e-13.
    EXPECT_LT(pooled_count, 30);
  }
  const double d = std::max(cells - 1, 1.0);
  EXPECT_LT(statistic, d + 2 * std::sqrt(d * kLogAlarm) + 2 * kLogAlarm) << draws << " draws";
}

}  // namespace hindsight::testing
