#include "src/core/intervals.h"

#include <algorithm>
#include <cmath>

#include "src/core/check.h"

namespace hindsight {

std::optional<Interval> wilson_interval(std::uint64_t successes, std::uint64_t trials, double z) {
  HINDSIGHT_CHECK(successes <= trials);
  if (trials == 0) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double shrink = 1.0 + z * z / n;
  const double centre = (share + z * z / (2.0 * n)) / shrink;
  const double reach = z / shrink * std::sqrt(share * (1.0 - share) / n + z * z / (4.0 * n * n));
  // At the ends the formula gives exactly 0 and 1, but for rounding.
  return Interval{.low = successes == 0 ? 0.0 : std::max(0.0, centre - reach),
                  .high = successes == trials ? 1.0 : std::min(1.0, centre + reach)};
}

std::optional<Interval> mean_interval(std::uint64_t n, double sum, double sum_of_squares,
                                      double z) {
  if (n < 2) {
    return std::nullopt;
  }
  const auto count = static_cast<double>(n);
  const double mean = sum / count;
  const double variance = std::max(0.0, (sum_of_squares - sum * mean) / (count - 1.0));
  const double reach = z * std::sqrt(variance / count);
  return Interval{.low = mean - reach, .high = mean + reach};
}

}  // namespace hindsight
