#include "src/sim/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "src/sim/citation_library.h"
#include "tests/support/newest_first_ranker.h"

namespace hindsight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Arrival b, a, d (topic x), c (topic y). Queries: a picks b of {b}; d picks a of {b, a}; c picks d
// and then b of {b, a, d}. The newest first: positions 1 of 1, 1 of 2, 1 of 3, 3 of 3.
LibraryStream tiny_stream() {
  const auto library =
      parse_citation_library("id\tyear\ttopic\na\t1991\tx\nb\t1990\tx\nc\t1992\ty\nd\t1991\tx\n",
                             "citing\tcited\nc\td\nc\tb\na\tb\nd\ta\n");
  return make_stream(*library);
}

TEST(Replay, GivesTheMetricsOfAHandComputedLibrary) {
  NewestFirstRanker::Told told;
  NewestFirstRanker ranker(true, &told);
  const auto result = replay(tiny_stream(), ranker, {});
  ASSERT_TRUE(result.ok()) << to_string(result.error());
  EXPECT_NEAR(result->metrics.kl_cost.value(), (std::log(2.0) + 2.0 * std::log(3.0)) / 4.0, 1e-15);
  EXPECT_NEAR(result->metrics.rel_distance.value(), (2.0 / 3.0) / 4.0, 1e-15);
  EXPECT_DOUBLE_EQ(result->metrics.first_rate.value(), 0.75);
  EXPECT_DOUBLE_EQ(result->metrics.ndcg.value(), (3.0 + 0.5) / 4.0);
}

TEST(Replay, ChargesInfinityForAPickThatCouldNotStandFirst) {
  NewestFirstRanker::Told told;
  NewestFirstRanker ranker(false, &told);
  const auto result = replay(tiny_stream(), ranker, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->metrics.kl_cost.value(), std::numeric_limits<double>::infinity());
  EXPECT_FALSE(result->metrics.kl_cost.standard_error().has_value());
  EXPECT_THAT(result->cost_at, ElementsAre(0.0, 0.0, std::numeric_limits<double>::infinity()));
}

TEST(Replay, TellsTheRankerWhoAsksAndWhatArrives) {
  NewestFirstRanker::Told told;
  NewestFirstRanker ranker(true, &told);
  ASSERT_TRUE(replay(tiny_stream(), ranker, {}).ok());
  ASSERT_EQ(told.requests.size(), 4U);
  const std::vector<std::uint64_t> sessions = {2, 3, 4, 4};
  const std::vector<std::uint64_t> groups = {1, 1, 2, 2};
  const std::vector<std::size_t> sizes = {1, 2, 3, 3};
  for (std::size_t i = 0; i < 4; ++i) {
    const Request& request = told.requests[i];
    EXPECT_EQ(request.decision, (DecisionId{0, i + 1}));
    EXPECT_EQ(request.time_ms, static_cast<std::int64_t>(i + 1) * 1000);
    EXPECT_EQ(request.session, sessions[i]);
    EXPECT_EQ(request.group, groups[i]);
    EXPECT_EQ(request.k, sizes[i]);
  }
  EXPECT_THAT(told.picks, ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(told.picks_in_signals, ElementsAre(0, 1, 2, 3));  // a click is folded once learned
  // The last paper asks, but nobody asks after it: it need not join.
  ASSERT_EQ(told.links.size(), 3U);
  EXPECT_THAT(told.links[0], IsEmpty());
  EXPECT_THAT(told.links[1], ElementsAre(0));
  EXPECT_THAT(told.links[2], ElementsAre(1));
}

TEST(Replay, KeepsTheCumulatedCostAtPowersOfTwoAndACurve) {
  NewestFirstRanker::Told told;
  NewestFirstRanker ranker(true, &told);
  ReplayOptions options;
  options.curve_points = 2;
  std::uint64_t done = 0;
  options.progress = [&](std::uint64_t queries) { done += queries; };
  const auto result = replay(tiny_stream(), ranker, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(done, 4U);
  EXPECT_THAT(result->checkpoints, ElementsAre(1, 2, 4));
  ASSERT_EQ(result->cost_at.size(), 3U);
  EXPECT_EQ(result->cost_at[0], 0.0);
  EXPECT_NEAR(result->cost_at[1], std::log(2.0), 1e-15);
  EXPECT_NEAR(result->cost_at[2], std::log(2.0) + 2.0 * std::log(3.0), 1e-15);
  ASSERT_EQ(result->curve.size(), 2U);
  EXPECT_EQ(result->curve[0].t, 2U);
  EXPECT_NEAR(result->curve[0].kl_cost, std::log(2.0) / 2.0, 1e-15);
  EXPECT_EQ(result->curve[1].t, 4U);
  EXPECT_NEAR(result->curve[1].rel_distance, 1.0 / 3.0, 1e-15);
  EXPECT_DOUBLE_EQ(result->curve[1].ndcg, 0.75);
  EXPECT_THAT(result->regret, IsEmpty());
}

TEST(Replay, StopsAfterTheGivenNumberOfQueries) {
  NewestFirstRanker::Told told;
  NewestFirstRanker ranker(true, &told);
  ReplayOptions options;
  options.max_queries = 3;
  const auto result = replay(tiny_stream(), ranker, options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->metrics.ndcg.count(), 3U);
  EXPECT_EQ(result->metrics.ndcg.value(), 1.0);
  EXPECT_THAT(result->checkpoints, ElementsAre(1, 2, 3));
  EXPECT_EQ(result->curve.size(), 3U);
}

TEST(Replay, OfAStreamWithoutQueriesIsEmpty) {
  NewestFirstRanker::Told told;
  NewestFirstRanker ranker(true, &told);
  const auto result = replay(LibraryStream{}, ranker, {});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->metrics.ndcg.count(), 0U);
  EXPECT_THAT(result->curve, IsEmpty());
  EXPECT_THAT(result->checkpoints, IsEmpty());
}

}  // namespace
}  // namespace hindsight
