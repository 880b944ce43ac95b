#include "src/sim/retrieval_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "hindsight/random.h"
#include "src/core/metrics.h"
#include "src/sim/retrieval_duels.h"

namespace hindsight {
namespace {

RetrievalSet made(const char* text) {
  const auto set = parse_letor(text, "t");
  EXPECT_TRUE(set.ok());
  return *RetrievalSet::make(*set);
}

// Forty queries of six documents; the first feature is the grade with a little noise.
RetrievalSet easy_set(std::uint64_t seed) {
  Rng rng(seed);
  JudgedSet set{.dim = 3, .queries = {}};
  for (int q = 0; q < 40; ++q) {
    JudgedQuery query;
    query.name = std::to_string(q);
    for (int i = 0; i < 6; ++i) {
      const auto grade = static_cast<double>(rng.below(3));
      query.grades.push_back(grade);
      query.features.insert(query.features.end(),
                            {0.5 * grade + 0.1 * rng.uniform(), rng.uniform(), rng.uniform()});
    }
    set.queries.push_back(std::move(query));
  }
  return *RetrievalSet::make(set);
}

TEST(RetrievalSet, NdcgIsThatOfTheMetrics) {
  Rng rng(1);
  for (int round = 0; round < 200; ++round) {
    JudgedSet set{.dim = 1, .queries = {JudgedQuery{}}};
    const std::size_t n = 1 + rng.below(15);
    std::vector<std::pair<double, double>> by_score;
    for (std::size_t i = 0; i < n; ++i) {
      set.queries[0].features.push_back(rng.uniform());
      set.queries[0].grades.push_back(i == 0 ? 1.0 : static_cast<double>(rng.below(4)));
      by_score.emplace_back(-set.queries[0].features[i], set.queries[0].grades[i]);
    }
    std::sort(by_score.begin(), by_score.end());
    std::vector<double> listed;
    for (const auto& [score, grade] : by_score) {
      listed.push_back(grade);
    }
    EXPECT_NEAR(RetrievalSet::make(set)->mean_ndcg(std::vector<double>{2.0}), *ndcg_at(listed, 10),
                1e-12);
  }
}

TEST(RetrievalSet, TiesAreTheMeanOverAllOrders) {
  const RetrievalSet set = made("2 qid:1 1:1\n0 qid:1 1:1\n1 qid:1 1:0\n0 qid:1 1:1\n");
  double sum = 0.0;
  std::vector<double> tied = {0.0, 0.0, 2.0};  // grades of the three best, all tied
  do {
    sum += *ndcg_at(std::vector<double>{tied[0], tied[1], tied[2], 1.0}, 10);
  } while (std::next_permutation(tied.begin(), tied.end()));
  EXPECT_NEAR(set.mean_ndcg(std::vector<double>{1.0}), sum / 3.0, 1e-12);
}

// By sorting: each group of equal scores shares the discounts of its places.
double sorted_ndcg(const JudgedQuery& query) {
  std::vector<std::pair<double, double>> by_score;  // of one feature: itself, and the grade
  for (std::size_t i = 0; i < query.documents(); ++i) {
    by_score.emplace_back(query.features[i], std::exp2(query.grades[i]) - 1.0);
  }
  std::sort(by_score.begin(), by_score.end(), std::greater<>());
  const auto discount = [](std::size_t i) {
    return i < 10 ? 1.0 / std::log2(static_cast<double>(i) + 2.0) : 0.0;
  };
  double sum = 0.0;
  for (std::size_t first = 0; first < by_score.size();) {
    double gain = 0.0;
    double discounts = 0.0;
    std::size_t last = first;
    for (; last < by_score.size() && by_score[last].first == by_score[first].first; ++last) {
      gain += by_score[last].second;
      discounts += discount(last);
    }
    sum += gain * discounts / static_cast<double>(last - first);
    first = last;
  }
  std::vector<double> best = query.grades;
  std::sort(best.begin(), best.end(), std::greater<>());
  double ideal = 0.0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    ideal += (std::exp2(best[i]) - 1.0) * discount(i);
  }
  return sum / ideal;
}

TEST(RetrievalSet, NdcgIsThatOfSortedGroupsWithTiesAnywhere) {
  Rng rng(2);
  for (int round = 0; round < 500; ++round) {
    JudgedSet set{.dim = 1, .queries = {JudgedQuery{}}};
    const std::size_t n = 1 + rng.below(40);
    const std::uint64_t values = 1 + rng.below(12);
    for (std::size_t i = 0; i < n; ++i) {
      set.queries[0].features.push_back(static_cast<double>(rng.below(values)));
      set.queries[0].grades.push_back(i == 0 ? 2.0 : static_cast<double>(rng.below(3)));
    }
    EXPECT_NEAR(RetrievalSet::make(set)->mean_ndcg(std::vector<double>{1.0}),
                sorted_ndcg(set.queries[0]), 1e-12);
  }
}

TEST(RetrievalSet, QueriesWithoutRelevantDocumentsAreLeftOutOfMeans) {
  const RetrievalSet set =
      made("0 qid:1 1:1\n0 qid:1 1:2\n1 qid:2 1:1\n0 qid:2 1:0\n1 qid:3 1:1\n");
  EXPECT_EQ(set.queries(), 3U);
  EXPECT_EQ(set.judged().size(), 2U);
  EXPECT_EQ(set.mean_ndcg(std::vector<double>{1.0}), 1.0);
  EXPECT_EQ(set.ndcg_by_query(std::vector<double>{-1.0})[1], 1.0);  // one document
  const auto nothing = parse_letor("0 qid:1 1:1\n", "t");
  EXPECT_FALSE(RetrievalSet::make(*nothing).ok());
  const auto halves = parse_letor("0.5 qid:1 1:1\n", "t");
  EXPECT_EQ(RetrievalSet::make(*halves).error().field, "grades");
}

TEST(LinkDuels, FindTheFeatureThatMatters) {
  const RetrievalSet set = easy_set(1);
  const auto result =
      run_link_duels(set, {.steps = {.probe = 1.0, .step = 0.05}, .samples = 20, .rounds = 20'000});
  ASSERT_TRUE(result.ok());
  EXPECT_GT(set.mean_ndcg(result->weights), 0.95);
  EXPECT_LT(result->average_ndcg, set.mean_ndcg(result->weights) + 0.05);
}

TEST(LinkDuels, ComeAgainFromTheirSeedAndTellTheirProgress) {
  const RetrievalSet set = easy_set(2);
  std::uint64_t done = 0;
  const LinkDuelParams params{.samples = 7, .rounds = 5'000, .seed = 3};
  const auto first = run_link_duels(set, params, [&](std::uint64_t rounds) { done += rounds; });
  const auto again = run_link_duels(set, params);
  ASSERT_TRUE(first.ok() && again.ok());
  EXPECT_EQ(first->weights, again->weights);
  EXPECT_EQ(done, 5'000U);
  EXPECT_EQ(run_link_duels(set, {.rounds = 0}).error().field, "rounds");
  EXPECT_EQ(run_link_duels(set, {.samples = 0, .rounds = 1}).error().field, "samples");
}

}  // namespace
}  // namespace hindsight
