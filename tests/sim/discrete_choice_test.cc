#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

#include "src/core/choice_rate.h"
#include "src/core/order_loss.h"
#include "src/sim/choice_adversary.h"
#include "src/sim/discrete_choice_experiment.h"
#include "src/sim/discrete_choice_output.h"
#include "src/sim/order_learner.h"

namespace hindsight {
namespace {

DiscreteChoiceOptions small_options() {
  DiscreteChoiceOptions options;
  options.items = {6, 12};
  options.rounds = {50, 200};
  options.ranking_items = {6};
  options.ranking_rounds = {40};
  options.runs = 3;
  return options;
}

TEST(DiscreteChoice, EveryMethodThatFitsMeetsEveryAdversary) {
  const auto result = run_discrete_choice(small_options());
  ASSERT_TRUE(result.ok()) << to_string(result.error());
  // n = 6 has no k = 5; n = 12 has no mw.
  const std::size_t games = 8 + 2 * 7;
  EXPECT_EQ(result->rows.size(), games * choice_adversary_names().size() * 2);
  for (const DiscreteChoiceRow& row : result->rows) {
    EXPECT_LE(row.k, row.n / 2);
    EXPECT_EQ(row.runs, 3U);
    EXPECT_EQ(row.limit.has_value(), row.adversary == "uniform");
    if (row.loss == LossKind::kExpected) {
      EXPECT_LE(row.regret, row.upper_bound * (1.0 + 1e-9)) << row.ranker << ' ' << row.adversary;
    }
    EXPECT_LT(row.lower_bound, row.upper_bound);
  }
  EXPECT_EQ(result->aggregation.size(), 2U * 6U);
  for (const AggregationRow& row : result->aggregation) {
    EXPECT_LE(row.regret, row.upper_bound) << row.ranker << ' ' << row.sequence;
    EXPECT_LE(row.spearman, row.best_spearman + 1e-9);
    EXPECT_LE(std::abs(row.best_spearman), 1.0);
  }
}

TEST(DiscreteChoice, ThreadsDoNotChangeAByte) {
  DiscreteChoiceOptions options = small_options();
  options.adversaries = {"uniform", "zipf"};
  DiscreteChoiceFindings one;
  one.result = *run_discrete_choice(options);
  options.threads = 3;
  std::uint64_t done = 0;
  std::mutex counting;
  options.progress = [&](std::uint64_t work) {
    const std::lock_guard lock(counting);
    done += work;
  };
  DiscreteChoiceFindings three;
  three.result = *run_discrete_choice(options);
  EXPECT_EQ(discrete_choice_json(one), discrete_choice_json(three));
  EXPECT_EQ(discrete_choice_text(one), discrete_choice_text(three));
  EXPECT_EQ(done, discrete_choice_work(options));
}

// The limit law, with all methods at once: T = 2000 n, enough runs for 1% or so.
TEST(DiscreteChoice, TheUniformAdversaryTakesEveryMethodToItsLimit) {
  DiscreteChoiceOptions options;
  options.adversaries = {"uniform"};
  options.items = {30};
  options.choices = {5};
  options.rounds = {12'000};
  options.rankers = {"onlinerank", "onlinerank-quicksort", "fpl-uniform", "fpl-gumbel"};
  options.ranking_items = {};
  options.runs = 60;
  const auto result = run_discrete_choice(options);
  ASSERT_TRUE(result.ok());
  for (const DiscreteChoiceRow& row : result->rows) {
    ASSERT_TRUE(row.near_limit());
    EXPECT_NEAR(row.regret, *row.limit, 4.5 * row.regret_error.value() + 0.005 * *row.limit)
        << row.ranker;
  }
}

TEST(DiscreteChoice, CheapGamesArePlayedMoreOften) {
  DiscreteChoiceOptions options;
  options.adversaries = {"uniform"};
  options.rankers = {"onlinerank", "permelearn"};
  options.items = {6};
  options.choices = {1};
  options.rounds = {2, 3};
  options.ranking_items = {};
  options.effort = 0.01;
  const auto result = run_discrete_choice(options);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->rows.front().runs, 17U);  // a hundredth of 10,000 / 6
  options.effort = 1e-9;
  EXPECT_EQ(run_discrete_choice(options)->rows.front().runs, 3U);
}

TEST(DiscreteChoice, RefusesWhatCannotBePlayed) {
  const auto problem = [](auto change) {
    DiscreteChoiceOptions options = small_options();
    change(options);
    const auto result = run_discrete_choice(options);
    return result.ok() ? std::string("none") : result.error().field;
  };
  EXPECT_EQ(problem([](auto& o) { o.rankers = {"nobody"}; }), "rankers");
  EXPECT_EQ(problem([](auto& o) { o.adversaries = {"nobody"}; }), "adversaries");
  EXPECT_EQ(problem([](auto& o) { o.items = {1}; }), "items");
  EXPECT_EQ(problem([](auto& o) { o.items = {1'000'000}; }), "items");
  EXPECT_EQ(problem([](auto& o) { o.choices = {0}; }), "choices");
  EXPECT_EQ(problem([](auto& o) { o.choices = {7}; }), "items");
  EXPECT_EQ(problem([](auto& o) { o.rounds = {0}; }), "rounds");
  EXPECT_EQ(problem([](auto& o) { o.threads = 0; }), "threads");
  EXPECT_EQ(problem([](auto& o) { o.effort = 0.0; }), "effort");
  EXPECT_EQ(problem([](auto& o) { o.effort = std::nan(""); }), "effort");
}

TEST(DiscreteChoice, TheReportDrawsTheBoundsBesideTheCurves) {
  DiscreteChoiceOptions options = small_options();
  options.adversaries = {"uniform", "worst"};
  DiscreteChoiceFindings findings;
  findings.result = *run_discrete_choice(options);
  findings.times = {{.n = 10'000, .ns = 1'000.0}, {.n = 100'000, .ns = 1'200.0}};
  findings.time_slope = 0.079;
  const Report report = discrete_choice_report(findings);
  ASSERT_EQ(report.sections.size(), 4U);  // two adversaries, rankings, times
  const Chart& chart = report.sections[0].charts.front();
  EXPECT_TRUE(chart.log_x && chart.log_y);
  std::map<std::string, std::vector<double>> lines;
  for (const ChartSeries& series : chart.series) {
    lines[series.name] = series.y;
  }
  const std::vector<double> bound = {online_rank_bound(6, 50, 5.0), online_rank_bound(6, 200, 5.0)};
  EXPECT_EQ(lines.at("Theorem 3.1"), bound);
  EXPECT_EQ(lines.at("limit").size(), 2U);
  EXPECT_EQ(lines.at("onlinerank").size(), 2U);
  EXPECT_EQ(lines.count("lower bound"), 1U);
  EXPECT_NE(report.lead.back().find("n^0.08"), std::string::npos);
  EXPECT_NE(render_html(report).find("The worst adversary"), std::string::npos);
}

TEST(RankingPlay, MallowsRankingsFallByTheirDistance) {
  const auto sequence = *make_ranking_sequence("mallows", 3);
  Rng rng(2);
  std::map<std::vector<std::uint32_t>, int> seen;
  constexpr int kDraws = 60'000;
  for (int i = 0; i < kDraws; ++i) {
    const auto ranking = sequence->next({}, rng);
    ++seen[{ranking.begin(), ranking.end()}];
  }
  const double f = 0.8;
  const double total = (1.0 + f) * (1.0 + f + f * f);
  const std::map<std::vector<std::uint32_t>, int> pairs_turned = {{{0, 1, 2}, 0}, {{1, 0, 2}, 1},
                                                                  {{0, 2, 1}, 1}, {{1, 2, 0}, 2},
                                                                  {{2, 0, 1}, 2}, {{2, 1, 0}, 3}};
  for (const auto& [ranking, turned] : pairs_turned) {
    const double chance = std::pow(f, turned) / total;
    EXPECT_NEAR(seen[ranking], kDraws * chance, 5.0 * std::sqrt(kDraws * chance));
  }
}

TEST(RankingPlay, ReversingTurnsTheConsensusRound) {
  const auto sequence = *make_ranking_sequence("reversing", 4);
  Rng rng(1);
  const std::vector<double> counts = {3.0, 9.0, 1.0, 2.0};
  const auto ranking = sequence->next(counts, rng);
  EXPECT_EQ(std::vector<std::uint32_t>(ranking.begin(), ranking.end()),
            (std::vector<std::uint32_t>{2, 3, 0, 1}));
  EXPECT_EQ(make_ranking_sequence("nobody", 4).error().code, ErrorCode::kUnknownName);
  EXPECT_EQ(make_ranking_sequence("mallows", 0).error().code, ErrorCode::kInvalidArgument);
}

// The loss of one order and one ranking, and Spearman's correlation by its definition.
TEST(RankingPlay, TheLossSaysWhatTheCorrelationIs) {
  std::vector<std::uint32_t> order = {3, 0, 4, 1, 2};
  std::vector<std::uint32_t> rank_of(5);
  std::iota(rank_of.begin(), rank_of.end(), 0U);
  do {
    std::vector<double> scores(5);
    double squares = 0.0;
    for (std::uint32_t place = 0; place < 5; ++place) {
      const double rank = rank_of[order[place]];
      scores[order[place]] = 4.0 - rank;
      squares += (place - rank) * (place - rank);
    }
    EXPECT_NEAR(mean_spearman(3.0 * position_loss(order, scores), 5, 3),
                1.0 - 6.0 * squares / 120.0, 1e-12);
  } while (std::next_permutation(rank_of.begin(), rank_of.end()));
}

}  // namespace
}  // namespace hindsight
