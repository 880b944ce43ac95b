// The randomized QuickSort policy: [Ailon13] Algorithm 2.
//
// A pivot p is chosen uniformly; every other item v goes to its left with probability
// e^(s_v) / (e^(s_v) + e^(s_p)), to its right otherwise; both sides are sorted in the same way. Any
// two items stand in the order of Plackett-Luce's pairwise law ([Ailon13] Lemma 6.1), but the law
// of lists is another one, and the first slot has no closed form.
//
// Thread-safety: pure functions of their arguments; the Rng is the caller's.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"
#include "src/core/list_policy.h"

namespace hindsight {

/// The longest list whose log-propensity is computed: the recursion takes O(n^3) time, some ten
/// milliseconds at this length, and O(n^2) memory.
inline constexpr std::size_t kMaxQuicksortPropensity = 256;

/// Draws a list and keeps its first k; parts that lie behind are not sorted. Expected time
/// O(n + k log n), memory O(n), for any finite scores.
/// FAILS: kEmptyCandidates, kInvalidArgument (k = 0 or k > n), kNotFinite
Result<std::vector<std::uint32_t>> draw_quicksort(std::span<const double> scores, std::size_t k,
                                                  Rng& rng);

/// RETURNS: ln P(the list is `order`); none for a list that is not full, or longer than
/// kMaxQuicksortPropensity. REQUIRES: finite scores; distinct positions into `scores`
std::optional<double> log_propensity_quicksort(std::span<const double> scores,
                                               std::span<const std::uint32_t> order);

}  // namespace hindsight
