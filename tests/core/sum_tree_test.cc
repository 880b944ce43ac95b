#include "src/core/sum_tree.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "src/core/plackett_luce.h"
#include "tests/core/list_law.h"

namespace hindsight {
namespace {

using testing::expect_draws_follow;
using testing::Law;
using testing::List;
using testing::plackett_luce_law;

SumTree tree_of(const std::vector<float>& weights) { return SumTree::build(weights).value(); }

double log_propensity(const std::vector<float>& weights, const List& list) {
  std::vector<char> drawn(weights.size(), 0);
  long double result = 0;
  for (const std::uint32_t i : list) {
    long double rest = 0;
    for (std::size_t j = 0; j < weights.size(); ++j) {
      rest += drawn[j] != 0 ? 0.0L : static_cast<long double>(weights[j]);
    }
    result += logl(static_cast<long double>(weights[i]) / rest);
    drawn[i] = 1;
  }
  return static_cast<double>(result);
}

const std::vector<std::vector<double>> kWeights = {
    {1},
    {1, 2},
    {3, 0, 1, 0},
    {0.5, 8, 1, 4, 2},
    {1, 1, 1, 1, 1},
    {0x1p-149, 0x3p-149, 0x2p-149},
    // One item holds 0.9999 of the mass, and 1 - 1e-12 of it.
    {1, 1, 0x1.3878p14, 2},
    {0x1p40, 1, 2, 1}};

TEST(SumTree, SaysThePropensityOfAGivenListAsOfADrawnOne) {
  for (const auto& weights : kWeights) {
    const SumTree tree = tree_of({weights.begin(), weights.end()});
    for (std::size_t k = 1; k <= tree.positive(); ++k) {
      Rng rng(43, k);
      for (int draw = 0; draw < 20; ++draw) {
        const DrawnList list = tree.draw_top_k(k, rng).value();
        EXPECT_NEAR(tree.log_propensity(list.order), *list.log_propensity, 1e-12);
      }
    }
  }
}

TEST(SumTree, AListWithAWeightOfZeroCannotComeOut) {
  const SumTree tree = tree_of({3, 0, 1});
  EXPECT_EQ(tree.log_propensity(std::vector<std::uint32_t>{0, 1}),
            -std::numeric_limits<double>::infinity());
}

TEST(SumTree, FollowsThePlackettLuceLaw) {
  for (const auto& weights : kWeights) {
    const SumTree tree = tree_of({weights.begin(), weights.end()});
    for (std::size_t k = 1; k <= tree.positive(); ++k) {
      Rng rng(41, k);
      expect_draws_follow(plackett_luce_law(weights, k),
                          [&] { return tree.draw_top_k(k, rng).value().order; });
    }
  }
}

// Leaves under common and under separate nodes of every level.
TEST(SumTree, FollowsTheLawAcrossLevels) {
  const std::vector<double> weights = {2, 1, 4, 0.5, 1};
  const List places = {0, 7, 16, 300, 69'999};
  SumTree tree = tree_of(std::vector<float>(70'000, 0.0F));
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_TRUE(tree.set(places[i], static_cast<float>(weights[i])).ok());
  }
  for (const std::size_t k : {1, 3, 5}) {
    Rng rng(42);
    expect_draws_follow(plackett_luce_law(weights, k), [&] {
      List list = tree.draw_top_k(k, rng).value().order;
      for (std::uint32_t& leaf : list) {
        leaf = static_cast<std::uint32_t>(std::find(places.begin(), places.end(), leaf) -
                                          places.begin());
      }
      return list;
    });
  }
}

RC_GTEST_PROP(SumTree, ListsAreDistinctPositiveLeavesWithTheirLogPropensity, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 700);
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  const double spread = *rc::gen::element(0.0, 1.0, 12.0);
  std::vector<float> weights(n);
  for (float& w : weights) {
    w = rng.uniform() < 0.3 ? 0.0F : static_cast<float>(std::exp(spread * rng.normal()));
  }
  const SumTree tree = tree_of(weights);
  const auto positive = static_cast<std::size_t>(
      std::count_if(weights.begin(), weights.end(), [](float w) { return w > 0; }));
  RC_ASSERT(tree.positive() == positive);
  RC_PRE(positive > 0);
  const auto k = *rc::gen::inRange<std::size_t>(1, positive + 1);
  DrawnList list = tree.draw_top_k(k, rng).value();
  RC_ASSERT(list.order.size() == k);
  const double expected = log_propensity(weights, list.order);
  RC_ASSERT(std::abs(*list.log_propensity - expected) < 1e-12 * (1 + std::abs(expected)));
  for (const std::uint32_t leaf : list.order) {
    RC_ASSERT(leaf < n);
    RC_ASSERT(weights[leaf] > 0);
  }
  std::sort(list.order.begin(), list.order.end());
  RC_ASSERT(std::adjacent_find(list.order.begin(), list.order.end()) == list.order.end());
}

// However a tree came about, it is the tree of its weights, bit for bit: nothing drifts.
RC_GTEST_PROP(SumTree, AnyHistoryGivesTheTreeOfItsWeights, ()) {
  Rng rng(*rc::gen::arbitrary<std::uint64_t>());
  SumTree tree;
  std::vector<float> weights;
  const auto steps = *rc::gen::inRange(1, 60);
  for (int step = 0; step < steps; ++step) {
    if (weights.empty() || rng.uniform() < 0.4) {
      std::vector<float> more(rng.below(40));
      for (float& w : more) {
        w = static_cast<float>(std::exp(10 * rng.normal()));
      }
      RC_ASSERT(tree.append(more).ok());
      weights.insert(weights.end(), more.begin(), more.end());
    } else {
      const std::size_t leaf = rng.below(weights.size());
      weights[leaf] = rng.uniform() < 0.3 ? 0.0F : static_cast<float>(std::exp(10 * rng.normal()));
      RC_ASSERT(tree.set(leaf, weights[leaf]).ok());
    }
  }
  const SumTree fresh = tree_of(weights);
  RC_ASSERT(tree.size() == weights.size());
  RC_ASSERT(tree.positive() == fresh.positive());
  RC_ASSERT(tree.total() == fresh.total());
  const std::size_t k = fresh.positive();
  RC_PRE(k > 0);
  Rng a(5);
  Rng b(5);
  RC_ASSERT(tree.draw_top_k(k, a)->order == fresh.draw_top_k(k, b)->order);
}

TEST(SumTree, GrowsOneByOneThroughSeveralLevels) {
  SumTree grown;
  std::vector<float> weights;
  Rng rng(43);
  for (int i = 0; i < 5000; ++i) {
    weights.push_back(static_cast<float>(rng.exponential()));
    ASSERT_TRUE(grown.append(std::span(&weights.back(), 1)).ok());
  }
  const SumTree fresh = tree_of(weights);
  EXPECT_EQ(grown.total(), fresh.total());
  EXPECT_NEAR(grown.total(), std::accumulate(weights.begin(), weights.end(), 0.0), 1e-9);
  Rng a(1);
  Rng b(1);
  EXPECT_EQ(grown.draw_top_k(5000, a)->order, fresh.draw_top_k(5000, b)->order);
}

TEST(SumTree, AHeavyItemAlwaysComesFirstAndNeverAgain) {
  std::vector<float> weights(100'000, 0x1p-40F);
  weights[77'777] = 1e6F;
  const SumTree tree = tree_of(weights);
  Rng rng(44);
  // P(not first) < 1e5 2^-40 / 1e6 = 1e-13 a draw.
  for (int draw = 0; draw < 1000; ++draw) {
    const DrawnList list = tree.draw_top_k(3, rng).value();
    ASSERT_EQ(list.order[0], 77'777U);
    ASSERT_NEAR(*list.log_propensity, -std::log(99'999.0) - std::log(99'998.0), 1e-9);
  }
}

// Classes of equal weight, as many draws of the first leaf as the flat race makes.
TEST(SumTree, AgreesWithTheFlatDraw) {
  constexpr std::size_t n = 3000;
  std::vector<float> weights(n);
  for (std::size_t i = 0; i < n; ++i) {
    weights[i] = static_cast<float>(1 << (i % 3));
  }
  const SumTree tree = tree_of(weights);
  // First of three classes of equal size and weights 1, 2, 4.
  const Law law = {{{0}, 1.0 / 7}, {{1}, 2.0 / 7}, {{2}, 4.0 / 7}};
  Rng rng(45);
  expect_draws_follow(law, [&] {
    return List{draw_top_k(std::span<const float>(weights), 1, rng).value()[0] % 3};
  });
  expect_draws_follow(law, [&] { return List{tree.draw_top_k(1, rng)->order[0] % 3}; });
}

TEST(SumTree, ConcurrentReadersDrawWhatOneWouldDraw) {
  std::vector<float> weights(10'000);
  Rng rng(46);
  for (float& w : weights) {
    w = static_cast<float>(rng.exponential());
  }
  const SumTree tree = tree_of(weights);
  const auto draw_many = [&](std::uint64_t seed) {
    Rng own(seed);
    List all;
    for (int i = 0; i < 200; ++i) {
      const DrawnList list = tree.draw_top_k(10, own).value();
      all.insert(all.end(), list.order.begin(), list.order.end());
    }
    return all;
  };
  std::vector<List> concurrent(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < concurrent.size(); ++t) {
    threads.emplace_back([&, t] { concurrent[t] = draw_many(t); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t t = 0; t < concurrent.size(); ++t) {
    EXPECT_EQ(concurrent[t], draw_many(t));
  }
}

TEST(SumTree, BadInputIsAnErrorAndChangesNothing) {
  Rng rng(1);
  SumTree tree;
  EXPECT_EQ(tree.draw_top_k(1, rng).error().code, ErrorCode::kEmptyCandidates);
  EXPECT_EQ(tree.total(), 0.0);
  ASSERT_TRUE(tree.append({}).ok());
  EXPECT_EQ(tree.total(), 0.0);
  ASSERT_TRUE(tree.append(std::vector<float>{1, 0, 2}).ok());
  EXPECT_EQ(tree.draw_top_k(0, rng).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(tree.draw_top_k(3, rng).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(tree.draw_top_k(4, rng).error().code, ErrorCode::kInvalidArgument);
  EXPECT_TRUE(tree.draw_top_k(2, rng).ok());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {nan, infinity, -infinity, -1.0F}) {
    const ErrorCode code = std::isfinite(bad) ? ErrorCode::kInvalidArgument : ErrorCode::kNotFinite;
    EXPECT_EQ(tree.set(1, bad).error().code, code);
    const auto appended = tree.append(std::vector<float>{1, bad});
    EXPECT_EQ(appended.error().code, code);
    EXPECT_EQ(appended.error().field, "weights[1]");
    EXPECT_FALSE(SumTree::build(std::vector<float>{bad}).ok());
  }
  EXPECT_EQ(tree.size(), 3U);
  EXPECT_EQ(tree.positive(), 2U);
  EXPECT_EQ(tree.total(), 3.0);
}

}  // namespace
}  // namespace hindsight
