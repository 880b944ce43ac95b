// The experiment `growing-library`: [Delage09] section 5 on any library.
//
// The citing paper is the session, its topic the group, and what papers in the library cite are
// links between items. Rankers see of these what their row's `information` says.
//
// Every ranker replays the whole stream (src/sim/replay.h), the gradient rankers once for each
// alpha; each several times with seeds of their own. Runs are independent and go to several
// threads; the outcome is the same for any number of them.
//
// Regret is measured where the loss learned is the K-L cost itself (noregret-klrank, klrank,
// greedy-klrank). Since every replay shows the whole candidate set, these three learn the same
// weights whatever they draw, and one measurement per alpha serves them all.
//
// Thread-safety: functions of their arguments. The factory is called from several threads at once.

#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/ranker.h"
#include "hindsight/registry.h"
#include "hindsight/result.h"
#include "src/core/regret_meter.h"
#include "src/sim/adversary.h"
#include "src/sim/growing_library.h"
#include "src/sim/judge.h"

namespace hindsight {

using RankerFactory =
    std::function<Result<std::unique_ptr<Ranker>>(const std::string& name, const ParamMap& params)>;

/// How the experiment treats a ranker.
struct RankerPlan {
  std::string name;                      // of the row
  std::optional<double> headline_alpha;  // none: it has no alpha
  bool learns_kl_cost = false;           // its regret is that of [Delage09] Eq. (2)
  std::string ranker = {};               // of the registry; empty: the row's name
  ParamMap params = {};                  // beside alpha and choice_set
  /// What it sees beside the candidates. Rows that see more are not to be compared silently with
  /// those that see less.
  std::string information = "picks";
};

/// The rankers of [Delage09] Table 2 and `klrank`, then those that look at more than single picks,
/// in the order of our tables.
std::span<const RankerPlan> growing_library_plan();

struct GrowingLibraryOptions {
  std::vector<std::string> rankers;              // empty: all of the plan
  std::vector<double> alphas = {0.3, 1, 3, 10};  // tried beside the headline's
  bool alphas_given = false;                     // only these; the first is the headline's if its
                                                 // own is not among them
  std::uint32_t runs = 1;                        // seeds: seed, seed + 1, ...
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;
  std::size_t max_queries = std::numeric_limits<std::size_t>::max();
  AdversaryParams adversary;
  /// Called from any thread with the number of queries done since the last call; may be empty.
  std::function<void(std::uint64_t)> progress;
  /// Called from any thread after each iteration of the search for the best policy in hindsight of
  /// a row with this alpha; may be empty.
  std::function<void(double alpha, const NewtonStatus&)> solver_progress;
};

/// A mean over the queries of all runs.
struct Measure {
  double mean = 0.0;
  std::optional<double> run_error;    // standard error over runs; none of a single run
  std::optional<double> query_error;  // standard error over the queries of the first run
};

/// One line of the table: a ranker, and the alpha it used.
struct GrowingLibraryRow {
  std::string ranker;
  std::string information;
  std::optional<double> alpha;
  bool headline = false;  // in the table; the others belong to the sweep over alpha
  Measure kl_cost;
  Measure rel_distance;
  Measure first_rate;
  Measure ndcg;
  std::vector<JudgedPoint> curve;  // means over the runs
  /// At powers of two for the headline's alpha, at the end only for the others; empty where the
  /// ranker does not learn the K-L cost. Where the ball is too large for the search, lower, upper,
  /// hindsight_cost and certificate are NaN and a note says so.
  std::vector<RegretBracket> regret;
};

struct GrowingLibraryResult {
  std::string dataset;
  std::size_t papers = 0;
  std::size_t topics = 0;
  std::size_t queries = 0;               // replayed
  double mean_candidates = 0.0;          // per query
  double mean_inverse_candidates = 0.0;  // what Random's first rate is, on average
  std::uint64_t not_yet_there = 0;
  LibraryCounts counts;
  std::vector<GrowingLibraryRow> rows;  // the headline's first
  std::vector<std::string> notes;       // what was left out, and why
};

/// REQUIRES: the library is consistent (growing_library.h). FAILS: kInvalidArgument (runs, threads,
/// alphas), kUnknownName (rankers), or as the rankers' functions
Result<GrowingLibraryResult> run_growing_library(const GrowingLibrary& library,
                                                 const GrowingLibraryOptions& options,
                                                 const RankerFactory& factory);

/// Every ranker, with its headline's alpha, against the adversary of Remark 3.1; without regret.
/// FAILS: as run_growing_library
Result<std::vector<GrowingLibraryRow>> run_adversary(const GrowingLibraryOptions& options,
                                                     const RankerFactory& factory);

/// RETURNS: how many queries a run of all rows will replay: the total for a progress bar.
std::uint64_t total_queries(const GrowingLibrary& library, const GrowingLibraryOptions& options);

}  // namespace hindsight
