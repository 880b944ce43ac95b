// The learning rates of OnlineRank and of the perturbed leader, and what they promise ([Ailon13]
// Theorem 3.1, Corollaries 3.2 and 5.1, section 8).
//
// With scores s_t as feedback, M >= sum over pairs of (s_t(u) - s_t(v))^2 in every round, and
// eta = n sqrt(log 2) / sqrt(T M), the expected loss over T rounds is at most that of the best
// order in hindsight plus n sqrt(T M log 2). The paper asks for eta <= 1; e^-x <= 1 - x + x^2/2
// holds for every x >= 0, so that it is not needed.
//
// Where T is not known it is doubled: the counts are kept, and rounds (2^(m-1), 2^m] use the rate
// of the horizon 2^m. The rate then falls in steps, and the bound is that of a falling rate:
//
//   n^2 log 2 / (2 eta_last) + M/2 * sum of eta_t  <=  1.57 n sqrt(T M log 2)
//
// Follow the perturbed leader [KalaiVempala05] adds to each count a number that is uniform in
// [0, 1/eps], drawn anew in every round. Section 8 of [Ailon13] says to look at it pair by pair:
// whoever leads a pair after a round would have lost at most |noise_u - noise_v| to the best order
// of the two, 1/(3 eps) in expectation, and the round itself turns the pair over with a
// probability of at most eps |s_t(u) - s_t(v)|, for the difference of the noises has a density of
// at most eps. Summed over the pairs and rounds the expected regret is at most
//
//   n (n-1) / (6 eps) + eps T M  =  2 sqrt(n (n-1) T M / 6)   for eps = sqrt(n (n-1) / (6 T M)),
//
// and with a rate that falls in steps, as above, 1.57 times that: the two sums have the same form.
// ([KalaiVempala05] itself charges each round as a whole, which costs a factor of sqrt k more.)
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>

namespace hindsight {

// The M of (2.3) for n items. REQUIRES: n >= 1

/// At most k of the n items are chosen: k (n - k), or n^2/4 where k > n/2. REQUIRES: 1 <= k <= n
double choice_spread(std::uint64_t n, std::uint64_t k);
/// A ranking of all items: n^2 (n^2 - 1) / 12.
double ranking_spread(std::uint64_t n);

/// RETURNS: eta for a horizon of T rounds; 0 where M is 0, for then nothing can be learned.
/// REQUIRES: rounds >= 1, spread >= 0
double online_rank_rate(std::uint64_t n, std::uint64_t rounds, double spread);

/// RETURNS: the horizon of round t when it is doubled: the least power of two that is not below t.
/// REQUIRES: 1 <= round <= 2^62
std::uint64_t doubled_horizon(std::uint64_t round);

/// RETURNS: n sqrt(T M log 2).
double online_rank_bound(std::uint64_t n, std::uint64_t rounds, double spread);

/// The constant of the bounds without a known horizon, beside n sqrt(T M log 2), and beside
/// perturbed_leader_bound.
inline constexpr double kDoublingFactor = 1.57;

/// While a library grows the rate is that of a size that changes seldom: the next power of two.
/// REQUIRES: n <= 2^63
std::uint64_t rate_size(std::uint64_t n);

/// RETURNS: the factor of either bound where the rate is `off` times the one that belongs to it:
/// one half of the bound is divided by it, the other multiplied. REQUIRES: off > 0
double rate_factor(double off, bool horizon_known);

/// RETURNS: eps for a horizon of T rounds, and 2 sqrt(n (n-1) T M / 6); 0 where M is 0.
/// REQUIRES: rounds >= 1, spread >= 0
double perturbed_leader_rate(std::uint64_t n, std::uint64_t rounds, double spread);
double perturbed_leader_bound(std::uint64_t n, std::uint64_t rounds, double spread);

/// RETURNS: 0.003 n^(3/2) sqrt(T k): no method can promise less, for large n and T (Theorem 3.3).
double choice_lower_bound(std::uint64_t n, std::uint64_t rounds, std::uint64_t k);

/// RETURNS: what the expected regret of every method tends to when k of n items are chosen
/// uniformly in each round: half of sqrt(n (n-1) k (n-k) T / pi).
double uniform_choice_regret(std::uint64_t n, std::uint64_t rounds, std::uint64_t k);

}  // namespace hindsight
