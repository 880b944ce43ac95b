// Off-policy estimates: what another policy would have earned, from a log that this one did not
// choose (docs/off-policy.md).
//
// Each logged decision brings a weight w, how much likelier the target policy was to do what was
// done than the policy that did it, and a reward r. With n decisions:
//
//   inverse propensity   sum(w r) / n         unbiased; its error grows with the weights
//   self-normalised      sum(w r) / sum(w)    between the smallest and the largest reward; its bias
//                                             vanishes with n
//   effective sample     (sum w)^2 / sum w^2  as many decisions of the target policy's own would
//                                             tell about as much
//
// The intervals are normal ones, from the variance of w r and, for the second, by the delta method.
// Weights are not clipped: a clipped estimate is biased and does not say by how much.
//
// Thread-safety: plain values.

#pragma once

#include <cstdint>
#include <optional>

#include "src/core/metrics.h"

namespace hindsight {

/// A number with its 95% interval.
struct Estimate {
  double value = 0.0;
  /// None of fewer than two decisions; low and high then equal the value.
  std::optional<double> standard_error = {};
  double low = 0.0;
  double high = 0.0;
};

/// RETURNS: value -+ 1.96 standard errors.
Estimate estimate_of(double value, std::optional<double> standard_error);
/// RETURNS: the mean of numbers that were seen.
Estimate estimate_of(const Mean& mean);

/// The largest weight that is taken: its square is still far from overflow.
inline constexpr double kMaxImportanceWeight = 1e100;

/// RETURNS: e^(log_target - log_logged), or none where that is no usable weight: the logged
/// probability is 0, or the ratio is above kMaxImportanceWeight. -infinity is ln 0.
std::optional<double> importance_weight(double log_target, double log_logged);

/// Below this effective sample size a normal interval is not to be trusted.
inline constexpr double kFewEffective = 30.0;
/// A mean weight below this, and below 1 by more than so many standard errors, is no chance: what
/// the target prefers was not tried, and no interval knows about it.
inline constexpr double kLowMeanWeight = 0.9;
inline constexpr double kClearErrors = 4.0;

class OffPolicyEstimator {
 public:
  /// REQUIRES: 0 <= weight <= kMaxImportanceWeight, reward finite
  void add(double weight, double reward);

  std::uint64_t count() const { return logged_.count(); }
  /// Decisions that the target could have made and that earned something.
  std::uint64_t rewarded() const { return rewarded_; }
  double max_weight() const { return max_weight_; }
  /// Its expectation is 1 where the log supports the target.
  double mean_weight() const { return weight_.value(); }
  /// The mean weight is clearly low (see above): the target would often have done what the logging
  /// policy did not do. Weights that are all the same have no error.
  bool misses_choices() const;
  /// 0 where all weights are.
  double effective_sample_size() const;

  /// What the logging policy itself earned.
  Estimate logged() const { return estimate_of(logged_); }
  Estimate inverse_propensity() const { return estimate_of(weighted_); }
  /// None where all weights are 0.
  std::optional<Estimate> self_normalised() const;

 private:
  Mean logged_;    // of r
  Mean weighted_;  // of w r
  Mean weight_;    // of w
  std::uint64_t rewarded_ = 0;
  double max_weight_ = 0.0;
  double weights_ = 0.0;           // sum of w
  double squares_ = 0.0;           // of w^2
  double squares_rewards_ = 0.0;   // of w^2 r
  double squares_rewards2_ = 0.0;  // of w^2 r^2
  double rewards_ = 0.0;           // of w r
};

}  // namespace hindsight
