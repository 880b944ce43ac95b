// Confidence intervals of what was counted: shares and means.
//
// Thread-safety: pure functions.

#pragma once

#include <cstdint>
#include <optional>

namespace hindsight {

/// Standard deviations of a normal law to either side that hold 95% of it.
inline constexpr double kNormal95 = 1.959963984540054;

struct Interval {
  double low = 0.0;
  double high = 0.0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Wilson's score interval of a share (E. B. Wilson, JASA 22, 1927): always within [0, 1], and of
/// use for few trials and for shares near 0 and 1, too. RETURNS: none of no trials.
/// REQUIRES: successes <= trials
std::optional<Interval> wilson_interval(std::uint64_t successes, std::uint64_t trials,
                                        double z = kNormal95);

/// The normal interval of a mean, from the sums of n numbers and of their squares.
/// RETURNS: none of fewer than two numbers.
std::optional<Interval> mean_interval(std::uint64_t n, double sum, double sum_of_squares,
                                      double z = kNormal95);

}  // namespace hindsight
