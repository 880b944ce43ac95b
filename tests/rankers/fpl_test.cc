#include "src/rankers/fpl.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "src/core/choice_rate.h"
#include "src/core/order_loss.h"
#include "tests/support/count_library.h"

namespace hindsight {
namespace {

using testing::CountLibrary;

const ParamMap kGumbel = {{"noise", std::string("gumbel")}};

TEST(Fpl, ScoresAreTheRateTimesTheCounts) {
  CountLibrary library("fpl", 8, {{"horizon", 100.0}, {"choices", 2.0}});
  ASSERT_TRUE(library.click(library.rank(), {3, 5}).ok());
  ASSERT_TRUE(library.click(library.rank(), {3}).ok());
  EXPECT_DOUBLE_EQ(library.ranker->item_score(3),
                   2.0 * perturbed_leader_rate(8, 100, choice_spread(8, 2)));
}

// The noise is uniform in [0, 1/eps]: of two items whose counts differ by less the lower one leads
// with the probability of a triangle, and beyond that never. A count of 20,000 draws is off by more
// than 0.025 of them with probability 2 e^-25 (Hoeffding).
TEST(Fpl, PairsFollowTheTriangleOfTwoUniformNoises) {
  CountLibrary library("fpl", 4, {{"horizon", 40.0}});
  for (const ItemIndex wanted : {0, 0, 0, 2, 1, 0, 2}) {
    ASSERT_TRUE(library.click(library.rank(), {wanted}).ok());
  }
  constexpr int kDraws = 20'000;
  std::vector<std::vector<int>> before(4, std::vector<int>(4, 0));
  for (int draw = 0; draw < kDraws; ++draw) {
    const Decision decision = library.rank();
    EXPECT_TRUE(decision.prob_first.empty());
    EXPECT_FALSE(decision.log_propensity);
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i + 1; j < 4; ++j) {
        ++before[decision.items[i]][decision.items[j]];
      }
    }
  }
  for (ItemIndex a = 0; a < 4; ++a) {
    for (ItemIndex b = 0; b < 4; ++b) {
      if (a != b) {
        const double lead = library.ranker->item_score(a) - library.ranker->item_score(b);
        EXPECT_NEAR(before[a][b] / double{kDraws}, testing::uniform_pair(lead), 0.025) << a << b;
      }
    }
  }
}

TEST(Fpl, ALeadBeyondTheNoiseIsNeverLost) {
  CountLibrary library("fpl", 3, {{"horizon", 4.0}});
  while (library.ranker->item_score(1) < 1.0) {
    ASSERT_TRUE(library.click(library.rank(), {1}).ok());
  }
  for (int draw = 0; draw < 200; ++draw) {
    EXPECT_EQ(library.rank().items[0], 1U);
  }
}

// [Ailon13] section 8.
TEST(Fpl, WithGumbelNoiseItIsOnlineRank) {
  CountLibrary leader("fpl", 6, kGumbel);
  CountLibrary online("onlinerank", 6);
  Rng taste(4);
  for (int t = 0; t < 100; ++t) {
    const Decision one = leader.rank();
    const Decision other = online.rank();
    ASSERT_EQ(one.items, other.items);
    ASSERT_EQ(one.prob_first, other.prob_first);
    ASSERT_EQ(one.log_propensity, other.log_propensity);
    const auto wanted = static_cast<ItemIndex>(taste.below(6));
    ASSERT_TRUE(leader.click(one, {wanted}).ok());
    ASSERT_TRUE(online.click(other, {wanted}).ok());
  }
}

// Exact expected regret against the bound of src/core/choice_rate.h, on users who prefer the item
// that the ranker has lowest, and on users with favourites.
void expect_regret_below_the_bound(std::uint32_t n, double horizon, std::uint64_t rounds,
                                   bool worst) {
  CountLibrary library("fpl", n, {{"horizon", horizon}});
  Rng taste(n);
  std::vector<double> counts(n, 0.0);
  double loss = 0.0;
  for (std::uint64_t t = 0; t < rounds; ++t) {
    auto wanted = static_cast<ItemIndex>(std::min(taste.below(n), taste.below(n)));
    if (worst) {
      wanted =
          static_cast<ItemIndex>(std::min_element(counts.begin(), counts.end()) - counts.begin());
    }
    std::vector<double> scores(n, 0.0);
    scores[wanted] = 1.0;
    loss += testing::expected_loss(*library.ranker, scores, testing::uniform_pair);
    counts[wanted] += 1.0;
    ASSERT_TRUE(library.click(library.rank(), {wanted}).ok());
  }
  const double regret = loss - position_loss(best_order(counts), counts);
  const double factor = horizon > 0.0 ? 1.0 : kDoublingFactor;
  EXPECT_LE(regret, factor * perturbed_leader_bound(n, rounds, choice_spread(n, 1)))
      << n << " items, horizon " << horizon << ", worst " << worst;
}

TEST(Fpl, ExpectedRegretStaysBelowTheBound) {
  for (const std::uint32_t n : {2U, 8U, 16U}) {
    for (const bool worst : {false, true}) {
      expect_regret_below_the_bound(n, 600.0, 600, worst);
      expect_regret_below_the_bound(n, 0.0, 700, worst);
    }
  }
}

TEST(PerturbedLeader, RateBalancesTheTwoHalvesOfTheBound) {
  const double spread = choice_spread(9, 2);
  const double eps = perturbed_leader_rate(9, 500, spread);
  EXPECT_DOUBLE_EQ(9.0 * 8.0 / (6.0 * eps), eps * 500.0 * spread);
  EXPECT_DOUBLE_EQ(perturbed_leader_bound(9, 500, spread), 2.0 * eps * 500.0 * spread);
  EXPECT_EQ(perturbed_leader_rate(1, 500, 0.0), 0.0);
}

}  // namespace
}  // namespace hindsight
