// The Plackett-Luce policy: P(first = i) = w_i / sum w with w_i = e^(s_i), then again among the
// rest. [Delage09] 3.1, [Ailon13] Algorithm 3.
//
// Scores may be any finite numbers: the maximum is subtracted before anything is exponentiated.
// Candidates whose weight then underflows to zero (more than 708 below the best) are drawn after
// all others, among themselves by the same rule; this changes the law by less than 1e-300.
//
// Thread-safety: pure functions of their arguments; the Rng is the caller's.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"
#include "src/core/list_policy.h"

namespace hindsight {

/// Draws the first k of n candidates. RETURNS: k distinct positions, best first.
/// FAILS: kEmptyCandidates, kInvalidArgument (k = 0 or k > n), kNotFinite
Result<std::vector<std::uint32_t>> draw_plackett_luce(std::span<const double> scores, std::size_t k,
                                                      Rng& rng);

/// Draws the first k of n candidates that are given by their weights w_i >= 0 instead of scores.
/// Weights of zero never come out. One pass over the weights (src/core/race.h) where k is small.
/// FAILS: kEmptyCandidates, kInvalidArgument (k = 0, k > n or fewer than k positive weights; a
/// weight that is negative or above 1e200), kNotFinite
Result<std::vector<std::uint32_t>> draw_top_k(std::span<const float> weights, std::size_t k,
                                              Rng& rng);
Result<std::vector<std::uint32_t>> draw_top_k(std::span<const double> weights, std::size_t k,
                                              Rng& rng);

/// The same law by its definition: k sequential draws without replacement, O(kn). For tests.
Result<std::vector<std::uint32_t>> draw_plackett_luce_reference(std::span<const double> scores,
                                                                std::size_t k, Rng& rng);

/// RETURNS: ln P(the list begins with `order`), at most 0; -infinity only where a difference of two
/// scores overflows. REQUIRES: finite scores; `order` not empty, distinct positions into `scores`
double log_propensity_plackett_luce(std::span<const double> scores,
                                    std::span<const std::uint32_t> order);

/// out[i] = P(the list begins with i): the softmax. REQUIRES: finite scores, not empty, equal sizes
void first_slot_probs(std::span<const double> scores, std::span<double> out);

}  // namespace hindsight
