#include "src/rankers/onlinerank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "src/core/choice_rate.h"
#include "src/core/count_law.h"
#include "src/core/metrics.h"
#include "src/core/order_loss.h"
#include "tests/core/list_law.h"
#include "tests/support/count_library.h"

namespace hindsight {
namespace {

/// A library of n items in which every list shows all of them.
class Library : public testing::CountLibrary {
 public:
  explicit Library(std::uint32_t n, const ParamMap& params = {})
      : CountLibrary("onlinerank", n, params) {}
};

const ParamMap kQuicksort = {{"sort", std::string("quicksort")}};

TEST(OnlineRank, ScoresAreTheRateTimesTheCounts) {
  Library library(8, {{"horizon", 100.0}, {"choices", 2.0}});
  const double rate = online_rank_rate(8, 100, choice_spread(8, 2));
  ASSERT_TRUE(library.click(library.rank(), {3, 5}).ok());
  ASSERT_TRUE(library.click(library.rank(), {3}).ok());
  EXPECT_DOUBLE_EQ(library.ranker->item_score(3), 2.0 * rate);
  EXPECT_DOUBLE_EQ(library.ranker->item_score(5), rate);
  EXPECT_EQ(library.ranker->item_score(0), 0.0);
}

TEST(OnlineRank, AnUnknownHorizonIsDoubledAndAKnownOneOutlived) {
  Library doubled(4);
  Library known(4, {{"horizon", 3.0}});
  for (std::uint64_t round = 1; round <= 20; ++round) {
    ASSERT_TRUE(doubled.click(doubled.rank(), {1}).ok());
    ASSERT_TRUE(known.click(known.rank(), {1}).ok());
    const double count = static_cast<double>(round);
    const double spread = choice_spread(4, 1);
    EXPECT_DOUBLE_EQ(doubled.ranker->item_score(1),
                     count * online_rank_rate(4, doubled_horizon(round + 1), spread));
    EXPECT_DOUBLE_EQ(
        known.ranker->item_score(1),
        count * online_rank_rate(4, round < 3 ? 3 : doubled_horizon(round + 1), spread));
  }
}

TEST(OnlineRank, TheRateFollowsTheLibraryInPowersOfTwo) {
  Library library(5, {{"horizon", 50.0}});
  ASSERT_TRUE(library.click(library.rank(), {0}).ok());
  for (const std::uint32_t n : {6U, 8U, 9U, 40U}) {
    library.grow(n);
    const std::uint64_t size = n <= 8 ? 8 : n <= 16 ? 16 : 64;
    EXPECT_DOUBLE_EQ(library.ranker->item_score(0),
                     online_rank_rate(size, 50, choice_spread(size, 1)));
  }
}

TEST(OnlineRank, MoreItemsThanChoicesAreFurtherRounds) {
  Library at_once(6, {{"choices", 2.0}});
  Library in_turn(6, {{"choices", 2.0}});
  ASSERT_TRUE(at_once.click(at_once.rank(), {0, 1, 2}).ok());
  ASSERT_TRUE(in_turn.click(in_turn.rank(), {0, 1}).ok());
  ASSERT_TRUE(in_turn.click(in_turn.rank(), {2}).ok());
  EXPECT_EQ(model_hash(*at_once.ranker), model_hash(*in_turn.ranker));
}

TEST(OnlineRank, WholeRankingsCountFromTheLast) {
  Library library(3, {{"feedback", std::string("rankings")}, {"horizon", 10.0}});
  ASSERT_TRUE(library.judge(library.rank(), {2, 0, 1}).ok());
  const double rate = online_rank_rate(4, 10, ranking_spread(4));
  EXPECT_DOUBLE_EQ(library.ranker->item_score(2), 2.0 * rate);
  EXPECT_DOUBLE_EQ(library.ranker->item_score(0), rate);
  EXPECT_EQ(library.ranker->item_score(1), 0.0);
  const auto missing = library.judge(library.rank(), {2, 0});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::kInvalidArgument);
  const auto twice = library.judge(library.rank(), {2, 0, 0});
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().code, ErrorCode::kInvalidArgument);
}

TEST(OnlineRank, WithoutThatFormRankingsAreNotUsed) {
  Library library(3);
  const std::string before = model_hash(*library.ranker);
  EXPECT_EQ(library.judge(library.rank(), {2, 0, 1})->learned, 0U);
  EXPECT_EQ(model_hash(*library.ranker), before);
}

// [Ailon13] section 4: with a single choice, its position in the list that was shown says all.
TEST(OnlineRank, ThePositionOfASinglePickIsEnough) {
  Library by_item(7);
  Library by_position(7);
  Rng taste(3);
  for (int t = 0; t < 50; ++t) {
    const Decision shown = by_item.rank();
    const auto wanted = static_cast<ItemIndex>(taste.below(7));
    std::size_t position = 0;
    while (shown.items[position] != wanted) {
      ++position;
    }
    ASSERT_TRUE(by_item.click(shown, {wanted}).ok());
    const Decision same = by_position.rank();
    ASSERT_TRUE(by_position.click(same, {same.items[position]}).ok());
  }
  EXPECT_EQ(model_hash(*by_item.ranker), model_hash(*by_position.ranker));
}

// Theorem 3.1 through the ranker itself, on users with favourites.
void expect_regret_below_the_bound(const std::string& sort) {
  const std::uint32_t n = 8;
  const std::uint64_t rounds = 600;
  Mean regret;
  for (std::uint64_t run = 0; run < 10; ++run) {
    Library library(n, {{"horizon", 600.0}, {"sort", sort}});
    library.seed = run;
    Rng taste(run, 5);
    std::vector<double> counts(n, 0.0);
    double loss = 0.0;
    for (std::uint64_t t = 0; t < rounds; ++t) {
      const auto wanted = static_cast<ItemIndex>(std::min(taste.below(n), taste.below(n)));
      const Decision decision = library.rank();
      std::vector<double> scores(n, 0.0);
      scores[wanted] = 1.0;
      loss += position_loss(decision.items, scores);
      counts[wanted] += 1.0;
      ASSERT_TRUE(library.click(decision, {wanted}).ok());
    }
    regret.add(loss - position_loss(best_order(counts), counts));
  }
  EXPECT_LE(regret.value(), online_rank_bound(n, rounds, choice_spread(n, 1))) << sort;
}

TEST(OnlineRank, RegretStaysBelowTheBoundWithBothSorts) {
  expect_regret_below_the_bound("plackett-luce");
  expect_regret_below_the_bound("quicksort");
}

// Lemma 6.1 through the ranker itself, exactly: over all lists of four items.
TEST(OnlineRank, BothSortsOrderPairsByTheLogisticLaw) {
  for (const std::string sort : {"plackett-luce", "quicksort"}) {
    Library library(4, {{"sort", sort}, {"horizon", 20.0}});
    for (const ItemIndex wanted : {0, 0, 0, 2, 2, 1}) {
      ASSERT_TRUE(library.click(library.rank(), {wanted}).ok());
    }
    testing::Law law;
    for (const testing::List& list : testing::all_lists(4, 4)) {
      law[list] = std::exp(library.probability(list).log_list.value());
    }
    EXPECT_NEAR(testing::total(law), 1.0, 1e-12);
    for (ItemIndex a = 0; a < 4; ++a) {
      for (ItemIndex b = 0; b < 4; ++b) {
        if (a != b) {
          const double lead = library.ranker->item_score(a) - library.ranker->item_score(b);
          EXPECT_NEAR(testing::prob_before(law, a, b), testing::logistic_pair(lead), 1e-12) << sort;
        }
      }
    }
  }
}

TEST(OnlineRank, QuickSortStatesWhatItsLawAllows) {
  Library library(64, kQuicksort);
  const Decision whole = library.rank();
  EXPECT_TRUE(whole.prob_first.empty());
  EXPECT_FALSE(whole.first_prob(0));
  ASSERT_TRUE(whole.log_propensity);
  EXPECT_NEAR(*whole.log_propensity, -std::lgamma(65.0), 1e-6) << "a shuffle: 1 / 64!";
  EXPECT_FALSE(library.rank(63).log_propensity) << "of which the rest is not known";
  library.grow(65);
  EXPECT_FALSE(library.rank().log_propensity) << "it would take too long";
  EXPECT_FALSE(library.probability(library.rank().items).log_list);
  ASSERT_TRUE(library.click(whole, {whole.items[5]}).ok());
  EXPECT_GT(library.ranker->item_score(whole.items[5]), 0.0);
}

// While the library grows, every pair starts with the rate of the day on which its later item came.
// The loss before that day is nothing, so that a pair costs ln 2 / eta of that day, and M eta / 2 a
// round: in all at most 1.18 n sqrt(T M log 2), n being all items in the end, or 1.88 times it with
// a doubled horizon. Exact expectations; new items become favourites, or are hardly wanted.
void expect_growth_within_the_bound(const ParamMap& params, double factor, bool late_favourites) {
  const std::uint32_t most = 24;
  const std::uint64_t rounds = 700;
  Library library(2, params);
  Rng taste(late_favourites ? 1 : 2);
  std::vector<double> counts(most, 0.0);
  double loss = 0.0;
  for (std::uint64_t t = 0; t < rounds; ++t) {
    const auto present = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, 2 + t / 25));
    library.grow(present);
    const auto off = static_cast<ItemIndex>(std::min(taste.below(present), taste.below(present)));
    const ItemIndex wanted = late_favourites ? present - 1 - off : off;
    std::vector<double> scores(present, 0.0);
    scores[wanted] = 1.0;
    loss += testing::expected_loss(*library.ranker, scores, testing::logistic_pair);
    counts[wanted] += 1.0;
    ASSERT_TRUE(library.click(library.rank(), {wanted}).ok());
  }
  // The best order of all items, as if all had been there from the beginning, not wanted.
  const double best = position_loss(best_order(counts), counts);
  EXPECT_LE(loss - best, factor * online_rank_bound(most, rounds, choice_spread(most, 1)));
}

TEST(OnlineRank, RegretOfAGrowingLibraryStaysBelowItsBound) {
  for (const bool late_favourites : {false, true}) {
    expect_growth_within_the_bound({{"horizon", 700.0}}, 1.18, late_favourites);
    expect_growth_within_the_bound({}, 1.88, late_favourites);
    expect_growth_within_the_bound(kQuicksort, 1.88, late_favourites);
  }
}

TEST(OnlineRank, MoreChoicesThanItemsAreChoicesOfAll) {
  Library library(3, {{"choices", 50.0}, {"horizon", 10.0}});
  ASSERT_TRUE(library.click(library.rank(), {0, 1, 2}).ok());
  EXPECT_DOUBLE_EQ(library.ranker->item_score(1), online_rank_rate(4, 10, choice_spread(4, 4)));
  EXPECT_EQ(library.click(library.rank(), {})->learned, 0U) << "an empty choice is no round";
  EXPECT_DOUBLE_EQ(library.ranker->item_score(1), online_rank_rate(4, 10, choice_spread(4, 4)));
}

// 10^9 clicks on one item, with every sort and noise: numbers stay finite, and so do lists.
TEST(OnlineRank, ABillionChoicesOfOneItemAreSafe) {
  const std::vector<std::pair<const char*, ParamMap>> forms = {
      {"onlinerank", {}},
      {"onlinerank", kQuicksort},
      {"onlinerank", {{"feedback", std::string("rankings")}}},
      {"fpl", {}},
      {"fpl", {{"noise", std::string("gumbel")}}}};
  for (const auto& [name, params] : forms) {
    testing::CountLibrary library(name, 5, params);
    const std::uint64_t rounds = 1'000'000'000;
    const std::vector<double> counts = {1.0, 0.0, 1e9, 3.0, 0.0};
    ASSERT_TRUE(testing::load_counts(*library.ranker, counts, rounds, 1e9).ok()) << name;
    for (int i = 0; i < 50; ++i) {
      const Decision decision = library.rank();
      EXPECT_EQ(decision.items[0], 2U) << name;
      for (const double score : decision.score) {
        EXPECT_TRUE(std::isfinite(score));
      }
      ASSERT_TRUE(library.click(decision, {2}).ok());
      ASSERT_TRUE(library.judge(decision, {2, 0, 1, 3, 4}).ok());
    }
    EXPECT_GT(library.ranker->item_score(2), library.ranker->item_score(3));
    EXPECT_TRUE(std::isfinite(library.ranker->item_score(2)));
    // Beyond what counters hold the rounds stay where they are, and the rate with them.
    ASSERT_TRUE(testing::load_counts(*library.ranker, counts, kMaxCount, 1e9).ok()) << name;
    ASSERT_TRUE(library.click(library.rank(), {2}).ok());
    EXPECT_TRUE(std::isfinite(library.ranker->item_score(2)));
    EXPECT_FALSE(testing::load_counts(*library.ranker, {0, 0, 1e300, 0, 0}, 5, 0.0).ok());
  }
}

// At the higher rates a few clicks take a score beyond the limit, or one does, and only what is not
// yet below it is touched.
TEST(CountLaw, FollowsTheCountsOneByOneAsAfterABuild) {
  for (const double rate : {0.01, 0.5, 3.0, 30.0, 300.0}) {
    constexpr std::size_t kItems = 3000;
    std::vector<double> counts(kItems, 0.0);
    CountLaw law;
    law.grow(counts.size());
    law.rescale(rate, counts);
    Rng rng(9);
    double last_rate = rate;
    for (int t = 0; t < 2000; ++t) {
      const auto item = static_cast<ItemIndex>(std::min(rng.below(300), rng.below(300)));
      counts[item] += 1.0;
      law.set(item, counts[item], counts);
      if (t == 1000) {
        law.remove(17);
      }
      if (t == 1500) {
        last_rate = 0.7 * rate;
        law.rescale(last_rate, counts);
      }
    }
    CountLaw loaded;
    ASSERT_TRUE(
        loaded.load(law.shift(), last_rate, counts, [](ItemIndex item) { return item != 17; })
            .ok());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      ASSERT_EQ(law.tree().weight(i), loaded.tree().weight(i)) << i;
    }
    EXPECT_EQ(law.tree().total(), loaded.tree().total());
    EXPECT_EQ(law.tree().weight(17), 0.0F);
  }
}

TEST(CountLaw, ABillionChoicesOfOneItemLeaveTheOthersAChance) {
  std::vector<double> counts(100, 0.0);
  CountLaw law;
  law.grow(counts.size());
  law.rescale(1.0, counts);
  counts[4] = 1e9;
  law.set(4, counts[4], counts);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    EXPECT_GT(law.tree().weight(i), 0.0F);
  }
  Rng rng(1);
  const auto list = law.tree().draw_top_k(10, rng);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->order[0], 4U);
  EXPECT_TRUE(std::isfinite(*list->log_propensity));
  EXPECT_FALSE(CountLaw().load(0.0, 1.0, counts, [](ItemIndex) { return true; }).ok());
}

}  // namespace
}  // namespace hindsight
