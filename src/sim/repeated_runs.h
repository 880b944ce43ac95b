// Many runs of many games on several threads, and the means of what they came to.
//
// Thread-safety: a function of its arguments; games are played on several threads at once.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "src/core/metrics.h"

namespace hindsight {

/// What one run of a game came to.
struct RunOutcome {
  double loss = 0.0;
  double regret = 0.0;
};

/// A game, and how often it is to be played.
struct RepeatedGame {
  std::function<RunOutcome(std::uint64_t seed)> play;
  std::uint32_t runs = 1;
  std::uint64_t cost = 1;  // of a run, in some unit: dear ones begin first
};

/// Over the runs of a game.
struct RunMeans {
  Mean loss;
  Mean regret;
};

/// Plays every game with the seeds seed, seed + 1, ... RETURNS: of each game the means, which are
/// the same for any number of threads. `progress` is called from any thread with the cost of a run
/// that is over; may be empty. REQUIRES: threads >= 1
std::vector<RunMeans> play_repeatedly(const std::vector<RepeatedGame>& games, std::uint64_t seed,
                                      unsigned threads,
                                      const std::function<void(std::uint64_t)>& progress);

/// RETURNS: the cost of all runs: the total for a progress bar.
std::uint64_t total_cost(const std::vector<RepeatedGame>& games);

}  // namespace hindsight
