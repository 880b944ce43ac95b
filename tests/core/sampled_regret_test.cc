#include "src/core/sampled_regret.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "src/core/ball_weights.h"
#include "src/core/regret_meter.h"
#include "tests/support/random_choices.h"

namespace hindsight {
namespace {

// A stream of choices among 5 of 40 items with fixed weights behind them, learned by GPER.
class Stream {
 public:
  explicit Stream(int clicks) {
    Rng rng(7);
    std::vector<double> truth = testing::random_vector(kItems, rng);
    BallWeights weights;
    weights.grow_items(kItems);
    for (int t = 0; t < clicks; ++t) {
      Choice choice{.n = 5};
      std::vector<double> scores(5);
      std::vector<double> raw(5);
      while (choice.items.size() < 5) {
        const auto item = static_cast<ItemIndex>(rng.below(kItems));
        if (std::find(choice.items.begin(), choice.items.end(), item) == choice.items.end()) {
          choice.items.push_back(item);
        }
      }
      choice.picked = pick(choice, truth, rng);
      const ChoiceFeatures features{.items = choice.items, .n = 5};
      const double top = weights.scores(features, scores);
      const LossSlope slope = kl_cost(scores, top, choice.picked, raw);
      const Step step = account.next_step();
      const double squared =
          weights.step(features, raw, choice.picked, slope, step.eta, step.radius);
      account.book(step, slope.loss, slope.loss, squared);
      all.click.push_back(account.clicks());
      all.learned_cost.push_back(account.last_learned_cost());
      all.choice.push_back(std::move(choice));
    }
  }

  RegretBracket bracket() const {
    RegretMeter meter([this](std::uint64_t first, std::uint64_t last) {
      return std::make_unique<ChoiceObjective>(
          std::span(all.choice).subspan(first - 1, last - first + 1),
          ChoiceObjective::Sizes{.items = kItems});
    });
    return meter.measure(account);
  }

  LearnedChoices sample(std::size_t size, std::uint64_t seed) const {
    Rng rng(seed);
    LearnedChoices drawn;
    std::size_t wanted = size;
    for (std::size_t i = 0; i < all.size(); ++i) {  // selection sampling: uniform, in order
      if (rng.below(all.size() - i) < wanted) {
        --wanted;
        drawn.click.push_back(all.click[i]);
        drawn.learned_cost.push_back(all.learned_cost[i]);
        drawn.choice.push_back(all.choice[i]);
      }
    }
    return drawn;
  }

  RegretAccount account{*StepSchedule::make({.alpha = 1.0}, true)};
  LearnedChoices all;

 private:
  static constexpr std::size_t kItems = 40;

  static std::size_t pick(const Choice& choice, const std::vector<double>& truth, Rng& rng) {
    std::size_t best = 0;
    double first = INFINITY;
    for (std::size_t i = 0; i < choice.n; ++i) {
      const double arrival = rng.exponential() / std::exp(truth[choice.items[i]]);
      if (arrival < first) {
        first = arrival;
        best = i;
      }
    }
    return best;
  }
};

const auto kGoOn = [] { return true; };

TEST(SampledRegret, AllClicksGiveWhatTheMeterGives) {
  const Stream stream(900);
  const RegretBracket bracket = stream.bracket();
  const auto estimate = estimate_hindsight(stream.account, stream.all, kGoOn);
  ASSERT_TRUE(estimate);
  EXPECT_NEAR(estimate->cost, bracket.hindsight_cost, 1e-5 * bracket.hindsight_cost);
  EXPECT_NEAR(estimate->regret_upper, bracket.upper, 1e-5 * bracket.cost);
  EXPECT_LE(estimate->error, 1e-5 * bracket.cost);
}

TEST(SampledRegret, TheErrorOfASampleCoversTheTruth) {
  // Each of 40 samples misses with probability below 5%; more than 8 misses have one below 1e-4.
  const Stream stream(3000);
  const RegretBracket bracket = stream.bracket();
  int missed = 0;
  double width = 0.0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto estimate = estimate_hindsight(stream.account, stream.sample(600, seed), kGoOn);
    ASSERT_TRUE(estimate);
    missed += std::abs(estimate->cost - bracket.hindsight_cost) > estimate->error ? 1 : 0;
    width += estimate->error / 40.0;
    EXPECT_GE(estimate->regret_upper, bracket.upper);
  }
  EXPECT_LE(missed, 8);
  // And it says something: far less than the cost itself.
  EXPECT_LT(width, 0.1 * bracket.hindsight_cost);
}

TEST(SampledRegret, FewClicksOnManyItemsAreNotFittedToNoise) {
  // 40 weights from 60 clicks: better to expect little. Uniform lists cost ln 5 a click, and what
  // is compared with is no worse than they are, but for the sampling.
  const Stream stream(3000);
  const auto estimate = estimate_hindsight(stream.account, stream.sample(60, 3), kGoOn);
  ASSERT_TRUE(estimate);
  EXPECT_LT(estimate->cost, 3000.0 * std::log(5.0) * 1.2);
  EXPECT_LE(std::abs(estimate->cost - stream.bracket().hindsight_cost), estimate->error);
}

TEST(SampledRegret, EndsAtOnceWhenTold) {
  const Stream stream(500);
  for (const int passes : {0, 1, 5, 40}) {
    for (const LearnedChoices& choices : {stream.all, stream.sample(100, 1)}) {
      int asked = 0;
      int ended_at = 0;
      const auto go_on = [&] {
        ++asked;
        ended_at = asked <= passes ? asked : ended_at;
        return asked <= passes;
      };
      EXPECT_FALSE(estimate_hindsight(stream.account, choices, go_on));
      EXPECT_EQ(asked, passes + 1);  // nobody asks again after the end
      EXPECT_EQ(ended_at, passes);
    }
  }
}

TEST(SampledRegret, RenumberingKeepsWhatBelongsTogether) {
  std::vector<Choice> choices(2);
  choices[0] = {.items = {900, 7}, .context = {5, 5}, .n = 2};
  choices[1] = {.items = {7, 31}, .context = {70000, 5}, .n = 2};
  choices[1].rows = {.dense_dim = 1,
                     .dense = {1.0, 2.0},
                     .row_begin = {0, 1, 2},
                     .sparse_index = {4000000, 12},
                     .sparse_value = {0.5, 0.5}};
  const ChoiceObjective::Sizes sizes = renumber(choices);
  EXPECT_EQ(sizes.items, 3U);
  EXPECT_EQ(sizes.dense, 1U);
  EXPECT_EQ(sizes.sparse, 2U);
  EXPECT_EQ(sizes.context, 2U);
  EXPECT_EQ(choices[0].items[1], choices[1].items[0]);
  EXPECT_EQ(choices[0].context[0], choices[1].context[1]);
  for (const Choice& choice : choices) {
    for (const ItemIndex item : choice.items) {
      EXPECT_LT(item, sizes.items);
    }
  }
}

}  // namespace
}  // namespace hindsight
