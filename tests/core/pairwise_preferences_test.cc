#include "src/core/pairwise_preferences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hindsight/random.h"
#include "src/core/plackett_luce.h"

namespace hindsight {
namespace {

using Places = std::vector<std::uint32_t>;

struct Drawn {
  std::vector<double> all;           // scores of all candidates
  std::vector<std::uint32_t> order;  // what was shown
  std::vector<double> shown;         // scores of what was shown
  double shift = 0.0;
  double rest = 0.0;

  ShownLaw law() const { return {shown, shift, rest}; }
};

Drawn draw(Rng& rng, std::size_t n, std::size_t k, double spread) {
  Drawn drawn;
  for (std::size_t i = 0; i < n; ++i) {
    drawn.all.push_back(spread * rng.normal());
  }
  drawn.shift = *std::max_element(drawn.all.begin(), drawn.all.end());
  drawn.order = *draw_plackett_luce(drawn.all, k, rng);
  std::vector<bool> is_shown(n, false);
  for (const std::uint32_t i : drawn.order) {
    drawn.shown.push_back(drawn.all[i]);
    is_shown[i] = true;
  }
  for (std::size_t i = 0; i < n; ++i) {
    drawn.rest += is_shown[i] ? 0.0 : std::exp(drawn.all[i] - drawn.shift);
  }
  return drawn;
}

// rho by its definition, from the propensities of both lists.
double slow_rho(const Drawn& drawn, std::size_t k, std::size_t l) {
  std::vector<std::uint32_t> reversed = drawn.order;
  std::swap(reversed[k], reversed[l]);
  const double log_list = log_propensity_plackett_luce(drawn.all, drawn.order);
  const double log_reversed = log_propensity_plackett_luce(drawn.all, reversed);
  return 1.0 / (1.0 + std::exp(log_list - log_reversed));
}

TEST(PairwisePreferences, ReversedPairWeightsAreThoseOfTheTwoLists) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    const std::size_t n = 2 + rng.below(7);
    const std::size_t shown = 2 + rng.below(n - 1);
    const Drawn drawn = draw(rng, n, shown, 0.5 + static_cast<double>(round % 4));
    for (std::size_t k = 0; k < shown; ++k) {
      for (std::size_t l = 0; l < shown; ++l) {
        if (k != l) {
          const double rho = reversed_pair_weight(drawn.law(), k, l);
          EXPECT_NEAR(rho, slow_rho(drawn, k, l), 1e-9);
          // The list that reverses the pair gives the reversed preference the other share.
          EXPECT_NEAR(rho, reversed_pair_weight(drawn.law(), l, k), 1e-12);
        }
      }
    }
  }
}

// The gradient by finite differences of sum over pairs of rho P(d_k before d_l), rho held fixed.
TEST(PairwisePreferences, SlopesAreTheGradientOfTheWeightedPreferences) {
  Rng rng(2);
  for (int round = 0; round < 100; ++round) {
    const std::size_t n = 2 + rng.below(7);
    const std::size_t shown = 2 + rng.below(n - 1);
    const Drawn drawn = draw(rng, n, shown, 1.0);
    Places clicked;
    for (std::uint32_t place = 0; place < shown; ++place) {
      if (rng.below(3) == 0) {
        clicked.push_back(place);
      }
    }
    std::vector<double> scores(shown);  // the model has moved on since the list was drawn
    for (double& score : scores) {
      score = rng.normal();
    }
    const auto objective = [&](const std::vector<double>& s) {
      double sum = 0.0;
      for (const std::uint32_t k : clicked) {
        for (std::uint32_t l = 0; l < shown && l <= clicked.back() + 1; ++l) {
          if (std::find(clicked.begin(), clicked.end(), l) == clicked.end()) {
            sum += slow_rho(drawn, k, l) / (1.0 + std::exp(s[l] - s[k]));
          }
        }
      }
      return sum;
    };
    const std::vector<double> slopes = preference_slopes(drawn.law(), scores, clicked);
    for (std::size_t i = 0; i < shown; ++i) {
      constexpr double kStep = 1e-5;
      std::vector<double> up = scores;
      std::vector<double> down = scores;
      up[i] += kStep;
      down[i] -= kStep;
      EXPECT_NEAR(slopes[i], (objective(up) - objective(down)) / (2 * kStep), 1e-8);
    }
  }
}

// [Oosterhuis18] Theorem 4.1: documents that are alike in relevance are preferred to each other
// equally in expectation, wherever the ranker likes to put them. Two documents, each clicked with
// probability 1/2 on its own where it is seen; enumerated over lists and clicks, without chance.
TEST(PairwisePreferences, EquallyRelevantDocumentsCancelOut) {
  for (const double advantage : {0.0, 0.5, 3.0}) {
    const std::vector<double> scores = {advantage, 0.0, 1.0};
    double slope_of_first = 0.0;
    std::vector<std::uint32_t> order = {0, 1, 2};
    do {
      std::vector<double> shown;
      for (const std::uint32_t i : order) {
        shown.push_back(scores[i]);
      }
      const ShownLaw law{shown, std::max(advantage, 1.0), 0.0};
      const double prob = std::exp(log_propensity_plackett_luce(scores, order));
      for (unsigned clicks = 0; clicks < 8; ++clicks) {
        Places clicked;
        for (std::uint32_t place = 0; place < 3; ++place) {
          if ((clicks >> place & 1U) != 0) {
            clicked.push_back(place);
          }
        }
        const auto slopes = preference_slopes(law, shown, clicked);
        const auto at =
            static_cast<std::size_t>(std::find(order.begin(), order.end(), 0U) - order.begin());
        slope_of_first += prob / 8.0 * slopes[at];
      }
    } while (std::next_permutation(order.begin(), order.end()));
    EXPECT_NEAR(slope_of_first, 0.0, 1e-12);
  }
}

TEST(PairwisePreferences, NothingIsLearnedWithoutAPreference) {
  const std::vector<double> scores = {1.0, 0.5, 0.0};
  const ShownLaw law{scores, 1.0, 0.0};
  const std::vector<double> none(3, 0.0);
  EXPECT_EQ(preference_slopes(law, scores, Places{}), none);
  EXPECT_EQ(preference_slopes(law, scores, Places{0, 1, 2}), none);
  const std::vector<double> one = {2.0};
  EXPECT_EQ(preference_slopes({one, 2.0, 0.3}, one, Places{0}), std::vector<double>{0.0});
}

TEST(PairwisePreferences, DocumentsBelowTheNextOneAreNotJudged) {
  const std::vector<double> scores(5, 0.0);
  const auto slopes = preference_slopes({scores, 0.0, 1.0}, scores, Places{1});
  EXPECT_LT(slopes[0], 0.0);
  EXPECT_GT(slopes[1], 0.0);
  EXPECT_LT(slopes[2], 0.0);
  EXPECT_EQ(slopes[3], 0.0);
  EXPECT_EQ(slopes[4], 0.0);
}

TEST(PairwisePreferences, ExtremeScoresGiveFiniteSlopes) {
  const std::vector<double> scores = {-1e6, 1e6, 0.0, -1e6};
  for (const Places& clicked : {Places{0}, Places{3}, Places{0, 2}, Places{1}}) {
    for (const double slope : preference_slopes({scores, 1e6, 0.0}, scores, clicked)) {
      EXPECT_TRUE(std::isfinite(slope));
    }
  }
}

}  // namespace
}  // namespace hindsight
