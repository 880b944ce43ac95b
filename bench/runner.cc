#include "bench/runner.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <utility>

#include "src/core/check.h"

namespace hindsight::bench {
namespace {

constexpr double kWindowNs = 1e6;  // long against the clock and against a first run on a cold cache
constexpr std::size_t kFewestPairs = 9;
constexpr std::size_t kMostPairs = 2'001;

double cpu_ns() {
  timespec now{};
  HINDSIGHT_CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// One side of a comparison: how often it must run to fill a window, and how long it takes.
class Side {
 public:
  explicit Side(const std::function<double()>& work) : work_(work) {
    time_window();  // the first run warms up
    const double once = time_window();
    repeats_ = static_cast<std::size_t>(std::clamp(kWindowNs / std::max(once, 1.0), 1.0, 1e4));
  }

  /// RETURNS: the time of one run, averaged over a window.
  double time_window() {
    const double begin = cpu_ns();
    for (std::size_t i = 0; i < repeats_; ++i) {
      sink_ = sink_ + work_();
    }
    return (cpu_ns() - begin) / static_cast<double>(repeats_);
  }

 private:
  const std::function<double()>& work_;
  std::size_t repeats_ = 1;
  volatile double sink_ = 0.0;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Result<Row> measure(const Workload& workload, double seconds) {
  const Prepared prepared = workload.prepare();
  const double begin = cpu_ns();
  Side test(prepared.test);
  std::optional<Side> baseline;
  if (!workload.budget_ns) {
    baseline.emplace(prepared.baseline);
  }
  std::vector<double> times;
  std::vector<double> ratios;
  while (times.size() < kFewestPairs ||
         (times.size() < kMostPairs && cpu_ns() - begin < seconds * 1e9)) {
    const double time = test.time_window();
    times.push_back(time);
    ratios.push_back(time / (baseline ? baseline->time_window() : *workload.budget_ns));
  }
  if (const Result<void> verdict = prepared.check(); !verdict.ok()) {
    Error error = verdict.error();
    error.field = workload.name + " at n = " + std::to_string(workload.n);
    return error;
  }
  return Row{workload.name, workload.n, median(times), median(ratios), workload.aim};
}

/// "draw/top10" is itself, "draw" is all of draw/..., and nothing is everything.
bool is_named(const std::string& name, const std::string& filter) {
  return filter.empty() || name == filter || name.starts_with(filter + "/");
}

/// A row for the slope of the rows of one name, from 10^4 on: below, fixed costs hide it.
struct SlopeOf {
  const char* name;
  const char* of;
  std::optional<double> aim;
};

constexpr std::size_t kSlopeFrom = 10'000;

/// The tree's O(log n) must at least be far from linear, cache misses included.
const SlopeOf kSlopes[] = {{"slope/draw", "draw/top10", std::nullopt},
                           {"slope/tree", "tree/top10-click", 0.5},
                           {"slope/onlinerank", "onlinerank/top10-click", 0.2}};

/// By its own name, or for the slope that is fitted to it.
bool is_chosen(const std::string& name, const std::string& filter) {
  return is_named(name, filter) ||
         std::any_of(std::begin(kSlopes), std::end(kSlopes), [&](const SlopeOf& slope) {
           return slope.of == name && is_named(slope.name, filter);
         });
}

std::string all_names() {
  std::vector<std::string> seen;
  std::string names;
  for (const Workload& workload : all_workloads()) {
    if (std::find(seen.begin(), seen.end(), workload.name) == seen.end()) {
      seen.push_back(workload.name);
      names += (names.empty() ? "" : ", ") + workload.name;
    }
  }
  for (const SlopeOf& slope : kSlopes) {
    names += std::string(", ") + slope.name;
  }
  return names;
}

void add_slopes(std::vector<Row>& rows) {
  for (const SlopeOf& slope : kSlopes) {
    std::vector<Row> points;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(points),
                 [&](const Row& r) { return r.name == slope.of && r.n >= kSlopeFrom; });
    if (points.size() >= 3) {
      rows.push_back({slope.name, points.back().n, points.back().ns, fit_slope(points), slope.aim});
    }
  }
}

}  // namespace

double fit_slope(const std::vector<Row>& rows) {
  double mean_x = 0.0;
  double mean_y = 0.0;
  const auto count = static_cast<double>(rows.size());
  for (const Row& row : rows) {
    mean_x += std::log(static_cast<double>(row.n)) / count;
    mean_y += std::log(row.ns) / count;
  }
  double covariance = 0.0;
  double variance = 0.0;
  for (const Row& row : rows) {
    const double dx = std::log(static_cast<double>(row.n)) - mean_x;
    covariance += dx * (std::log(row.ns) - mean_y);
    variance += dx * dx;
  }
  return covariance / variance;
}

Result<std::vector<Row>> run_benchmarks(const RunOptions& options) {
  if (!(options.seconds_per_workload >= 0.0 && options.seconds_per_workload <= 3600.0)) {
    return Error{ErrorCode::kInvalidArgument, "the time for a workload must be 0 to 3600 seconds",
                 "seconds"};
  }
  std::vector<Workload> chosen;
  bool known = false;
  for (Workload& workload : all_workloads()) {
    const bool named = is_chosen(workload.name, options.filter);
    known = known || named;
    if (named && workload.n <= options.max_n) {
      chosen.push_back(std::move(workload));
    }
  }
  if (!known) {
    return Error{ErrorCode::kUnknownName,
                 "there is no benchmark '" + options.filter + "'; there are " + all_names(),
                 "name"};
  }
  if (chosen.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "leaves nothing to measure: all sizes are above " + std::to_string(options.max_n),
                 "max-n"};
  }
  std::vector<Row> rows;
  for (const Workload& workload : chosen) {
    if (options.progress) {
      options.progress(rows.size(), chosen.size(), workload.name);
    }
    HINDSIGHT_ASSIGN_OR_RETURN(Row row, measure(workload, options.seconds_per_workload));
    rows.push_back(std::move(row));
  }
  add_slopes(rows);
  return rows;
}

}  // namespace hindsight::bench
