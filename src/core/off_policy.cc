#include "src/core/off_policy.h"

#include <algorithm>
#include <cmath>

#include "src/core/check.h"
#include "src/core/intervals.h"

namespace hindsight {

Estimate estimate_of(double value, std::optional<double> standard_error) {
  const double half = kNormal95 * standard_error.value_or(0.0);
  return {
      .value = value, .standard_error = standard_error, .low = value - half, .high = value + half};
}

Estimate estimate_of(const Mean& mean) { return estimate_of(mean.value(), mean.standard_error()); }

std::optional<double> importance_weight(double log_target, double log_logged) {
  if (!std::isfinite(log_logged) || std::isnan(log_target)) {
    return std::nullopt;
  }
  const double weight = std::exp(log_target - log_logged);
  return weight <= kMaxImportanceWeight ? std::optional(weight) : std::nullopt;
}

void OffPolicyEstimator::add(double weight, double reward) {
  HINDSIGHT_CHECK(weight >= 0.0 && weight <= kMaxImportanceWeight && std::isfinite(reward));
  const double earned = weight * reward;
  logged_.add(reward);
  weighted_.add(earned);
  weight_.add(weight);
  rewarded_ += earned != 0.0 ? 1 : 0;
  max_weight_ = std::max(max_weight_, weight);
  weights_ += weight;
  squares_ += weight * weight;
  squares_rewards_ += weight * earned;
  squares_rewards2_ += earned * earned;
  rewards_ += earned;
}

bool OffPolicyEstimator::misses_choices() const {
  const std::optional<double> error = weight_.standard_error();
  return error && mean_weight() < kLowMeanWeight && 1.0 - mean_weight() > kClearErrors * *error;
}

double OffPolicyEstimator::effective_sample_size() const {
  return squares_ > 0.0 ? weights_ * (weights_ / squares_) : 0.0;
}

std::optional<Estimate> OffPolicyEstimator::self_normalised() const {
  if (!(weights_ > 0.0)) {
    return std::nullopt;
  }
  const double value = rewards_ / weights_;
  if (count() < 2) {
    return estimate_of(value, std::nullopt);
  }
  // Delta method: the variance of sum(w r) / sum(w) is about sum(w^2 (r - value)^2) / (sum w)^2.
  const double spread =
      squares_rewards2_ - 2.0 * value * squares_rewards_ + value * value * squares_;
  return estimate_of(value, std::sqrt(std::max(spread, 0.0)) / weights_);
}

}  // namespace hindsight
