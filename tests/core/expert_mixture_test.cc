#include "src/core/expert_mixture.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "hindsight/random.h"
#include "src/core/bytes.h"

namespace hindsight {
namespace {

std::vector<double> random_costs(Rng& rng, std::size_t experts) {
  std::vector<double> costs(experts);
  for (double& cost : costs) {
    cost = rng.below(20) == 0 ? 1e6 * rng.uniform() : 5.0 * rng.uniform();
  }
  return costs;
}

double weight_sum(const ExpertMixture& mixture) {
  double sum = 0.0;
  for (std::size_t k = 0; k < mixture.size(); ++k) {
    sum += mixture.weight(k);
  }
  return sum;
}

TEST(ExpertMixture, NeverPaysMoreThanTheBestExpertAndTheLogarithmOfTheirNumber) {
  EXPECT_TRUE(rc::check([] {
    Rng rng(*rc::gen::arbitrary<std::uint64_t>());
    const std::size_t experts = 1 + rng.below(20);
    const double share = rng.below(2) == 0 ? 0.0 : 0.3 * rng.uniform();
    ExpertMixture mixture(experts, share);
    for (int t = 0; t < 200; ++t) {
      mixture.learn(random_costs(rng, experts));
      RC_ASSERT(mixture.cost() <= mixture.cost_bound() + 1e-9 * (1.0 + mixture.cost()));
      RC_ASSERT(std::abs(weight_sum(mixture) - 1.0) < 1e-9);
    }
  }));
}

// The slow reference: plain probabilities, for costs that do not make them vanish.
TEST(ExpertMixture, IsBayesRule) {
  Rng rng(3);
  ExpertMixture mixture(4, 0.1);
  std::vector<double> prior(4, 0.25);
  for (int t = 0; t < 100; ++t) {
    std::vector<double> costs(4);
    double evidence = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      costs[k] = 3.0 * rng.uniform();
      evidence += prior[k] * std::exp(-costs[k]);
    }
    EXPECT_NEAR(mixture.learn(costs), -std::log(evidence), 1e-12);
    std::vector<double> next(4, 0.0);
    for (std::size_t k = 0; k < 4; ++k) {
      const double posterior = prior[k] * std::exp(-costs[k]) / evidence;
      for (std::size_t other = 0; other < 4; ++other) {
        next[other] += posterior * (other == k ? 0.9 : 0.1 / 3);
      }
    }
    prior = next;
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_NEAR(mixture.weight(k), prior[k], 1e-12);
    }
  }
}

/// RETURNS: after how many rounds the second expert has most of the weight, the first having been
/// better by one nat for 1,000 rounds and the second from then on.
int rounds_to_recover(double share) {
  ExpertMixture mixture(10, share);
  std::vector<double> costs(10, 4.0);
  costs[0] = 1.0;
  costs[1] = 2.0;
  for (int t = 0; t < 1000; ++t) {
    mixture.learn(costs);
  }
  std::swap(costs[0], costs[1]);
  int rounds = 0;
  while (mixture.weight(1) < 0.5) {
    mixture.learn(costs);
    ++rounds;
  }
  return rounds;
}

// A share may be as small as numbers are, and an expert as bad.
TEST(ExpertMixture, TheSmallestShareIsSafe) {
  for (const double share : {5e-324, 1e-310, 2.3e-308, 1e-300}) {
    ExpertMixture mixture(3, share);
    double cost = 0.0;
    for (int t = 0; t < 50; ++t) {
      cost += mixture.learn(std::vector<double>{0.5, 1000.0, 2.0});
    }
    EXPECT_NEAR(cost, 25.0 + std::log(3.0), 1e-9) << share;
    EXPECT_NEAR(mixture.weight(0), 1.0, 1e-12) << share;
    EXPECT_TRUE(std::isfinite(mixture.log_weight(1))) << share;
    EXPECT_LE(mixture.cost(), mixture.cost_bound() + 1e-9) << share;
  }
}

// The weight of an expert is never below share / (N - 1) or so, and gains one nat per round:
// ln((N - 1) / share) + 1 rounds suffice. Without a share it takes as long as it was behind.
TEST(ExpertMixture, WithAShareItRecoversWithinTheLogarithmOfTheShareAfterAChange) {
  for (const double share : {0.1, 0.01, 0.001}) {
    EXPECT_LE(rounds_to_recover(share), std::log(9.0 / share) + 1.0) << share;
  }
  EXPECT_GE(rounds_to_recover(0.0), 990);
}

TEST(ExpertMixture, ComesBackFromItsBytesAndRefusesDamage) {
  Rng rng(5);
  ExpertMixture mixture(6, 0.0);
  for (int t = 0; t < 50; ++t) {
    mixture.learn(random_costs(rng, 6));
  }
  ByteWriter out;
  mixture.save(out);
  ExpertMixture copy(6, 0.0);
  ByteReader in(out.bytes());
  ASSERT_TRUE(copy.load(in).ok());
  const std::vector<double> costs = random_costs(rng, 6);
  EXPECT_EQ(copy.learn(costs), mixture.learn(costs));
  ExpertMixture fewer(5, 0.0);
  ByteReader again(out.bytes());
  EXPECT_FALSE(fewer.load(again).ok());
  for (std::size_t size = 0; size < out.bytes().size(); ++size) {
    ExpertMixture other(6, 0.0);
    ByteReader cut(std::span(out.bytes()).first(size));
    EXPECT_FALSE(other.load(cut).ok()) << size;
  }
}

}  // namespace
}  // namespace hindsight
