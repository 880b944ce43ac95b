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

/// The first k of Plackett-Luce by its definition, in long double: weights(rest) are the weights of
/// the positions that are left. Lists of probability zero are left out.
template <class Weights>
Law plackett_luce_law_by(std::size_t n, std::size_t k, Weights weights) {
  Law law;
  List prefix;
  List rest(n);
  std::iota(rest.begin(), rest.end(), 0U);
  const auto extend = [&](const auto& self, long double prob) -> void {
    if (prefix.size() == k) {
      if (prob > 0) {
        law[prefix] += static_cast<double>(prob);
      }
      return;
    }
    const std::vector<long double> weight = weights(rest);
    const long double sum = std::accumulate(weight.begin(), weight.end(), 0.0L);
    for (std::size_t j = 0; j < rest.size(); ++j) {
      if (weight[j] > 0) {
        const List before = rest;
        prefix.push_back(rest[j]);
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(j));
        self(self, prob * weight[j] / sum);
        rest = before;
        prefix.pop_back();
      }
    }
  };
  extend(extend, 1);
  return law;
}

inline Law plackett_luce_law(const std::vector<double>& weights, std::size_t k) {
  return plackett_luce_law_by(weights.size(), k, [&](const List& rest) {
    std::vector<long double> result;
    for (const std::uint32_t i : rest) {
      result.push_back(weights[i]);
    }
    return result;
  });
}

/// The same from scores, with the maximum of what is left subtracted at every step.
inline Law plackett_luce_law_of_scores(const std::vector<double>& scores, std::size_t k) {
  return plackett_luce_law_by(scores.size(), k, [&](const List& rest) {
    long double best = scores[rest[0]];
    for (const std::uint32_t i : rest) {
      best = std::max(best, static_cast<long double>(scores[i]));
    }
    std::vector<long double> result;
    for (const std::uint32_t i : rest) {
      result.push_back(expl(static_cast<long double>(scores[i]) - best));
    }
    return result;
  });
}

/// Every ordered list of k of the positions 0..n-1.
inline std::vector<List> all_lists(std::size_t n, std::size_t k) {
  std::vector<List> lists;
  for (const auto& [list, prob] : plackett_luce_law(std::vector<double>(n, 1.0), k)) {
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
/// Sample size: a law at chi-square distance sum (q - p)^2 / p = 0.1^2 from ours moves the
/// statistic by N 0.1^2; N makes that four times the distance from d to the threshold.
template <class Draw>
void expect_draws_follow(const Law& law, Draw draw) {
  ASSERT_NEAR(total(law), 1.0, 1e-12);
  constexpr double kLogAlarm = 13.815510557964274;
  const auto degrees = static_cast<double>(law.size() - 1);
  const double margin = 2 * std::sqrt(degrees * kLogAlarm) + 2 * kLogAlarm;
  const auto draws = static_cast<std::size_t>(4 * margin / (0.1 * 0.1));
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
