#include "src/sim/optimistic_top.h"

#include <gtest/gtest.h>

#include "src/sim/click_learner.h"
#include "src/sim/linear_world.h"

namespace hindsight {
namespace {

constexpr std::size_t kItems = 700;
constexpr std::size_t kPlaces = 6;
constexpr int kRounds = 3'000;

/// Rounds in which users like items in proportion to `liking`, each list held against a look at all
/// items. RETURNS: in how many rounds the last place was at the cap
int expect_the_plain_answer(double width, double liking) {
  Rng rng(3);
  const LinearWorld world = *make_linear_world(kItems, 4, rng);
  OptimisticTop top(VectorSet::from_rows(world.features, world.dim), width, 1.0);
  RidgeEstimate estimate(world.dim);
  std::vector<double> scores(kItems);
  std::vector<ItemIndex> found;
  std::vector<ItemIndex> plain;
  int at_cap = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t start = rng.below(kItems);
    top.find(estimate, kPlaces, start, found);
    upper_bounds_of(top.set(), estimate.theta(), estimate.whitening(), width, 1.0, scores);
    top_k(scores, kPlaces, start, plain);
    EXPECT_EQ(found, plain) << "round " << round;
    at_cap += scores[plain.back()] == 1.0 ? 1 : 0;
    for (const ItemIndex item : plain) {
      estimate.add(top.set().row(item), rng.uniform() < liking * world.attraction[item] ? 1 : 0);
    }
    estimate.refresh();
  }
  return at_cap;
}

TEST(OptimisticTop, FindsWhatALookAtAllItemsFinds) {
  EXPECT_LT(expect_the_plain_answer(1.0, 0.3), kRounds / 2);
  EXPECT_LT(expect_the_plain_answer(0.0, 0.5), kRounds);
}

TEST(OptimisticTop, BreaksTiesAtTheCapAsALookAtAllItemsDoes) {
  EXPECT_GT(expect_the_plain_answer(20.0, 1.0), kRounds / 2);
}

}  // namespace
}  // namespace hindsight
