// The exponential race: an exact draw of the first k of n by weight, in one pass over the weights.
//
// Item i finishes at time E_i / w_i, E_i exponential of mean 1; the order of finishing is the
// Plackett-Luce order of the weights (the same law as Gumbel-top-k). Seen as points of a Poisson
// process over weight and time, the weight that lies between two points below a time t is
// exponential of mean 1/t: with the k-th best time so far as t, the race jumps from contender to
// contender and only sums what lies between ([Efraimidis06] A-ExpJ, in exponential
// form). Two additions keep it exact and make it faster:
//   - the first t is guessed from a sample of the weights, so that there are about 2k contenders
//     instead of k(1 + ln(n/k)); if fewer than k items finish before it, the race goes on from
//     there (exponential laws have no memory) with a better guess, and at last with none;
//   - between jumps a block of weights counts as a little more than it weighs; a point in the
//     surplus belongs to no item and is passed over (thinning), so that roundings of the fast sums
//     leave the law untouched.
//
// Thread-safety: pure functions of their arguments; the Rng is the caller's.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"

namespace hindsight {

/// The largest weight that a race accepts: products and sums of weights then stay finite.
inline constexpr double kMaxRaceWeight = 1e200;

/// FAILS: kNotFinite, kInvalidArgument (a negative weight, or one above kMaxRaceWeight)
Result<void> check_weights(std::span<const float> weights);
Result<void> check_weights(std::span<const double> weights);

/// RETURNS: up to k positions in the order of finishing: fewer only if fewer weights are positive.
/// Weights of zero never come out.
/// FAILS: as check_weights, which it includes at no cost of its own; after an error the state of
/// the Rng is unspecified. REQUIRES: k >= 1, n < 2^32
Result<std::vector<std::uint32_t>> race_with_jumps(std::span<const float> weights, std::size_t k,
                                                   Rng& rng);
Result<std::vector<std::uint32_t>> race_with_jumps(std::span<const double> weights, std::size_t k,
                                                   Rng& rng);

/// The same law with a finishing time for every item: for k not much smaller than n.
/// REQUIRES: k >= 1, n < 2^32; weights checked: not negative, finite, at most kMaxRaceWeight
std::vector<std::uint32_t> race_of_all(std::span<const double> weights, std::size_t k, Rng& rng);

}  // namespace hindsight
