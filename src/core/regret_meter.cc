#include "src/core/regret_meter.h"

#include <cmath>

#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {

RegretMeter::Minimum RegretMeter::cycle_minimum(std::size_t cycle, std::uint64_t first,
                                                const CycleAccount& account, bool complete) {
  if (complete_cycles_.size() <= cycle) {
    complete_cycles_.resize(cycle + 1);
  }
  if (complete_cycles_[cycle]) {
    return *complete_cycles_[cycle];
  }
  const auto objective = cost_of_range_(first, first + account.clicks - 1);
  const NewtonResult best = minimize_in_ball(*objective, {.radius = account.radius}, {}, progress_);
  const Minimum minimum{best.value, best.gap};
  if (complete) {
    complete_cycles_[cycle] = minimum;
  }
  return minimum;
}

double RegretMeter::cost_at(std::uint64_t first, std::uint64_t last,
                            std::span<const double> theta) {
  const auto objective = cost_of_range_(first, last);
  std::vector<double> gradient(objective->dim());
  return objective->evaluate(theta, gradient);
}

RegretBracket RegretMeter::measure(const RegretAccount& account) {
  HINDSIGHT_CHECK(account.clicks() > 0);
  RegretBracket bracket{.clicks = account.clicks(),
                        .cost = account.learned_cost(),
                        .served_cost = account.served_cost(),
                        .theorem_bound = account.theorem_bound(),
                        .data_bound = account.data_bound()};
  const std::vector<CycleAccount>& cycles = account.cycles();
  const auto whole = cost_of_range_(1, account.clicks());
  last_theta_.resize(whole->dim(), 0.0);
  NewtonResult best =
      minimize_in_ball(*whole, {.radius = cycles.back().radius}, last_theta_, progress_);
  last_theta_ = best.theta;
  bracket.gap = best.gap;

  const double norm = std::sqrt(dot(best.theta, best.theta));
  std::vector<double> projected(best.theta.size());
  std::uint64_t first = 1;
  for (std::size_t m = 0; m < cycles.size(); ++m) {
    const CycleAccount& cycle = cycles[m];
    if (cycle.clicks == 0) {
      continue;
    }
    const double factor = norm > cycle.radius ? cycle.radius / norm : 1.0;
    for (std::size_t i = 0; i < projected.size(); ++i) {
      projected[i] = factor * best.theta[i];
    }
    bracket.hindsight_cost += cost_at(first, first + cycle.clicks - 1, projected);
    const Minimum minimum = cycle_minimum(m, first, cycle, m + 1 < cycles.size());
    bracket.upper += cycle.learned_cost - (minimum.value - minimum.gap);
    bracket.certificate += minimum.gap;
    first += cycle.clicks;
  }
  bracket.lower = bracket.cost - bracket.hindsight_cost;
  return bracket;
}

}  // namespace hindsight
