#include "src/sim/judge.h"

#include <algorithm>
#include <utility>

#include "src/core/check.h"
#include "src/core/regret.h"

namespace hindsight {

std::vector<std::uint64_t> power_of_two_checkpoints(std::uint64_t count) {
  std::vector<std::uint64_t> checkpoints;
  for (std::uint64_t t = 1; t < count; t *= 2) {
    checkpoints.push_back(t);
  }
  if (count > 0) {
    checkpoints.push_back(count);
  }
  return checkpoints;
}

Judge::Judge(std::size_t query_count, std::size_t curve_points)
    : query_count_(query_count),
      curve_points_(std::min(std::max<std::size_t>(curve_points, 1), query_count)) {
  result_.checkpoints = power_of_two_checkpoints(query_count);
  result_.curve.reserve(curve_points_);
}

void Judge::judge(const Decision& decision, ItemIndex pick) {
  const auto shown = decision.shown();
  const auto at = std::find(shown.begin(), shown.end(), pick);
  HINDSIGHT_CHECK(at != shown.end() && shown.size() == decision.items.size());
  const auto place = static_cast<std::size_t>(at - shown.begin());
  // What a ranker does not say earns nothing: its K-L cost is infinite.
  const double prob_first = decision.first_prob(place).value_or(0.0);
  ++t_;
  cost_sum_ += kl_cost(prob_first);
  result_.metrics.add(place + 1, shown.size(), prob_first);
  block_.add(place + 1, shown.size(), prob_first);
  // Block b of B ends with query floor(count * b / B).
  if (t_ == query_count_ * (result_.curve.size() + 1) / curve_points_) {
    result_.curve.push_back(
        {t_, block_.kl_cost.value(), block_.rel_distance.value(), block_.ndcg.value()});
    block_ = {};
  }
}

void Judge::learned(const RegretAccount* account) {
  if (t_ != result_.checkpoints[result_.cost_at.size()]) {
    return;
  }
  result_.cost_at.push_back(cost_sum_);
  if (account != nullptr) {
    result_.regret.push_back(*account);
  }
}

ReplayResult Judge::result() && {
  HINDSIGHT_CHECK(t_ == query_count_);
  return std::move(result_);
}

}  // namespace hindsight
