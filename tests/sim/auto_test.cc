// What `auto` must bring on growing libraries: its bound, nothing from the future, and its figures.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <ostream>
#include <string>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/sim/citation_library.h"
#include "src/sim/growing_library.h"
#include "src/sim/replay.h"
#include "src/sim/synthetic_library.h"
#include "tests/support/shared_data.h"

namespace hindsight {
namespace {

struct Replayed {
  ReplayResult result;
  std::unique_ptr<Ranker> ranker;
};

Replayed run(const LibraryStream& stream, ParamMap params) {
  params["choice_set"] = std::string("candidates");
  auto ranker = *make_ranker("auto", params);
  auto result = replay(stream, *ranker, {});
  EXPECT_TRUE(result.ok());
  return {*std::move(result), std::move(ranker)};
}

GrowingLibrary small_library() {
  SyntheticLibraryParams params;
  params.papers = 500;
  params.topics = 4;
  return *make_synthetic_library(params, 3);
}

void expect_within_bound(const Ranker& ranker) {
  const ItemIndex item = 0;
  Request request;
  request.candidates = std::span(&item, 1);
  request.k = 1;
  const auto explanation = ranker.explain(request, Signals(), item);
  ASSERT_TRUE(explanation.ok());
  double best = std::numeric_limits<double>::infinity();
  for (const Explanation::Expert& expert : explanation->experts) {
    best = std::min(best, expert.cost);
  }
  const double cost = ranker.regret_summary()->learned_cost;
  const double bound = best + std::log(static_cast<double>(explanation->experts.size()));
  EXPECT_LE(cost, bound + 1e-9 * bound);
}

TEST(AutoReplay, PaysAtMostLnNMoreThanTheBestExpertInAGrowingLibrary) {
  const Replayed done = run(make_stream(small_library()), {});
  expect_within_bound(*done.ranker);
  // Clicks come at once: what is served is what is charged.
  const auto regret = *done.ranker->regret_summary();
  EXPECT_NEAR(regret.served_cost, regret.learned_cost, 1e-6 * regret.learned_cost);
  EXPECT_NEAR(done.result.metrics.kl_cost.value() * static_cast<double>(regret.clicks),
              regret.learned_cost, 1e-6 * regret.learned_cost);
}

TEST(AutoReplay, ALinkToALaterPaperChangesNothing) {
  const GrowingLibrary library = small_library();
  GrowingLibrary planted = library;
  planted.citations = {};
  for (std::size_t paper = 0; paper < library.size(); ++paper) {
    const auto cited = library.citations[paper];
    planted.citations.values.insert(planted.citations.values.end(), cited.begin(), cited.end());
    for (const std::size_t later : {paper + 1, paper + 7, library.size() - 1}) {
      if (later > paper && later < library.size() &&
          std::find(cited.begin(), cited.end(), later) == cited.end()) {
        planted.citations.values.push_back(static_cast<ItemIndex>(later));
      }
    }
    planted.citations.close_list();
  }
  const Replayed honest = run(make_stream(library), {});
  const Replayed with_future = run(make_stream(planted), {});
  EXPECT_EQ(model_hash(*with_future.ranker), model_hash(*honest.ranker));
  EXPECT_EQ(with_future.result.metrics.kl_cost.value(), honest.result.metrics.kl_cost.value());
  EXPECT_EQ(with_future.result.metrics.ndcg.value(), honest.result.metrics.ndcg.value());
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

struct Aim {
  const char* name;
  const char* dataset;
  ParamMap params;
  double kl_cost;  // at most; infinite: not asked for
  double ndcg;     // at least

  friend void PrintTo(const Aim& aim, std::ostream* out) { *out << aim.name; }
};

std::vector<Aim> aims() {
  constexpr double kAny = std::numeric_limits<double>::infinity();
  const ParamMap sorted = {{"first", std::string("sorted")}};
  ParamMap picks = {{"session", false}, {"groups", false}, {"links", false}};
  ParamMap picks_sorted = picks;
  picks_sorted["first"] = std::string("sorted");
  return {{"CoraDrawn", "cora", {}, 3.75, 0.395},
          {"CoraSorted", "cora", sorted, kAny, 0.45},
          {"CoraPicks", "cora", picks, 4.34, 0.0},
          {"CoraPicksSorted", "cora", picks_sorted, kAny, 0.33},
          {"AanDrawn", "aan", {}, 3.70, 0.0},
          {"AanSorted", "aan", sorted, kAny, 0.49}};
}

class AutoFigures : public ::testing::TestWithParam<Aim> {};

TEST_P(AutoFigures, AreReachedWithDefaultParameters) {
  const Aim& aim = GetParam();
  const auto folder = shared_data(aim.dataset);
  const bool large = std::string(aim.dataset) != "cora";
  if (!folder || kSanitized || (large && std::getenv("HINDSIGHT_FULL") == nullptr)) {
    GTEST_SKIP() << "skipped: no data, a sanitizer, or a long replay without HINDSIGHT_FULL";
  }
  CitationLibraryOptions options;
  options.topic_column = large ? "venue" : "topic";
  const auto library = read_citation_library(*folder, options);
  ASSERT_TRUE(library.ok());
  const Replayed done = run(make_stream(*library), aim.params);
  EXPECT_LE(done.result.metrics.kl_cost.value(), aim.kl_cost);
  EXPECT_GE(done.result.metrics.ndcg.value(), aim.ndcg);
  expect_within_bound(*done.ranker);
}

INSTANTIATE_TEST_SUITE_P(OnRealLibraries, AutoFigures, ::testing::ValuesIn(aims()),
                         [](const ::testing::TestParamInfo<Aim>& row) { return row.param.name; });

}  // namespace
}  // namespace hindsight
