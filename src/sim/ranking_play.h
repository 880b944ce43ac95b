// Rank aggregation as a game ([Ailon13] section 5): in each round a method plays an order, then a
// ranking of all items comes, and the order pays by how far it is from it (Spearman).
//
//   mallows     rankings around one order: the chance falls by a factor for each pair of items that
//               stands the other way round
//   reversing   the reverse of what the rankings so far would have at the front: what a method that
//               follows them shows, turned round
//
// Thread-safety: functions of their arguments; a RankingSequence has one owner at a time.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"
#include "src/sim/order_learner.h"
#include "src/sim/repeated_runs.h"

namespace hindsight {

class RankingSequence {
 public:
  virtual ~RankingSequence() = default;
  RankingSequence(const RankingSequence&) = delete;
  RankingSequence& operator=(const RankingSequence&) = delete;

  /// RETURNS: the ranking of this round, best first, until the next call. `counts`: how much each
  /// item was wanted so far, n - 1 for a first place and 0 for a last.
  virtual std::span<const std::uint32_t> next(std::span<const double> counts, Rng& rng) = 0;

 protected:
  RankingSequence() = default;
};

std::span<const std::string_view> ranking_sequence_names();

/// FAILS: kUnknownName, kInvalidArgument (no items)
Result<std::unique_ptr<RankingSequence>> make_ranking_sequence(std::string_view name,
                                                               std::uint32_t items);

/// Plays a method on a sequence, with expected losses. The loss of a round is the sum over items of
/// their position times (n - 1 - their rank).
RunOutcome play_ranking_game(OrderLearner& learner, RankingSequence& sequence, std::uint32_t items,
                             std::uint64_t rounds, std::uint64_t seed);

/// RETURNS: the mean of Spearman's correlation over the rounds of a game with this loss.
/// REQUIRES: items >= 2, rounds >= 1
double mean_spearman(double loss, std::uint32_t items, std::uint64_t rounds);

}  // namespace hindsight
