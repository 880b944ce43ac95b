// The experiment `dueling-synthetic`: [Yue09] Table 1 and the curves of its Figure 2.
//
// Every cell of the table is the mean of independent runs; cells and runs go to threads, each with
// random numbers of its own, so that any number of threads gives the same figures.
//
// Thread-safety: functions of their arguments.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/sim/duel_world.h"

namespace hindsight {

struct DuelingSyntheticOptions {
  std::uint64_t rounds = 1'000'000;  // the paper does not print T; this reproduces its table
  std::uint32_t runs = 1;
  std::uint64_t seed = 1;
  unsigned threads = 1;
  /// Rounds that are done, from any thread. May be empty.
  std::function<void(std::uint64_t)> progress = {};
};

/// One problem, one method, one factor of delta.
struct DuelingSyntheticRow {
  DuelProblem problem = DuelProblem::kP1;
  DuelMethod method = DuelMethod::kDbgd;
  double delta_l = 0.0;
  double avg_regret = 0.0;  // mean of the runs
  std::optional<double> standard_error = {};
  std::optional<double> paper = {};  // Table 1
  std::vector<double> curve = {};    // mean of the runs; delta_l = 1 only
};

struct DuelingSyntheticFindings {
  std::uint64_t seed = 0;
  std::uint64_t rounds = 0;
  std::uint32_t runs = 0;
  std::vector<DuelingSyntheticRow> rows;  // DBGD's table, row after row, then BGD1 and BGD2
};

/// RETURNS: the rounds that will be reported as progress.
std::uint64_t total_rounds(const DuelingSyntheticOptions& options);

/// FAILS: kInvalidArgument (no rounds, no runs)
Result<DuelingSyntheticFindings> run_dueling_synthetic(const DuelingSyntheticOptions& options);

}  // namespace hindsight
