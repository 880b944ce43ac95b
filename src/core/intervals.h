// Constants of confidence intervals.
//
// Thread-safety: constants.

#pragma once

namespace hindsight {

/// The 97.5% quantile of the standard normal law: value -+ this many standard errors is a 95%
/// interval.
inline constexpr double kNormal95 = 1.959963984540054;

}  // namespace hindsight
