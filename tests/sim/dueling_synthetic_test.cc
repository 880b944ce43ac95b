#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>

#include "src/sim/dueling_synthetic_experiment.h"
#include "src/sim/dueling_synthetic_output.h"
#include "src/sim/yue_tables.h"

namespace hindsight {
namespace {

DuelingSyntheticFindings find(DuelingSyntheticOptions options) {
  auto findings = run_dueling_synthetic(options);
  EXPECT_TRUE(findings.ok());
  return *std::move(findings);
}

TEST(DuelingSynthetic, ThreadsDoNotChangeAByte) {
  const auto one = find({.rounds = 500, .runs = 3, .threads = 1});
  const auto three = find({.rounds = 500, .runs = 3, .threads = 3});
  EXPECT_EQ(dueling_synthetic_json(one), dueling_synthetic_json(three));
  EXPECT_EQ(dueling_synthetic_text(one), dueling_synthetic_text(three));
}

TEST(DuelingSynthetic, EveryCellOfTheTableIsThereWithThePapersFigure) {
  std::atomic<std::uint64_t> done = 0;
  DuelingSyntheticOptions options{.rounds = 200, .runs = 2};
  options.progress = [&](std::uint64_t rounds) { done += rounds; };
  const auto findings = find(options);
  EXPECT_EQ(done, total_rounds(options));
  ASSERT_EQ(findings.rows.size(), 35U);  // 25 of Table 1, 5 each of BGD1 and BGD2
  for (std::size_t i = 0; i < 25; ++i) {
    EXPECT_EQ(findings.rows[i].paper, kYueTable1[i / 5][i % 5]);
    EXPECT_EQ(findings.rows[i].delta_l, kYueDeltaFactors[i % 5]);
    EXPECT_EQ(findings.rows[i].curve.size(), i % 5 == 2 ? 100U : 0U);
    EXPECT_TRUE(findings.rows[i].standard_error.has_value());
  }
  const std::string text = dueling_synthetic_text(findings);
  EXPECT_NE(text.find("(0.465)"), std::string::npos);
  EXPECT_NE(text.find("BGD2"), std::string::npos);
  EXPECT_NE(render_html(dueling_synthetic_report(findings)).find("Average regret on P5"),
            std::string::npos);
}

TEST(DuelingSynthetic, RefusesWhatMakesNoSense) {
  EXPECT_EQ(run_dueling_synthetic({.rounds = 50}).error().field, "rounds");
  EXPECT_EQ(run_dueling_synthetic({.rounds = 500, .runs = 0}).error().field, "runs");
  EXPECT_EQ(run_dueling_synthetic({.rounds = 500, .threads = 0}).error().field, "threads");
}

// Table 1 itself, as means of ten runs of a million rounds; minutes, so only in the full tests.
TEST(DuelingSynthetic, Table1IsThePapers) {
  if (std::getenv("HINDSIGHT_FULL") == nullptr) {
    GTEST_SKIP() << "set HINDSIGHT_FULL to run the whole of Table 1";
  }
  const auto findings = find({.runs = 10, .threads = 2});
  for (std::size_t problem = 0; problem < 5; ++problem) {
    std::size_t ours = 0;
    std::size_t theirs = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const DuelingSyntheticRow& row = findings.rows[5 * problem + i];
      // The one cell that an independent program does not reproduce either.
      const double tolerance = problem == 3 && i == 0 ? 0.07 : 0.045;
      EXPECT_NEAR(row.avg_regret, *row.paper, tolerance) << problem << " " << row.delta_l;
      ours = row.avg_regret < findings.rows[5 * problem + ours].avg_regret ? i : ours;
      theirs = *row.paper < *findings.rows[5 * problem + theirs].paper ? i : theirs;
    }
    EXPECT_EQ(ours, theirs);
  }
}

}  // namespace
}  // namespace hindsight
