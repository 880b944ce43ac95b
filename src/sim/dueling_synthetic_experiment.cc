#include "src/sim/dueling_synthetic_experiment.h"

#include <algorithm>

#include "src/core/check.h"
#include "src/core/metrics.h"
#include "src/sim/parallel.h"
#include "src/sim/yue_tables.h"

namespace hindsight {
namespace {

constexpr double kCurveFactor = 1.0;  // Figure 2
constexpr std::size_t kCurvePoints = 100;

std::vector<DuelingSyntheticRow> empty_rows() {
  std::vector<DuelingSyntheticRow> rows;
  for (std::size_t p = 0; p < std::size(kDuelProblems); ++p) {
    for (std::size_t i = 0; i < kYueDeltaFactors.size(); ++i) {
      rows.push_back(
          {.problem = kDuelProblems[p], .delta_l = kYueDeltaFactors[i], .paper = kYueTable1[p][i]});
    }
  }
  for (const DuelMethod method : {DuelMethod::kBgd1, DuelMethod::kBgd2}) {
    for (const DuelProblem problem : kDuelProblems) {
      rows.push_back({.problem = problem, .method = method, .delta_l = kCurveFactor});
    }
  }
  return rows;
}

void summarise(const DuelRun* runs, std::uint32_t count, DuelingSyntheticRow& row) {
  Mean mean;
  row.curve.assign(runs[0].curve.size(), 0.0);
  for (std::uint32_t i = 0; i < count; ++i) {
    mean.add(runs[i].avg_regret);
    for (std::size_t j = 0; j < row.curve.size(); ++j) {
      row.curve[j] += runs[i].curve[j] / count;
    }
  }
  row.avg_regret = mean.value();
  row.standard_error = mean.standard_error();
}

}  // namespace

std::uint64_t total_rounds(const DuelingSyntheticOptions& options) {
  return options.rounds * options.runs * empty_rows().size();
}

Result<DuelingSyntheticFindings> run_dueling_synthetic(const DuelingSyntheticOptions& options) {
  HINDSIGHT_RETURN_IF_ERROR(check_runs_and_threads(options.runs, options.threads));
  if (options.rounds < kCurvePoints) {
    return Error{ErrorCode::kInvalidArgument, "must be at least " + std::to_string(kCurvePoints),
                 "rounds"};
  }
  DuelingSyntheticFindings findings{
      .seed = options.seed, .rounds = options.rounds, .runs = options.runs, .rows = empty_rows()};
  std::vector<DuelRun> runs(findings.rows.size() * options.runs);
  run_jobs(runs.size(), options.threads, [&](std::size_t job) {
    const std::size_t cell = job / options.runs;
    const DuelingSyntheticRow& row = findings.rows[cell];
    const DuelRunParams params{.problem = row.problem,
                               .method = row.method,
                               .delta_l = row.delta_l,
                               .rounds = options.rounds,
                               .seed = options.seed + job % options.runs,
                               .stream = cell,
                               .curve_points = row.delta_l == kCurveFactor ? kCurvePoints : 0};
    Result<DuelRun> run = run_duels(params, options.progress);
    HINDSIGHT_CHECK(run.ok());
    runs[job] = *std::move(run);
  });
  for (std::size_t cell = 0; cell < findings.rows.size(); ++cell) {
    summarise(runs.data() + cell * options.runs, options.runs, findings.rows[cell]);
  }
  return findings;
}

}  // namespace hindsight
