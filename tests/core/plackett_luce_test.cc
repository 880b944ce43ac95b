#include "src/core/plackett_luce.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "src/core/kernels.h"
#include "tests/core/list_law.h"

namespace hindsight {
namespace {

using testing::all_lists;
using testing::expect_draws_follow;
using testing::Law;
using testing::List;
using testing::plackett_luce_law_of_scores;
using testing::prob_before;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

const std::vector<std::vector<double>> kScores = {{7.5},
                                                  {0, 1},
                                                  {0, 0, 0},
                                                  {1, -1, 0.5, 0},
                                                  {0.1, -2, 1, 1, 0},
                                                  {1e6, 1e6 + 1, 1e6 - 0.5},
                                                  {0, -1000, -1000, -1001},
                                                  {-1e6, 1e6, -1e6, 1e6}};

using DrawFunction = Result<List> (*)(std::span<const double>, std::size_t, Rng&);
constexpr DrawFunction kDraws[] = {draw_plackett_luce, draw_plackett_luce_reference};

TEST(PlackettLuce, DrawsFollowTheLaw) {
  for (const DrawFunction draw : kDraws) {
    for (const auto& scores : kScores) {
      for (std::size_t k = 1; k <= scores.size(); ++k) {
        Rng rng(21, k);
        expect_draws_follow(plackett_luce_law_of_scores(scores, k),
                            [&] { return draw(scores, k, rng).value(); });
      }
    }
  }
}

// ln of each factor, with the maximum of what is left subtracted, in long double.
long double log_propensity_by_definition(const std::vector<double>& scores, const List& list) {
  std::vector<double> rest = scores;
  long double result = 0;
  for (const std::uint32_t i : list) {
    const long double best = *std::max_element(rest.begin(), rest.end());
    long double sum = 0;
    for (const double s : rest) {
      sum += expl(s - best);
    }
    result += scores[i] - best - logl(sum);
    rest.erase(std::find(rest.begin(), rest.end(), scores[i]));
  }
  return result;
}

TEST(PlackettLuce, LogPropensityIsThatOfTheDefinition) {
  for (const auto& scores : kScores) {
    for (std::size_t k = 1; k <= scores.size(); ++k) {
      for (const List& list : all_lists(scores.size(), k)) {
        const double ours = log_propensity_plackett_luce(scores, list);
        EXPECT_NEAR(ours, static_cast<double>(log_propensity_by_definition(scores, list)),
                    1e-13 + 4e-16 * std::abs(ours));
      }
    }
  }
}

TEST(PlackettLuce, FirstSlotProbsAreTheSoftmax) {
  for (const auto& scores : kScores) {
    std::vector<double> probs(scores.size());
    first_slot_probs(scores, probs);
    EXPECT_NEAR(std::accumulate(probs.begin(), probs.end(), 0.0), 1.0, 1e-15);
    for (const auto& [list, prob] : plackett_luce_law_of_scores(scores, 1)) {
      EXPECT_NEAR(probs[list[0]], prob, 1e-15);
    }
  }
}

// [Delage09] Proposition A.1: the order of two items does not depend on the others; [Ailon13]
// Lemma 6.1: it is e^a against e^b. Exact, from the propensities of all lists.
RC_GTEST_PROP(PlackettLuce, OrderOfAPairDependsOnThePairAlone, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(2, 6);
  const auto milli = *rc::gen::container<std::vector<int>>(n, rc::gen::inRange(-5000, 5000));
  std::vector<double> scores;
  for (const int m : milli) {
    scores.push_back(m / 1000.0);
  }
  Law law;
  for (const List& list : all_lists(n, n)) {
    law[list] = std::exp(log_propensity_plackett_luce(scores, list));
  }
  RC_ASSERT(std::abs(testing::total(law) - 1.0) < 1e-12);
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = 0; b < n; ++b) {
      if (a != b) {
        const double alone =
            std::exp(log_propensity_plackett_luce(std::vector{scores[a], scores[b]}, List{0, 1}));
        RC_ASSERT(std::abs(alone - 1 / (1 + std::exp(scores[b] - scores[a]))) < 1e-12);
        RC_ASSERT(std::abs(prob_before(law, a, b) - alone) < 1e-12);
      }
    }
  }
}

RC_GTEST_PROP(PlackettLuce, DrawsAreDistinctPositionsWithAFiniteLogPropensity, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 400);
  const auto k = *rc::gen::inRange<std::size_t>(1, n + 1);
  const auto spread = *rc::gen::element(0.0, 1.0, 300.0, 1e6, 1e300);
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<double> scores(n);
  for (double& s : scores) {
    s = spread * rng.normal();
  }
  for (const DrawFunction draw : kDraws) {
    List order = draw(scores, k, rng).value();
    RC_ASSERT(order.size() == k);
    const double log_prob = log_propensity_plackett_luce(scores, order);
    RC_ASSERT(std::isfinite(log_prob));
    RC_ASSERT(log_prob <= 0.0);
    std::sort(order.begin(), order.end());
    RC_ASSERT(std::adjacent_find(order.begin(), order.end()) == order.end());
    RC_ASSERT(order.back() < n);
  }
}

TEST(PlackettLuce, HugeScoresLeaveNoChoice) {
  const std::vector<double> scores = {0, 1e308, -1e308, 5e307};
  const List only = {1, 3, 0, 2};
  Rng rng(1);
  for (const DrawFunction draw : kDraws) {
    EXPECT_EQ(draw(scores, 4, rng).value(), only);
  }
  EXPECT_EQ(log_propensity_plackett_luce(scores, only), 0.0);
  EXPECT_EQ(log_propensity_plackett_luce(scores, List{0}), -1e308);
  EXPECT_EQ(log_propensity_plackett_luce(scores, List{2}), -kInfinity);
}

TEST(PlackettLuce, BadScoresAreErrors) {
  Rng rng(1);
  const std::vector<double> none;
  const std::vector<double> scores = {1, 2};
  for (const DrawFunction draw : kDraws) {
    EXPECT_EQ(draw(none, 1, rng).error().code, ErrorCode::kEmptyCandidates);
    EXPECT_EQ(draw(scores, 0, rng).error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(draw(scores, 3, rng).error().code, ErrorCode::kInvalidArgument);
    for (const double bad : {kNan, kInfinity, -kInfinity}) {
      for (const std::size_t at : {0U, 20U, 39U}) {
        std::vector<double> with_bad(40, 0.5);
        with_bad[at] = bad;
        const auto result = draw(with_bad, 1, rng);
        ASSERT_FALSE(result.ok());
        EXPECT_EQ(result.error().code, ErrorCode::kNotFinite);
        EXPECT_EQ(result.error().field, "scores[" + std::to_string(at) + "]");
      }
    }
  }
}

TEST(PlackettLuce, DrawsAreTheSameUnderEverySimdTarget) {
  const auto draw_many = [] {
    List all;
    for (const std::size_t n : {1, 5, 40, 300, 1000, 5000}) {
      Rng rng(77, n);
      std::vector<double> scores(n);
      std::vector<float> weights(n);
      for (std::size_t i = 0; i < n; ++i) {
        scores[i] = rng.normal();
        weights[i] = static_cast<float>(rng.exponential());
      }
      for (const std::size_t k : {std::size_t{1}, std::min<std::size_t>(n, 10), n}) {
        for (int repeat = 0; repeat < 5; ++repeat) {
          for (const List& list : {draw_plackett_luce(scores, k, rng).value(),
                                   draw_top_k(std::span<const float>(weights), k, rng).value()}) {
            all.insert(all.end(), list.begin(), list.end());
          }
        }
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

}  // namespace
}  // namespace hindsight
