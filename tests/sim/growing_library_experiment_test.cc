#include "src/sim/growing_library_experiment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "src/sim/citation_library.h"
#include "src/sim/growing_library_output.h"
#include "src/sim/synthetic_library.h"
#include "tests/support/shared_data.h"

namespace hindsight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::unique_ptr<Ranker>> registered(const std::string& name, const ParamMap& params) {
  return make_ranker(name, params);
}

GrowingLibrary small_library() {
  SyntheticLibraryParams params;
  params.papers = 400;
  params.topics = 5;
  return *make_synthetic_library(params, 11);
}

GrowingLibraryFindings run_small(std::uint32_t threads) {
  GrowingLibraryOptions options;
  options.runs = 2;
  options.threads = threads;
  options.adversary.queries = 64;
  GrowingLibraryFindings findings;
  findings.seed = options.seed;
  findings.runs = options.runs;
  findings.sets.push_back(*run_growing_library(small_library(), options, registered));
  findings.adversary = *run_adversary(options, registered);
  return findings;
}

TEST(GrowingLibraryExperiment, GivesTheSameBytesForAnyNumberOfThreads) {
  const std::string one = growing_library_json(run_small(1));
  EXPECT_EQ(growing_library_json(run_small(2)), one);
  EXPECT_EQ(growing_library_json(run_small(5)), one);
}

TEST(GrowingLibraryExperiment, RunsEveryRowOfThePlanAndSweepsAlphaOfTheGradientOnes) {
  const GrowingLibraryFindings findings = run_small(2);
  std::map<std::string, std::vector<double>> alphas;
  std::size_t headlines = 0;
  const auto& rows = findings.sets.front().rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    headlines += rows[i].headline ? 1 : 0;
    EXPECT_EQ(rows[i].headline, i < 18) << i;
    EXPECT_FALSE(rows[i].information.empty()) << i;
    auto& of_ranker = alphas[rows[i].ranker];
    if (rows[i].alpha) {
      of_ranker.push_back(*rows[i].alpha);
    }
  }
  EXPECT_EQ(headlines, 18U);
  EXPECT_EQ(alphas.size(), 18U);
  EXPECT_TRUE(alphas["auto"].empty());
  EXPECT_THAT(alphas["noregret-klrank"], ElementsAre(3, 0.3, 1, 10));
  EXPECT_THAT(alphas["greedy-klrank"], ElementsAre(3, 0.3, 1, 10));
  EXPECT_THAT(alphas["klrank"], ElementsAre(3, 0.3, 1, 10));
  EXPECT_THAT(alphas["online-ranknet"], ElementsAre(1, 0.3, 3, 10));
  EXPECT_TRUE(alphas["random"].empty());
}

TEST(GrowingLibraryExperiment, MeasuresRegretUnderBothBoundsAtEveryPowerOfTwo) {
  const GrowingLibraryFindings findings = run_small(2);
  const GrowingLibraryResult& set = findings.sets.front();
  int with_curve = 0;
  for (const GrowingLibraryRow& row : set.rows) {
    const bool learns_kl =
        row.ranker.find("klrank") != std::string::npos && row.ranker != "feature-klrank";
    EXPECT_EQ(row.regret.empty(), !learns_kl) << row.ranker;
    with_curve += row.regret.size() > 1 ? 1 : 0;
    for (const RegretBracket& bracket : row.regret) {
      EXPECT_LE(bracket.lower, bracket.upper + 1e-6);
      EXPECT_LE(bracket.upper, bracket.data_bound);
      EXPECT_LE(bracket.upper, bracket.theorem_bound);
    }
    if (learns_kl) {
      EXPECT_EQ(row.regret.back().clicks, set.queries);
      // Weights that are learned at once are served at once.
      EXPECT_NEAR(row.regret.back().served_cost, row.regret.back().cost, 1e-6);
      if (row.ranker != "greedy-klrank") {
        EXPECT_NEAR(row.kl_cost.mean * static_cast<double>(set.queries), row.regret.back().cost,
                    1e-6);
      }
    }
  }
  EXPECT_EQ(with_curve, 3);
}

TEST(GrowingLibraryExperiment, TakesTheGivenAlphasOnly) {
  GrowingLibraryOptions options;
  options.rankers = {"noregret-klrank", "online-ranknet", "random"};
  options.alphas = {2, 1};
  options.alphas_given = true;
  options.max_queries = 50;
  const auto result = run_growing_library(small_library(), options, registered);
  ASSERT_TRUE(result.ok()) << to_string(result.error());
  std::vector<std::pair<std::string, double>> rows;
  for (const GrowingLibraryRow& row : result->rows) {
    rows.emplace_back(row.ranker, row.alpha.value_or(0.0));
  }
  using Row = std::pair<std::string, double>;
  EXPECT_THAT(rows,
              ElementsAre(Row{"noregret-klrank", 2}, Row{"online-ranknet", 1}, Row{"random", 0},
                          Row{"noregret-klrank", 1}, Row{"online-ranknet", 2}));
  EXPECT_EQ(result->queries, 50U);
}

TEST(GrowingLibraryExperiment, GivesTheBoundsAndANoteWhereTheBallIsTooLarge) {
  GrowingLibraryOptions options;
  options.rankers = {"klrank"};
  options.alphas = {1000};
  options.alphas_given = true;
  options.max_queries = 50;
  const auto result = run_growing_library(small_library(), options, registered);
  ASSERT_TRUE(result.ok()) << to_string(result.error());
  const RegretBracket& last = result->rows.front().regret.back();
  EXPECT_EQ(last.clicks, 50U);
  EXPECT_TRUE(std::isnan(last.upper));
  EXPECT_GT(last.data_bound, 0.0);
  EXPECT_GT(last.theorem_bound, last.data_bound);
  ASSERT_EQ(result->notes.size(), 1U);
  EXPECT_THAT(result->notes.front(), HasSubstr("regret is left out for alpha = 1000"));
  GrowingLibraryFindings findings;
  findings.sets.push_back(*result);
  EXPECT_EQ(growing_library_text(findings).find("nan"), std::string::npos);
  EXPECT_EQ(render_html(growing_library_report(findings)).find(">nan<"), std::string::npos);
}

TEST(GrowingLibraryExperiment, ReportsEachIterationOfTheSolver) {
  GrowingLibraryOptions options;
  options.rankers = {"klrank"};
  options.alphas = {};
  options.max_queries = 50;
  int lines = 0;
  options.solver_progress = [&](double alpha, const NewtonStatus& status) {
    EXPECT_EQ(alpha, 3.0);
    EXPECT_GE(status.gap, 0.0);
    ++lines;
  };
  const auto result = run_growing_library(small_library(), options, registered);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->notes.empty());
  EXPECT_GE(lines, static_cast<int>(result->rows.front().regret.size()));
}

TEST(GrowingLibraryExperiment, AveragesOverRunsWithStandardErrors) {
  const auto library =
      parse_citation_library("id\tyear\ttopic\na\t1990\tx\nb\t1991\tx\n", "citing\tcited\nb\ta\n");
  ASSERT_TRUE(library.ok());
  GrowingLibraryOptions options;
  options.rankers = {"random"};
  options.runs = 3;
  const auto result = run_growing_library(*library, options, registered);
  ASSERT_TRUE(result.ok());
  const GrowingLibraryRow& row = result->rows.front();
  EXPECT_EQ(row.ndcg.mean, 1.0);  // a list of one
  ASSERT_TRUE(row.ndcg.run_error.has_value());
  EXPECT_EQ(*row.ndcg.run_error, 0.0);
  EXPECT_FALSE(row.ndcg.query_error.has_value());  // a single query

  GrowingLibraryOptions many;
  many.rankers = {"random"};
  many.runs = 5;
  const auto varied = run_growing_library(small_library(), many, registered);
  ASSERT_TRUE(varied.ok());
  const GrowingLibraryRow& random = varied->rows.front();
  EXPECT_GT(*random.ndcg.run_error, 0.0);
  EXPECT_EQ(*random.kl_cost.run_error, 0.0);  // it does not depend on the coins
  EXPECT_GT(*random.kl_cost.query_error, 0.0);
  many.runs = 1;
  EXPECT_FALSE(
      run_growing_library(small_library(), many, registered)->rows[0].ndcg.run_error.has_value());
}

TEST(GrowingLibraryExperiment, CountsTheQueriesOfAllRuns) {
  GrowingLibraryOptions options;
  options.rankers = {"random", "klrank"};  // klrank with four alphas
  options.runs = 2;
  options.max_queries = 100;
  std::atomic<std::uint64_t> done{0};
  options.progress = [&](std::uint64_t queries) { done += queries; };
  ASSERT_TRUE(run_growing_library(small_library(), options, registered).ok());
  EXPECT_EQ(done, 100U * 2 * 5);
  EXPECT_EQ(total_queries(small_library(), options), 100U * 2 * 5);
}

TEST(GrowingLibraryExperiment, RefusesWhatItCannotRun) {
  const auto error = [](auto change) {
    GrowingLibraryOptions options;
    options.max_queries = 10;
    change(options);
    const auto result = run_growing_library(small_library(), options, registered);
    return result.ok() ? std::string() : to_string(result.error());
  };
  EXPECT_THAT(error([](auto& o) { o.rankers = {"no-such"}; }), HasSubstr("no-such"));
  EXPECT_THAT(error([](auto& o) { o.rankers = {"random", "random"}; }), HasSubstr("given twice"));
  EXPECT_THAT(error([](auto& o) { o.alphas = {0}; }), HasSubstr("alpha: 0 is not a positive"));
  EXPECT_THAT(error([](auto& o) { o.alphas = {-1}; }), HasSubstr("alpha: -1 is not a positive"));
  EXPECT_THAT(error([](auto& o) { o.alphas = {std::nan("")}; }), HasSubstr("not a positive"));
  EXPECT_THAT(error([](auto& o) { o.alphas = {9e-7}; }), HasSubstr("too small"));
  EXPECT_THAT(error([](auto& o) { o.alphas = {3, 3}; }), HasSubstr("given twice"));
  EXPECT_THAT(error([](auto& o) { o.runs = 0; }), HasSubstr("runs: must be 1"));
  EXPECT_THAT(error([](auto& o) { o.threads = 0; }), HasSubstr("threads: must be 1"));
  const auto nothing = parse_citation_library("id\tyear\ttopic\na\t1990\tx\n", "citing\tcited\n");
  EXPECT_THAT(to_string(run_growing_library(*nothing, {}, registered).error()),
              HasSubstr("nothing to replay"));
}

TEST(GrowingLibraryExperiment, ReadsAndReplaysCora) {
  const auto folder = shared_data("cora");
  if (!folder) {
    GTEST_SKIP() << "no data set cora (set HINDSIGHT_DATA)";
  }
  const auto library = read_citation_library(*folder);
  ASSERT_TRUE(library.ok()) << to_string(library.error());
  GrowingLibraryOptions options;
  options.rankers = {"noregret-klrank", "random"};
  options.alphas = {};
  const auto result = run_growing_library(*library, options, registered);
  ASSERT_TRUE(result.ok()) << to_string(result.error());
  EXPECT_EQ(result->queries, 26'842U);
  EXPECT_NEAR(result->mean_candidates, 149.386, 0.001);
  EXPECT_NEAR(result->mean_inverse_candidates, 0.01646, 0.00001);
  EXPECT_NEAR(result->rows[0].kl_cost.mean, 4.41, 0.05);
  EXPECT_NEAR(result->rows[1].kl_cost.mean, 4.69, 0.01);
  EXPECT_EQ(result->rows[0].regret.size(), 16U);
}

}  // namespace
}  // namespace hindsight
