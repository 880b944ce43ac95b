#include "src/sim/stationary_stream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hindsight {
namespace {

// The share of each pick against its true probability: 2 topics of 3 items, 60,000 queries. Each of
// the six counts is within 6 standard deviations, a false alarm has probability below 1.2e-8.
TEST(StationaryStream, DrawsPicksFromTheSoftmaxOfTheTrueScores) {
  StationaryParams params;
  params.topics = 2;
  params.items_per_topic = 3;
  params.score_deviation = 1.0;
  params.queries = 60'000;
  const auto made = make_stationary_stream(params, 5);
  ASSERT_TRUE(made.ok());
  std::vector<double> count(6, 0.0);
  for (const PrefixQuery& query : made->stream.prefix.queries) {
    ++count[made->stream.prefix.pick(query)];
  }
  for (int topic = 0; topic < 2; ++topic) {
    double sum = 0.0;
    for (int i = 0; i < 3; ++i) {
      sum += std::exp(made->true_score[static_cast<std::size_t>(3 * topic + i)]);
    }
    for (int i = 0; i < 3; ++i) {
      const auto item = static_cast<std::size_t>(3 * topic + i);
      const double prob = 0.5 * std::exp(made->true_score[item]) / sum;
      EXPECT_NEAR(count[item], 60'000 * prob, 6.0 * std::sqrt(60'000 * prob * (1.0 - prob)));
    }
  }
}

TEST(StationaryStream, KnowsTheCostOfTheTruePolicy) {
  StationaryParams params;
  params.queries = 40'000;
  const auto made = make_stationary_stream(params, 6);
  ASSERT_TRUE(made.ok());
  ASSERT_EQ(made->true_cost.size(), 40'001U);
  // Of 20 outcomes, -log probability has variance at most 1 + ln(19)^2 / 4 = 3.2, and the topics'
  // entropies, between 0 and ln 20, at most 2.3: six standard errors of 40,000 costs are below 0.07
  // (false alarm 2e-9).
  EXPECT_NEAR(made->true_cost.back() / 40'000.0, made->expected_cost, 0.07);
  double first = 0.0;
  const PrefixQuery& query = made->stream.prefix.queries.front();
  for (const ItemIndex item : made->stream.prefix.candidates(query)) {
    first += std::exp(made->true_score[item]);
  }
  EXPECT_NEAR(made->true_cost[1],
              std::log(first) - made->true_score[made->stream.prefix.pick(query)], 1e-12);
}

TEST(StationaryStream, OffersAllItemsOfTheTopicFromTheBeginning) {
  StationaryParams params;
  params.topics = 3;
  params.items_per_topic = 4;
  params.queries = 100;
  const auto made = make_stationary_stream(params, 1);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->stream.prefix.item_count, 12U);
  EXPECT_EQ(made->stream.prefix.lists.size(), 3U);
  EXPECT_EQ(made->stream.links.size(), 12U);
  for (std::size_t t = 0; t < 100; ++t) {
    const PrefixQuery& query = made->stream.prefix.queries[t];
    EXPECT_EQ(made->stream.prefix.candidates(query).size(), 4U);
    EXPECT_EQ(made->stream.prefix.candidates(query).front(), 4 * query.topic);
    EXPECT_EQ(made->stream.visits[t].items_there, 12U);
  }
}

TEST(StationaryStream, RefusesParametersOutOfRange) {
  const auto refused = [](auto change) {
    StationaryParams params;
    change(params);
    return !make_stationary_stream(params, 1).ok();
  };
  EXPECT_TRUE(refused([](auto& p) { p.topics = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.items_per_topic = 1; }));
  EXPECT_TRUE(refused([](auto& p) { p.score_deviation = -1; }));
  EXPECT_TRUE(refused([](auto& p) { p.score_deviation = std::nan(""); }));
  EXPECT_TRUE(refused([](auto& p) { p.topics = p.items_per_topic = 1 << 20; }));
}

}  // namespace
}  // namespace hindsight
