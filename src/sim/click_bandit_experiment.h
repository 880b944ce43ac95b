// The experiments `click-models` and `movielens`: click bandits against users whose clicks follow a
// known model ([Li19] section 5).
//
// Thread-safety: functions of their arguments.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hindsight/result.h"
#include "src/sim/click_model.h"
#include "src/sim/linear_world.h"
#include "src/sim/movielens.h"

namespace hindsight {

/// Items and users of one run.
struct ClickScene {
  LinearWorld world;
  ClickModel model;
};

struct ClickEnvironment {
  std::string name;    // as rows have it
  std::string title;   // for people
  std::string remark;  // what is special about it
  std::uint64_t rounds = 0;
  bool log_scale = false;  // of the curves
  bool stress = false;     // beyond what the paper has
  std::function<Result<ClickScene>(std::uint64_t seed)> make;
};

struct ClickBanditOptions {
  std::vector<std::string> rankers = {};  // empty: all of click_learner_names
  std::uint32_t runs = 10;
  std::uint64_t seed = 1;
  std::uint32_t threads = 1;
  std::size_t curve_points = 100;
  std::function<void(std::uint64_t rounds)> progress = {};
};

/// One ranker in one environment, over all runs.
struct ClickBanditRow {
  std::string environment;
  std::string ranker;
  std::uint64_t rounds = 0;
  std::uint32_t runs = 0;
  double regret_mean = 0.0;
  std::optional<double> regret_se;  // none of a single run
  double regret_least = 0.0;
  double regret_most = 0.0;
  double ns_per_round = 0.0;  // processor time, the user's clicks included
  std::vector<std::uint64_t> curve_rounds;
  std::vector<double> curve_mean;
  std::vector<double> curve_se;
};

/// Cascade and position-based clicks of the paper, and the stress page. With `quick`, a hundredth
/// of the rounds and a tenth of the items.
std::vector<ClickEnvironment> click_model_environments(bool quick);
/// Document-based clicks over movies. The ratings must outlive the environment.
ClickEnvironment movielens_environment(const MovieRatings& ratings, bool quick);

/// RETURNS: rounds that a call of run_click_bandits plays in all.
std::uint64_t total_rounds(const std::vector<ClickEnvironment>& environments,
                           const ClickBanditOptions& options);

/// The same rows for any number of threads, but for the times. Runs have the seeds S, S + 1, ...;
/// all rankers meet the same items and the same users. FAILS: kUnknownName (a ranker),
/// kInvalidArgument (no runs, no threads), as the environments
Result<std::vector<ClickBanditRow>> run_click_bandits(
    const std::vector<ClickEnvironment>& environments, const ClickBanditOptions& options);

}  // namespace hindsight
