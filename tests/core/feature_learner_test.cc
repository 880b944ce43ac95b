#include "src/core/feature_learner.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "hindsight/random.h"
#include "src/core/bytes.h"
#include "src/core/feature_rows.h"
#include "src/core/kernels.h"
#include "src/core/losses.h"

namespace hindsight {
namespace {

constexpr std::size_t kItems = 12;
constexpr std::size_t kContextTerms = 4;  // few, so that items share them

/// A choice with random numbers within their bounds.
struct RandomChoice {
  explicit RandomChoice(Rng& rng) {
    const std::size_t n = 2 + rng.below(kItems - 2);
    items.resize(n);
    std::iota(items.begin(), items.end(), 0U);
    for (std::size_t j = 0; j < kSignalColumns; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        signals.push_back(signal_columns()[j].bound * (2.0 * rng.uniform() - 1.0));
      }
    }
    FeatureRows rows;
    rows.dense_dim = 3;
    for (std::size_t i = 0; i < 3 * n; ++i) {
      rows.dense.push_back(10.0 * rng.normal());
    }
    terms = make_term_rows(rows, n);
    picked = rng.below(n);
    const bool keyed = rng.below(2) == 0;
    for (std::size_t i = 0; keyed && i < n; ++i) {
      context.push_back(static_cast<std::uint32_t>(rng.below(kContextTerms)));
    }
  }

  LearnerView view() const {
    return {.items = items, .signals = signals, .terms = terms, .context = context};
  }

  std::vector<ItemIndex> items;
  std::vector<double> signals;
  TermRows terms;
  std::vector<std::uint32_t> context;
  std::size_t picked = 0;
};

std::vector<double> scores_of(const FeatureLearner& learner, const RandomChoice& choice) {
  std::vector<double> scores(choice.items.size());
  learner.scores(choice.view(), scores);
  return scores;
}

double learn(FeatureLearner& learner, const RandomChoice& choice) {
  const std::vector<double> scores = scores_of(learner, choice);
  std::vector<double> probs(scores.size());
  const LossSlope slope = kl_cost(scores, max_of(scores), choice.picked, probs);
  for (double& prob : probs) {
    prob *= slope.factor;
  }
  learner.learn(choice.view(), probs, choice.picked);
  return slope.loss;
}

TEST(FeatureLearner, NoEventMovesAnyScoreByMoreThanIsStated) {
  EXPECT_TRUE(rc::check([] {
    Rng rng(*rc::gen::arbitrary<std::uint64_t>());
    FeatureLearnerParams params{.rate = 10.0 * rng.uniform(),
                                .item_rate = 3.0 * rng.uniform(),
                                .newton = rng.below(2) == 0,
                                .max_move = 0.1 + 8.0 * rng.uniform(),
                                .context_terms = kContextTerms};
    FeatureLearner learner(params);
    learner.grow_items(kItems);
    for (int t = 0; t < 30; ++t) {
      const RandomChoice probe(rng);  // any items with any features
      const std::vector<double> before = scores_of(learner, probe);
      learn(learner, RandomChoice(rng));
      const std::vector<double> after = scores_of(learner, probe);
      for (std::size_t i = 0; i < before.size(); ++i) {
        RC_ASSERT(std::abs(after[i] - before[i]) <= params.max_move + 1e-4);
      }
    }
  }));
}

TEST(FeatureLearner, LearnsWhatDecides) {
  for (const bool newton : {false, true}) {
    Rng rng(7);
    FeatureLearner learner({.item_rate = 0.0, .newton = newton, .context_terms = kContextTerms});
    double early = 0.0;
    double late = 0.0;
    for (int t = 0; t < 2000; ++t) {
      RandomChoice choice(rng);
      choice.terms = TermRows();
      const std::size_t n = choice.items.size();
      const auto column = std::span<const double>(choice.signals).subspan(2 * n, n);
      choice.picked =
          static_cast<std::size_t>(std::max_element(column.begin(), column.end()) - column.begin());
      const double cost = learn(learner, choice);
      early += t < 200 ? cost : 0.0;
      late += t >= 1800 ? cost : 0.0;
    }
    EXPECT_LT(late, 0.5 * early) << newton;
    EXPECT_GT(learner.weight(2), 0.0);
  }
}

TEST(FeatureLearner, KindsThatAreNotUsedHaveNoWeight) {
  Rng rng(9);
  FeatureLearner learner(
      {.use = {.session = false, .group = false, .links = false}, .context_terms = kContextTerms});
  learner.grow_items(kItems);
  for (int t = 0; t < 50; ++t) {
    learn(learner, RandomChoice(rng));
  }
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    EXPECT_EQ(learner.weight(j) != 0.0, signal_columns()[j].kind == SignalKind::kPicks);
  }
}

TEST(FeatureLearner, SaveLoadContinueEqualsContinue) {
  for (const bool newton : {false, true}) {
    Rng rng(13);
    FeatureLearner learner({.newton = newton, .context_terms = kContextTerms});
    learner.grow_items(kItems);
    for (int t = 0; t < 40; ++t) {
      learn(learner, RandomChoice(rng));
    }
    ByteWriter out;
    learner.save(out);
    FeatureLearner copy({.newton = newton, .context_terms = kContextTerms});
    ByteReader in(out.bytes());
    ASSERT_TRUE(copy.load(in, kItems).ok());
    const RandomChoice next(rng);
    EXPECT_EQ(learn(copy, next), learn(learner, next));
    EXPECT_EQ(scores_of(copy, next), scores_of(learner, next));
    FeatureLearner wrong({.newton = newton, .context_terms = kContextTerms});
    ByteReader again(out.bytes());
    EXPECT_FALSE(wrong.load(again, kItems + 1).ok());
    FeatureLearner other({.newton = newton, .context_terms = kContextTerms + 1});
    ByteReader once_more(out.bytes());
    EXPECT_FALSE(other.load(once_more, kItems).ok());
  }
}

// What was saved before there were context keys can be loaded, and nothing else is a byte longer.
TEST(FeatureLearner, WithoutKeysItsBytesAreThoseOfBefore) {
  Rng rng(13);
  FeatureLearner learner({.context_terms = kContextTerms});
  learner.grow_items(kItems);
  RandomChoice choice(rng);
  choice.context.clear();
  learn(learner, choice);
  ByteWriter plain;
  learner.save(plain);
  EXPECT_EQ(plain.bytes().size(),
            2 * (8 + 8 * kSignalColumns) + 8 + 8 * choice.terms.slots() + 8 + 8 * kItems);
  choice.context.assign(choice.items.size(), 1);
  learn(learner, choice);
  ByteWriter keyed;
  learner.save(keyed);
  EXPECT_EQ(keyed.bytes().size(), plain.bytes().size() + 8 + 8 * kContextTerms);
}

TEST(FeatureStore, KnowsWhatItsRowsTake) {
  FeatureStore store;
  Item item;
  for (item.index = 0; item.index < 100; ++item.index) {
    store.put(item);
  }
  const std::size_t bare = store.memory_bytes();
  EXPECT_LT(bare, 100U * 32);  // items without features take next to nothing
  item.index = 7;
  item.dense.assign(1000, 1.0);
  store.put(item);
  EXPECT_GE(store.memory_bytes(), bare + 8000);
  EXPECT_EQ(store.rows_of(std::vector<ItemIndex>{7, 8}).dense_dim, 1000U);
  item.dense.clear();
  store.put(item);  // without them again
  EXPECT_EQ(store.memory_bytes(), bare);
}

TEST(TermRows, LongRowsAreScaledAndColumnsShareATable) {
  FeatureRows rows;
  rows.dense_dim = 2;
  rows.dense = {30.0, 40.0, 0.3, 0.0};
  rows.row_begin = {0, 0, 1};
  rows.sparse_index = {static_cast<std::uint32_t>(kTerms) + 5};
  rows.sparse_value = {0.4};
  const TermRows terms = make_term_rows(rows, 2);
  ASSERT_EQ(terms.row(0).size(), 2U);
  EXPECT_NEAR(terms.row(0)[0].value, kMaxRowLength * 0.6, 1e-12);
  EXPECT_NEAR(terms.row(0)[1].value, kMaxRowLength * 0.8, 1e-12);
  ASSERT_EQ(terms.row(1).size(), 2U);
  EXPECT_EQ(terms.row(1)[0].value, 0.3);
  EXPECT_EQ(terms.row(1)[1].slot, 5U);
  EXPECT_EQ(terms.slots(), 6U);
  EXPECT_TRUE(make_term_rows(FeatureRows{}, 3).empty());
}

}  // namespace
}  // namespace hindsight
