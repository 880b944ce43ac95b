// What the randomized ranking policies have in common: a drawn list and the checks of their input.
//
// A policy orders n candidates by their scores and shows the first k. Lists hold positions into the
// candidate array, not item ids.
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

/// A list that was drawn: positions into the candidate array, best first.
struct DrawnList {
  std::vector<std::uint32_t> order;
  /// ln of the probability of exactly this list; none where the law has no tractable form.
  std::optional<double> log_propensity;
};

/// FAILS: kEmptyCandidates (no candidates), kInvalidArgument (k = 0, k > candidates, or more
/// candidates than 32 bits can number)
Result<void> check_list_size(std::size_t candidates, std::size_t k);

/// check_list_size, and FAILS: kNotFinite (a score that is NaN or infinite; never repaired)
Result<void> check_scores(std::span<const double> scores, std::size_t k);

}  // namespace hindsight
