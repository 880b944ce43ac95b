// Replays a stream of queries through a ranker, as [Delage09] section 5 does.
//
// Every query shows the whole candidate set (k = n), is judged by where the picked item stands and
// by how likely it was to stand first, and is learned at once. Query t (from 1) has decision id
// {0, t}, time t seconds, and the random numbers of Rng::for_decision(seed, id): a run depends on
// the stream, the ranker and the seed alone.
//
// Thread-safety: a function of its arguments; runs on different rankers may share a stream.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "hindsight/ranker.h"
#include "hindsight/result.h"
#include "src/sim/growing_library.h"
#include "src/sim/judge.h"

namespace hindsight {

struct ReplayOptions {
  std::uint64_t seed = 1;
  std::size_t max_queries = std::numeric_limits<std::size_t>::max();
  std::size_t curve_points = 200;  // blocks of equal length
  /// Called now and then with the number of queries done since the last call; may be empty.
  std::function<void(std::uint64_t)> progress;
};

/// REQUIRES: the ranker is empty. FAILS: as the ranker's functions
Result<ReplayResult> replay(const LibraryStream& stream, Ranker& ranker,
                            const ReplayOptions& options);

}  // namespace hindsight
