// Policies that sort by score: all of the list, or all of it but a first slot that is drawn.
//
//   sorted            best score first, equal scores in random order (`greedy-klrank`)
//   first then sort   the first slot by Plackett-Luce's softmax, the rest sorted (`klrank`): the
//   K-L
//                     cost depends on the law of the first slot alone ([Delage09] 3.2)
//
// Every order within a group of equal scores is equally likely. Scores may be any finite numbers;
// 0.0 and -0.0 are equal.
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

/// RETURNS: the k best positions, best first.
/// FAILS: kEmptyCandidates, kInvalidArgument (k = 0 or k > n), kNotFinite
Result<std::vector<std::uint32_t>> sort_with_random_ties(std::span<const double> scores,
                                                         std::size_t k, Rng& rng);

/// RETURNS: one position drawn from the softmax, then the k - 1 best of the others.
/// FAILS: as sort_with_random_ties
Result<std::vector<std::uint32_t>> draw_first_then_sort(std::span<const double> scores,
                                                        std::size_t k, Rng& rng);

/// RETURNS: ln P(the list begins with `order`); -infinity for a list that cannot come out.
/// REQUIRES: finite scores; `order` not empty, distinct positions into `scores`
double log_propensity_sorted(std::span<const double> scores, std::span<const std::uint32_t> order);
double log_propensity_first_then_sort(std::span<const double> scores,
                                      std::span<const std::uint32_t> order);

/// out[i] = P(sort_with_random_ties puts i first): 1 / (size of the best group) in that group, 0
/// elsewhere. The other policy's first slot has first_slot_probs (src/core/plackett_luce.h).
/// REQUIRES: finite scores, not empty, equal sizes
void sorted_first_slot_probs(std::span<const double> scores, std::span<double> out);

}  // namespace hindsight
