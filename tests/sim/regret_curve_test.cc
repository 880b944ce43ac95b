#include "src/sim/regret_curve.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hindsight/registry.h"
#include "src/core/ball_weights.h"
#include "src/core/choice_objective.h"
#include "src/core/kernels.h"
#include "src/sim/prefix_objective.h"
#include "src/sim/replay.h"
#include "src/sim/stationary_stream.h"
#include "src/sim/synthetic_library.h"

namespace hindsight {
namespace {

// Value, gradient and Hessian of the fast objective against the plain one, on a library that grows.
TEST(PrefixObjective, AgreesWithTheSumOverAllCandidates) {
  const auto library = make_synthetic_library({}, 3);
  ASSERT_TRUE(library.ok());
  const LibraryStream stream = make_stream(*library);
  const PrefixStream& prefix = stream.prefix;
  const std::size_t count = std::min<std::size_t>(prefix.queries.size(), 600);
  for (const auto& [first, last] :
       std::vector<std::pair<std::size_t, std::size_t>>{{1, count}, {count / 2, count}, {5, 5}}) {
    std::vector<Choice> choices;
    for (std::size_t t = first; t <= last; ++t) {
      const PrefixQuery& query = prefix.queries[t - 1];
      const auto candidates = prefix.candidates(query);
      choices.push_back({.items = {candidates.begin(), candidates.end()},
                         .n = candidates.size(),
                         .picked = query.rank});
    }
    ChoiceObjective slow(choices, {.items = prefix.item_count});
    PrefixObjective fast(prefix, first, last);
    ASSERT_EQ(slow.dim(), fast.dim());
    const std::size_t n = fast.dim();
    Rng rng(first);
    std::vector<double> theta(n);
    std::vector<double> v(n);
    for (std::size_t i = 0; i < n; ++i) {
      theta[i] = 2.0 * rng.normal();
      v[i] = rng.normal();
    }
    std::vector<double> slow_out(n);
    std::vector<double> fast_out(n);
    EXPECT_NEAR(fast.evaluate(theta, fast_out), slow.evaluate(theta, slow_out),
                1e-9 * static_cast<double>(last));
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(fast_out[i], slow_out[i], 1e-9);
    }
    fast.hessian_times(v, fast_out);
    slow.hessian_times(v, slow_out);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_NEAR(fast_out[i], slow_out[i], 1e-9);
    }
  }
}

// Plays GPER by hand on a stream, with the printed sign or the right one. RETURNS: the account at
// every power of two.
std::vector<RegretAccount> play_gper(const PrefixStream& stream, double alpha, double sign) {
  RegretAccount account(*StepSchedule::make({.alpha = alpha}, true));
  BallWeights weights;
  weights.grow_items(stream.item_count);
  std::vector<RegretAccount> accounts;
  std::vector<double> scores;
  std::vector<double> raw;
  for (const PrefixQuery& query : stream.queries) {
    const auto items = stream.candidates(query);
    scores.resize(items.size());
    raw.resize(items.size());
    const ChoiceFeatures features{.items = items, .n = items.size()};
    const Step step = account.next_step();
    const double top = weights.scores(features, scores);
    const LossSlope slope = kl_cost(scores, top, query.rank, raw);
    const double squared =
        weights.step(features, raw, query.rank, slope, sign * step.eta, step.radius);
    account.book(step, slope.loss, slope.loss, squared);
    if (std::has_single_bit(account.clicks())) {
      accounts.push_back(account);
    }
  }
  return accounts;
}

double average_regret_at(const std::vector<RegretBracket>& curve, std::uint64_t clicks) {
  for (const RegretBracket& bracket : curve) {
    if (bracket.clicks == clicks) {
      return bracket.lower / static_cast<double>(clicks);
    }
  }
  ADD_FAILURE() << "no checkpoint at " << clicks;
  return 0.0;
}

// Theorem 4.4: average regret vanishes like T^(-1/4); sixteen times as many clicks at least halve
// it.
bool regret_halves(const std::vector<RegretBracket>& curve) {
  return average_regret_at(curve, 1U << 18) <= 0.5 * average_regret_at(curve, 1U << 14);
}

class StationaryRegret : public ::testing::Test {
 protected:
  static constexpr double kAlpha = 3.0;
  StationaryStream stationary_ = *make_stationary_stream({}, 1);
};

TEST_F(StationaryRegret, AverageRegretHalvesFromTwoToThe14ToTwoToThe18) {
  auto ranker =
      *make_ranker("klrank", {{"alpha", kAlpha}, {"choice_set", std::string("candidates")}});
  const auto result = replay(stationary_.stream, *ranker, {});
  ASSERT_TRUE(result.ok());
  const auto curve = regret_curve(stationary_.stream.prefix, result->regret);
  EXPECT_TRUE(regret_halves(curve))
      << average_regret_at(curve, 1U << 14) << " " << average_regret_at(curve, 1U << 18);
  for (const RegretBracket& bracket : curve) {
    EXPECT_LE(bracket.lower, bracket.upper + 1e-6) << bracket.clicks;
    EXPECT_LE(bracket.upper, bracket.data_bound) << bracket.clicks;
    EXPECT_LE(bracket.upper, bracket.theorem_bound) << bracket.clicks;
  }
}

// [Delage09] Table 1 is printed with a plus sign before the gradient. The test above must catch it.
TEST_F(StationaryRegret, ThePrintedPlusSignWouldBeCaught) {
  const PrefixStream& prefix = stationary_.stream.prefix;
  EXPECT_TRUE(regret_halves(regret_curve(prefix, play_gper(prefix, kAlpha, 1.0))));
  EXPECT_FALSE(regret_halves(regret_curve(prefix, play_gper(prefix, kAlpha, -1.0))));
}

}  // namespace
}  // namespace hindsight
