// Methods of learning orders that keep counts: of every item, how much it was wanted so far. What
// they play is a noisy sort of the counts (src/sim/order_learner.h lists them).
//
// In all of them the chance that u stands before v depends on the difference of their two counts
// alone, which is a whole number: it comes from a table, and the expected position of an item is a
// sum over the others, without a coin and without a sort.
//
// Thread-safety: as OrderLearner.

#pragma once

#include <memory>

#include "src/sim/order_learner.h"

namespace hindsight {

enum class SortProc : std::uint8_t { kPlackettLuce, kQuickSort };

/// OnlineRank. `doubling`: as if the number of rounds was not known; so it is where game.rounds
/// is 0.
std::unique_ptr<OrderLearner> make_online_rank(const OrderGame& game, SortProc sort, bool doubling);

/// Follow the perturbed leader, with noise in [0, 1/eps] or of Gumbel's law.
std::unique_ptr<OrderLearner> make_uniform_leader(const OrderGame& game);
std::unique_ptr<OrderLearner> make_gumbel_leader(const OrderGame& game);

/// RETURNS: 1/eps, the width of the uniform noise.
double uniform_noise_width(const OrderGame& game);

}  // namespace hindsight
