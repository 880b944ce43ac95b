// A workload: something that must be fast, and what it is measured against.
//
// Thread-safety: plain values; a prepared workload belongs to one thread.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/result.h"

namespace hindsight::bench {

/// A workload with its data made. Each call of `test` or `baseline` does the work once and returns
/// something that depends on its result, so that no compiler can leave it out.
struct Prepared {
  std::function<double()> test;
  std::function<double()> baseline;  // empty where the workload has a budget
  /// Judges the answers that the calls gave. FAILS: any error: the benchmark is void
  std::function<Result<void>()> check;
};

struct Workload {
  std::string name;
  std::size_t n = 0;
  /// The ratio of the test's time to the baseline's (or to the budget) is to be at most this.
  std::optional<double> aim;
  /// A time that the test is compared with, instead of a baseline that runs beside it.
  std::optional<double> budget_ns;
  std::function<Prepared()> prepare;
};

/// Every workload there is, in the order in which they are run (bench/workloads.cc lists them).
std::vector<Workload> all_workloads();

}  // namespace hindsight::bench
