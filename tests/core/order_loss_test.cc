#include "src/core/order_loss.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hindsight/random.h"
#include "src/core/choice_rate.h"

namespace hindsight {
namespace {

std::vector<std::uint32_t> identity(std::size_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

RC_GTEST_PROP(OrderLoss, PositionAndPairwiseLossDifferByTheScoresAlone, ()) {
  const auto scores = *rc::gen::container<std::vector<double>>(
      *rc::gen::inRange<std::size_t>(1, 9),
      rc::gen::map(rc::gen::inRange(-50, 50), [](int x) { return x / 4.0; }));
  std::vector<std::uint32_t> order = identity(scores.size());
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[rng.below(i)]);
  }
  RC_ASSERT(std::abs(position_loss(order, scores) - pairwise_loss(order, scores) -
                     loss_difference(scores)) < 1e-9);
}

TEST(OrderLoss, TheBestOrderIsTheBestForEveryWeightThatDoesNotFall) {
  const std::vector<double> scores = {0.5, 3.0, 0.0, 1.5, 3.0};
  for (const PositionWeights& weights :
       {polynomial_weights(std::vector<double>{-1.0, 1.0}, 5), ndcg_weights(5),
        polynomial_weights(std::vector<double>{0.0, 0.5, 2.0}, 5)}) {
    double least = INFINITY;
    std::vector<std::uint32_t> order = identity(5);
    do {
      least = std::min(least, weighted_loss(order, scores, weights));
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_NEAR(weighted_loss(best_order(scores), scores, weights), least, 1e-12);
  }
}

TEST(OrderLoss, LinearWeightsAreThePositionLoss) {
  const std::vector<double> scores = {1.0, 0.0, 2.0};
  const std::vector<std::uint32_t> order = {1, 2, 0};
  const PositionWeights linear = polynomial_weights(std::vector<double>{-1.0, 1.0}, 3);
  EXPECT_DOUBLE_EQ(weighted_loss(order, scores, linear), position_loss(order, scores));
  EXPECT_DOUBLE_EQ(position_loss(order, scores), 1 * 2.0 + 2 * 1.0);
}

TEST(OrderLoss, NdcgWeightsRiseFromNought) {
  const PositionWeights weights = ndcg_weights(50);
  EXPECT_DOUBLE_EQ(weights[0], 0.0);
  EXPECT_TRUE(std::is_sorted(weights.begin(), weights.end()));
  EXPECT_LT(weights.back(), 1.0);
}

double spread_of(const std::vector<double>& scores) {
  double sum = 0.0;
  for (std::size_t u = 0; u < scores.size(); ++u) {
    for (std::size_t v = u + 1; v < scores.size(); ++v) {
      sum += (scores[u] - scores[v]) * (scores[u] - scores[v]);
    }
  }
  return sum;
}

TEST(ChoiceRate, TheSpreadIsTheGreatestOfAllSetsOfAtMostK) {
  for (std::uint64_t n = 1; n <= 8; ++n) {
    double greatest = 0.0;
    for (std::uint64_t k = 1; k <= n; ++k) {
      std::vector<double> scores(n, 0.0);
      std::fill(scores.begin(), scores.begin() + static_cast<long>(k), 1.0);
      greatest = std::max(greatest, spread_of(scores));
      if (k <= n / 2) {
        EXPECT_DOUBLE_EQ(choice_spread(n, k), greatest);
      } else {
        EXPECT_GE(choice_spread(n, k), greatest);
      }
    }
  }
}

TEST(ChoiceRate, TheSpreadOfARankingIsThatOfItsRanks) {
  for (std::uint64_t n = 1; n <= 9; ++n) {
    std::vector<double> ranks(n);
    std::iota(ranks.begin(), ranks.end(), 0.0);
    EXPECT_DOUBLE_EQ(ranking_spread(n), spread_of(ranks));
  }
}

TEST(ChoiceRate, TheRateMakesBothTermsOfTheBoundEqual) {
  const double spread = choice_spread(40, 3);
  const double rate = online_rank_rate(40, 9000, spread);
  const double start = 40.0 * 40.0 * std::log(2.0) / (2.0 * rate);
  const double steps = 0.5 * rate * 9000.0 * spread;
  EXPECT_NEAR(start, steps, 1e-9 * start);
  EXPECT_NEAR(start + steps, online_rank_bound(40, 9000, spread), 1e-9 * start);
  EXPECT_EQ(online_rank_rate(1, 10, choice_spread(1, 1) - 0.25), 0.0);
}

// [Ailon13] section 6, for one pair: whoever draws u before v with the odds e^w(u) : e^w(v) loses
// no more than either fixed order of the two, plus log 2 / eta + eta/2 times the squared
// differences. Any eta > 0 will do, for e^-x <= 1 - x + x^2/2 for all x >= 0.
RC_GTEST_PROP(ChoiceRate, APairLosesLittleMoreThanEitherOfItsOrders, ()) {
  const double rate = std::exp(*rc::gen::inRange(-60, 15) / 10.0);
  const auto differences = *rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(-12, 13), [](int x) { return x / 4.0; }));
  double count = 0.0;  // of u, less that of v
  double paid = 0.0;
  double u_first = 0.0;
  double v_first = 0.0;
  double squares = 0.0;
  double log_potential = 0.0;
  for (const double difference : differences) {
    const double u_wins = 1.0 / (1.0 + std::exp(-rate * count));
    const double lost_by_u_first = std::max(-difference, 0.0);
    const double lost_by_v_first = std::max(difference, 0.0);
    const double loss = u_wins * lost_by_u_first + (1.0 - u_wins) * lost_by_v_first;
    const double mixed = u_wins * std::exp(-rate * lost_by_u_first) +
                         (1.0 - u_wins) * std::exp(-rate * lost_by_v_first);
    const double squared_loss = u_wins * lost_by_u_first * lost_by_u_first +
                                (1.0 - u_wins) * lost_by_v_first * lost_by_v_first;
    // (6.4), each round by itself.
    RC_ASSERT(std::log(mixed) <= -rate * loss + 0.5 * rate * rate * squared_loss + 1e-12);
    log_potential += std::log(mixed);
    paid += loss;
    u_first += lost_by_u_first;
    v_first += lost_by_v_first;
    squares += difference * difference;
    count += difference;
    // The logarithms add up to that of the two orders' weights: (6.2).
    RC_ASSERT(std::abs(log_potential -
                       std::log(0.5 * (std::exp(-rate * u_first) + std::exp(-rate * v_first)))) <
                  1e-9 * (1.0 + std::abs(log_potential)) ||
              rate * std::min(u_first, v_first) > 600.0);
    RC_ASSERT(paid <=
              std::min(u_first, v_first) + std::log(2.0) / rate + 0.5 * rate * squares + 1e-9);
  }
}

TEST(ChoiceRate, DoublingCostsNoMoreThanItsFactor) {
  const std::uint64_t n = 12;
  const double spread = choice_spread(n, 2);
  double steps = 0.0;
  for (std::uint64_t t = 1; t <= 5000; ++t) {
    const double rate = online_rank_rate(n, doubled_horizon(t), spread);
    steps += 0.5 * rate * spread;
    const double total = 144.0 * std::log(2.0) / (2.0 * rate) + steps;
    ASSERT_LE(total, kDoublingFactor * online_rank_bound(n, t, spread)) << t;
  }
}

}  // namespace
}  // namespace hindsight
