#include "src/core/expert_mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"

namespace hindsight {

ExpertMixture::ExpertMixture(std::size_t experts, double share)
    : share_(share), expert_cost_(experts, 0.0), scratch_(experts, 0.0) {
  HINDSIGHT_CHECK(experts > 0 && share >= 0.0 && share < 1.0);
  log_weight_.assign(experts, -det_log(static_cast<double>(experts)));
}

double ExpertMixture::weight(std::size_t expert) const { return det_exp(log_weight_[expert]); }

double ExpertMixture::learn(std::span<const double> costs) {
  HINDSIGHT_CHECK(costs.size() == size());
  for (std::size_t k = 0; k < size(); ++k) {
    log_weight_[k] -= costs[k];
    expert_cost_[k] += costs[k];
  }
  const double log_sum = log_sum_exp(log_weight_, scratch_);
  for (double& log_weight : log_weight_) {
    log_weight -= log_sum;
  }
  if (share_ > 0.0 && size() > 1) {
    const double to_each = share_ / static_cast<double>(size() - 1);
    for (double& log_weight : log_weight_) {
      const double weight = det_exp(log_weight);
      const double shared = (1.0 - share_) * weight + to_each * std::max(0.0, 1.0 - weight);
      // A share too small to be added to a weight too small for a number leaves it as it is.
      if (shared >= std::numeric_limits<double>::min()) {
        log_weight = det_log(shared);
      }
    }
  }
  count_up(rounds_);
  cost_ -= log_sum;
  return -log_sum;
}

double ExpertMixture::cost_bound() const {
  const double best = *std::min_element(expert_cost_.begin(), expert_cost_.end());
  const double later = rounds_ > 0 ? static_cast<double>(rounds_ - 1) : 0.0;
  return best + once_beyond() + later * beyond_per_later_round();
}

double ExpertMixture::once_beyond() const { return det_log(static_cast<double>(size())); }

double ExpertMixture::beyond_per_later_round() const {
  return share_ > 0.0 ? -det_log(1.0 - share_) : 0.0;
}

void ExpertMixture::save(ByteWriter& out) const {
  out.put(log_weight_);
  out.put(expert_cost_);
  out.put(rounds_);
  out.put(cost_);
}

Result<void> ExpertMixture::load(ByteReader& in) {
  const std::size_t experts = size();
  in.get(log_weight_);
  in.get(expert_cost_);
  in.get(rounds_);
  in.get(cost_);
  HINDSIGHT_RETURN_IF_ERROR(in.check("weights of experts"));
  constexpr double kRounding = 1e-9;
  const bool sane = log_weight_.size() == experts && expert_cost_.size() == experts &&
                    all_within(log_weight_, -1e300, kRounding) && all_finite(expert_cost_) &&
                    std::isfinite(cost_) && rounds_ <= kMaxCount &&
                    std::abs(log_sum_exp(log_weight_, scratch_)) <= kRounding;
  if (!sane) {
    return Error{ErrorCode::kCorrupt, "the saved weights of experts are damaged", "experts"};
  }
  return {};
}

}  // namespace hindsight
