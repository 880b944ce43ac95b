// Runs workloads and takes ratios that survive a noisy machine.
//
// Test and baseline run in turns within one run; what counts is the median of the ratios of
// neighbours, in CPU time of the thread, so that neither other programs nor a clock that changes
// its pace favour one side.
//
// Thread-safety: one run at a time makes sense.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/workload.h"
#include "hindsight/result.h"

namespace hindsight::bench {

struct Row {
  std::string name;
  std::size_t n = 0;
  double ns = 0.0;              // median time of the test, once
  std::optional<double> ratio;  // to the baseline, or to the budget; a slope in rows of slopes
  std::optional<double> aim;    // the ratio is to be at most this
  bool met() const { return !aim || (ratio && *ratio <= *aim); }
};

struct RunOptions {
  std::string filter;                 // a name, or its part before a slash; empty: all
  std::size_t max_n = 10'000'000;     // leaves out larger workloads
  double seconds_per_workload = 0.5;  // CPU time to spend on one, at least
  /// Called before each workload with how many are done, how many there are, and its name.
  std::function<void(std::size_t done, std::size_t all, const std::string& name)> progress;
};

/// RETURNS: a row per workload, and the slopes of those that ran at three sizes or more.
/// FAILS: kUnknownName (nothing has such a name), kInvalidArgument (seconds out of range; nothing
/// is as small as max_n), kCorrupt (a wrong answer)
Result<std::vector<Row>> run_benchmarks(const RunOptions& options);

/// RETURNS: the exponent b of the least-squares fit ns = a n^b. REQUIRES: two different n at least
double fit_slope(const std::vector<Row>& rows);

}  // namespace hindsight::bench
