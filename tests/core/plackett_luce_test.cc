#include "src/core/plackett_luce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/core/list_law.h"

namespace hindsight {
namespace {

using testing::all_lists;
using testing::expect_draws_follow;
using testing::Law;
using testing::List;
using testing::plackett_luce_law;
using testing::weights_of;

const std::vector<std::vector<double>> kScores = {
    {7.5}, {0, 1}, {0, 0, 0}, {1, -1, 0.5, 0}, {0.1, -2, 1, 1, 0}, {1e6, 1e6 + 1, 1e6 - 0.5}};

using DrawFunction = Result<List> (*)(std::span<const double>, std::size_t, Rng&);
constexpr DrawFunction kDraws[] = {draw_plackett_luce, draw_plackett_luce_reference};

TEST(PlackettLuce, DrawsFollowTheLaw) {
  for (const DrawFunction draw : kDraws) {
    for (const auto& scores : kScores) {
      for (std::size_t k = 1; k <= scores.size(); ++k) {
        Rng rng(21, k);
        expect_draws_follow(plackett_luce_law(weights_of(scores), k),
                            [&] { return draw(scores, k, rng).value(); });
      }
    }
  }
}

TEST(PlackettLuce, LogPropensityIsThatOfTheLaw) {
  for (const auto& scores : kScores) {
    for (std::size_t k = 1; k <= scores.size(); ++k) {
      for (const auto& [list, prob] : plackett_luce_law(weights_of(scores), k)) {
        EXPECT_NEAR(log_propensity_plackett_luce(scores, list), std::log(prob), 1e-13);
      }
    }
  }
}

TEST(PlackettLuce, FirstSlotProbsAreTheSoftmax) {
  for (const auto& scores : kScores) {
    std::vector<double> probs(scores.size());
    first_slot_probs(scores, probs);
    for (const auto& [list, prob] : plackett_luce_law(weights_of(scores), 1)) {
      EXPECT_NEAR(probs[list[0]], prob, 1e-15);
    }
  }
}

}  // namespace
}  // namespace hindsight
