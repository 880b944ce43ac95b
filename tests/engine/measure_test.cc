#include "src/engine/measure.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/core/regret.h"
#include "tests/engine_support/hand_made_log.h"

namespace hindsight {
namespace {

const auto kGoOn = [] { return true; };

/// A log of clicks on lists of four out of eight items.
class MeasureTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kClicks = 200;

  MeasureTest() {
    log.add_items({"a", "b", "c", "d", "e", "f", "g", "h"});
    Rng rng(4);
    for (std::uint64_t i = 1; i <= kClicks; ++i) {
      const auto first = static_cast<ItemIndex>(rng.below(8));
      std::vector<ItemIndex> items;
      for (ItemIndex j = 0; j < 4; ++j) {
        items.push_back((first + 2 * j) % 8);
      }
      std::sort(items.begin(), items.end());
      log.decide(i, items);
      const ItemIndex picked = items[rng.below(3) == 0 ? rng.below(4) : 0];
      log.click(i, std::string(1, static_cast<char>('a' + picked)));
    }
  }

  MeasureInput input() {
    const Model& model = log.model();
    return {.ranker = model.config().ranker,
            .params = model.config().params,
            .account = *model.ranker().regret(),
            .clicks = log.fold().sample().clicks()};
  }
  Result<std::optional<Hindsight>> measure(const MeasureLimits& limits = {}) {
    return measure_hindsight(log.store(), log.id(), input(), limits, kGoOn);
  }

  HandMadeLog log;
};

TEST_F(MeasureTest, LooksAtAllClicksWithinItsLimits) {
  const Hindsight hindsight = **measure();
  EXPECT_EQ(hindsight.sample, kClicks);
  EXPECT_LT(hindsight.cost, log.model().ranker().regret()->learned_cost());
  EXPECT_GT(hindsight.cost, 0.0);
}

TEST_F(MeasureTest, LooksAtASampleBeyondThem) {
  const Hindsight all = **measure();
  const Hindsight some = **measure({.clicks = 80});
  EXPECT_EQ(some.sample, 80U);
  EXPECT_LE(std::abs(some.cost - all.cost), some.error);
  // 200 clicks with 4 items each, so that half of them, and half of these, fit into 300 numbers.
  const Hindsight few = **measure({.clicks = 1000, .numbers = 300});
  EXPECT_GE(few.sample, 25U);
  EXPECT_LE(few.sample, 75U);
  EXPECT_LE(std::abs(few.cost - all.cost), few.error);
  EXPECT_EQ((**measure({.clicks = 1000, .numbers = 1})).sample, 1U);
}

TEST_F(MeasureTest, EndsWhenTold) {
  for (const int passes : {0, 1, 150, 250}) {
    int asked = 0;
    const auto ended =
        measure_hindsight(log.store(), log.id(), input(), {}, [&] { return ++asked <= passes; });
    ASSERT_TRUE(ended.ok());
    EXPECT_FALSE(ended->has_value());
    EXPECT_EQ(asked, passes + 1);
  }
}

TEST_F(MeasureTest, SaysThatADecisionIsNoLongerKept) {
  ASSERT_TRUE(log.store().truncate_before(log.id(), 100).ok());
  EXPECT_EQ(measure().error().code, ErrorCode::kNotFound);
}

TEST_F(MeasureTest, SaysThatARankerBooksOtherCosts) {
  MeasureInput other = input();
  other.ranker = "online-ranknet";
  other.params = {};
  EXPECT_EQ(measure_hindsight(log.store(), log.id(), other, {}, kGoOn).error().code,
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace hindsight
