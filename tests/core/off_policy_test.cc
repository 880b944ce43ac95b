#include "src/core/off_policy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "hindsight/random.h"
#include "src/core/intervals.h"
#include "src/core/plackett_luce.h"

namespace hindsight {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using List = std::vector<std::uint32_t>;

/// A world of which everything is known: whether a user clicks a place depends on its item, and on
/// what stands above it.
struct Simulator {
  std::vector<double> attraction;

  double click_prob(const List& list, std::size_t place) const {
    const double fatigue = place == 0 ? 1.0 : 1.0 - 0.5 * attraction[list[place - 1]];
    return attraction[list[place]] * fatigue / (1.0 + static_cast<double>(place));
  }
};

/// Every ordered choice of k out of n.
void for_every_list(std::size_t n, std::size_t k, const std::function<void(const List&)>& look) {
  List list;
  const std::function<void()> extend = [&] {
    if (list.size() == k) {
      look(list);
      return;
    }
    for (std::uint32_t item = 0; item < n; ++item) {
      if (std::find(list.begin(), list.end(), item) == list.end()) {
        list.push_back(item);
        extend();
        list.pop_back();
      }
    }
  };
  extend();
}

/// Every pattern of clicks on a list, with its probability.
void for_every_outcome(const Simulator& world, const List& list,
                       const std::function<void(double prob, const std::vector<bool>&)>& look) {
  for (std::uint32_t bits = 0; bits < (1U << list.size()); ++bits) {
    double prob = 1.0;
    std::vector<bool> clicked(list.size());
    for (std::size_t place = 0; place < list.size(); ++place) {
      clicked[place] = (bits >> place & 1U) != 0;
      const double click = world.click_prob(list, place);
      prob *= clicked[place] ? click : 1.0 - click;
    }
    look(prob, clicked);
  }
}

/// Discounted gain of the clicks: any reward of a whole list would do.
double gain(const std::vector<bool>& clicked) {
  double sum = 0.0;
  for (std::size_t place = 0; place < clicked.size(); ++place) {
    sum += clicked[place] ? 1.0 / std::log2(2.0 + static_cast<double>(place)) : 0.0;
  }
  return sum;
}

const Simulator kWorld = {.attraction = {0.7, 0.2, 0.5, 0.05, 0.4}};
const std::vector<double> kLogged = {0.3, 0.0, -0.4, 0.9, 0.1};
const std::vector<double> kTarget = {1.2, -0.5, 0.8, -1.0, 0.4};

TEST(OffPolicy, InversePropensityIsUnbiasedForWholeLists) {
  const std::size_t n = kLogged.size();
  for (std::size_t k = 1; k <= 3; ++k) {
    double expectation = 0.0;
    double truth = 0.0;
    for_every_list(n, k, [&](const List& list) {
      const double log_logged = log_propensity_plackett_luce(kLogged, list);
      const double log_target = log_propensity_plackett_luce(kTarget, list);
      for_every_outcome(kWorld, list, [&](double prob, const std::vector<bool>& clicked) {
        OffPolicyEstimator one;
        one.add(*importance_weight(log_target, log_logged), gain(clicked));
        expectation += std::exp(log_logged) * prob * one.inverse_propensity().value;
        truth += std::exp(log_target) * prob * gain(clicked);
      });
    });
    EXPECT_NEAR(expectation, truth, 1e-9) << "k = " << k;
  }
}

// The first slot alone is weighted: what stands below differs between the two policies, and does
// not matter where a click on the first item does not depend on it.
TEST(OffPolicy, InversePropensityIsUnbiasedForTheFirstSlot) {
  const std::size_t n = kLogged.size();
  std::vector<double> logged_first(n);
  std::vector<double> target_first(n);
  first_slot_probs(kLogged, logged_first);
  first_slot_probs(kTarget, target_first);
  double expectation = 0.0;
  for_every_list(n, 3, [&](const List& list) {
    const double log_logged = log_propensity_plackett_luce(kLogged, list);
    for_every_outcome(kWorld, list, [&](double prob, const std::vector<bool>& clicked) {
      OffPolicyEstimator one;
      one.add(*importance_weight(std::log(target_first[list[0]]), std::log(logged_first[list[0]])),
              clicked[0] ? 1.0 : 0.0);
      expectation += std::exp(log_logged) * prob * one.inverse_propensity().value;
    });
  });
  double truth = 0.0;
  for (std::uint32_t item = 0; item < n; ++item) {
    truth += target_first[item] * kWorld.click_prob({item}, 0);
  }
  EXPECT_NEAR(expectation, truth, 1e-9);
}

TEST(OffPolicy, WeightsHaveExpectationOne) {
  double expectation = 0.0;
  for_every_list(kLogged.size(), 3, [&](const List& list) {
    const double log_logged = log_propensity_plackett_luce(kLogged, list);
    expectation += std::exp(log_logged) *
                   *importance_weight(log_propensity_plackett_luce(kTarget, list), log_logged);
  });
  EXPECT_NEAR(expectation, 1.0, 1e-9);
}

struct Coverage {
  double inverse_propensity = 0.0;
  double self_normalised = 0.0;
};

/// How often the intervals of logs of `decisions` lists hold the truth.
Coverage coverage_of(std::size_t decisions, std::size_t logs) {
  constexpr std::size_t kShown = 3;
  double truth = 0.0;
  for_every_list(kLogged.size(), kShown, [&](const List& list) {
    const double prob = std::exp(log_propensity_plackett_luce(kTarget, list));
    for_every_outcome(kWorld, list, [&](double click_prob, const std::vector<bool>& clicked) {
      truth += prob * click_prob * gain(clicked);
    });
  });
  Coverage coverage;
  const double share = 1.0 / static_cast<double>(logs);
  for (std::size_t log = 0; log < logs; ++log) {
    Rng rng(5, log);
    OffPolicyEstimator estimator;
    for (std::size_t i = 0; i < decisions; ++i) {
      const List list = draw_plackett_luce(kLogged, kShown, rng).value();
      std::vector<bool> clicked(kShown);
      for (std::size_t place = 0; place < kShown; ++place) {
        clicked[place] = rng.uniform() < kWorld.click_prob(list, place);
      }
      estimator.add(*importance_weight(log_propensity_plackett_luce(kTarget, list),
                                       log_propensity_plackett_luce(kLogged, list)),
                    gain(clicked));
    }
    const auto holds = [&](const Estimate& estimate) {
      return estimate.low <= truth && truth <= estimate.high ? share : 0.0;
    };
    coverage.inverse_propensity += holds(estimator.inverse_propensity());
    coverage.self_normalised += holds(*estimator.self_normalised());
  }
  return coverage;
}

// 2,000 logs with fixed seeds: the standard error of a share of 0.95 is 0.005. A normal interval
// of weighted rewards holds a little less than its nominal share, since large weights are rare.
TEST(OffPolicy, IntervalsHoldTheTruthAsOftenAsTheySay) {
  const Coverage coverage = coverage_of(500, 2000);
  EXPECT_NEAR(coverage.inverse_propensity, 0.95, 0.02);
  EXPECT_NEAR(coverage.self_normalised, 0.95, 0.02);
}

TEST(OffPolicy, TheLoggedPolicyItselfIsItsMean) {
  OffPolicyEstimator estimator;
  Mean mean;
  for (const double reward : {1.0, 0.0, 0.0, 0.5, 1.0, 0.25}) {
    estimator.add(1.0, reward);
    mean.add(reward);
  }
  for (const Estimate& estimate :
       {estimator.logged(), estimator.inverse_propensity(), *estimator.self_normalised()}) {
    EXPECT_NEAR(estimate.value, mean.value(), 1e-15);
    EXPECT_LE(estimate.low, estimate.value);
  }
  const double half = kNormal95 * *mean.standard_error();
  EXPECT_NEAR(estimator.inverse_propensity().high, mean.value() + half, 1e-12);
  // The delta method divides by n where the unbiased variance divides by n - 1.
  EXPECT_NEAR(*estimator.self_normalised()->standard_error,
              *mean.standard_error() * std::sqrt(5.0 / 6.0), 1e-12);
  EXPECT_NEAR(estimator.effective_sample_size(), 6.0, 1e-12);
  EXPECT_EQ(estimator.rewarded(), 4U);
}

TEST(OffPolicy, AMeanWeightClearlyBelowOneIsNoChance) {
  const auto misses = [](std::size_t rounds, std::initializer_list<double> weights) {
    OffPolicyEstimator estimator;
    for (std::size_t i = 0; i < rounds; ++i) {
      for (const double weight : weights) {
        estimator.add(weight, 1.0);
      }
    }
    return estimator.misses_choices();
  };
  EXPECT_TRUE(misses(50, {0.25})) << "all the same: no error to hide behind";
  EXPECT_TRUE(misses(50, {0.2, 0.8}));
  EXPECT_FALSE(misses(50, {1.0}));
  EXPECT_FALSE(misses(50, {0.2, 1.8}));
  EXPECT_FALSE(misses(50, {2.0})) << "above 1";
  EXPECT_FALSE(misses(50, {0.92})) << "little is missing";
  EXPECT_FALSE(misses(3, {0.0, 1.4})) << "may be chance";
  EXPECT_FALSE(misses(1, {0.25})) << "one decision has no error";
  EXPECT_FALSE(misses(0, {}));
}

TEST(OffPolicy, NothingLoggedHasNoInterval) {
  OffPolicyEstimator estimator;
  EXPECT_FALSE(estimator.self_normalised());
  EXPECT_FALSE(estimator.inverse_propensity().standard_error);
  EXPECT_EQ(estimator.effective_sample_size(), 0.0);
  estimator.add(2.0, 1.0);
  EXPECT_FALSE(estimator.inverse_propensity().standard_error);
  EXPECT_FALSE(estimator.self_normalised()->standard_error);
  EXPECT_EQ(estimator.self_normalised()->value, 1.0);
}

TEST(OffPolicy, WeightsOfZeroAloneHaveNoSelfNormalisedEstimate) {
  OffPolicyEstimator estimator;
  estimator.add(0.0, 1.0);
  estimator.add(0.0, 0.0);
  EXPECT_FALSE(estimator.self_normalised());
  EXPECT_EQ(estimator.inverse_propensity().value, 0.0);
  EXPECT_EQ(estimator.rewarded(), 0U);
}

TEST(OffPolicy, AWeightThatIsNoNumberIsNone) {
  EXPECT_EQ(*importance_weight(-kInfinity, -1.0), 0.0);
  EXPECT_FALSE(importance_weight(-1.0, -kInfinity));
  EXPECT_FALSE(importance_weight(-kInfinity, -kInfinity));
  EXPECT_FALSE(importance_weight(0.0, -1000.0));
  EXPECT_NEAR(*importance_weight(std::log(0.5), std::log(0.25)), 2.0, 1e-15);
}

RC_GTEST_PROP(OffPolicy, EstimatesAreFiniteAndTheSelfNormalisedOneLiesAmongTheRewards, ()) {
  const auto count = *rc::gen::inRange(1, 40);
  OffPolicyEstimator estimator;
  double least = kInfinity;
  double most = -kInfinity;
  for (int i = 0; i < count; ++i) {
    const double weight = std::exp(static_cast<double>(*rc::gen::inRange(-200, 230)));
    const double reward = static_cast<double>(*rc::gen::inRange(0, 5)) / 4.0;
    estimator.add(weight, reward);
    least = std::min(least, reward);
    most = std::max(most, reward);
  }
  const Estimate estimate = *estimator.self_normalised();
  RC_ASSERT(std::isfinite(estimate.low) && std::isfinite(estimate.high));
  RC_ASSERT(std::isfinite(estimator.inverse_propensity().high));
  RC_ASSERT(estimate.value >= least - 1e-12 && estimate.value <= most + 1e-12);
  RC_ASSERT(estimator.effective_sample_size() <= static_cast<double>(count) * (1 + 1e-9));
  RC_ASSERT(estimator.effective_sample_size() >= 1 - 1e-9);
}

}  // namespace
}  // namespace hindsight
