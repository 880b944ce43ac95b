#include "src/core/regret.h"

#include <cmath>

#include "src/core/bytes.h"
#include "src/core/check.h"

namespace hindsight {

void RegretAccount::book(const Step& step, double learned_cost, double served_cost,
                         double gradient_norm2) {
  if (cycles_.size() < step.cycle) {
    cycles_.resize(step.cycle);
  }
  CycleAccount& cycle = cycles_[step.cycle - 1];
  last_learned_cost_ = learned_cost;
  if (clicks_ < kMaxCount) {
    ++clicks_;
    ++cycle.clicks;
  }
  cycle.learned_cost += learned_cost;
  cycle.served_cost += served_cost;
  cycle.last_eta = step.eta;
  cycle.radius = step.radius;
  cycle.eta_gradient += step.eta * gradient_norm2;
}

double RegretAccount::learned_cost() const {
  double sum = 0.0;
  for (const CycleAccount& cycle : cycles_) {
    sum += cycle.learned_cost;
  }
  return sum;
}

double RegretAccount::served_cost() const {
  double sum = 0.0;
  for (const CycleAccount& cycle : cycles_) {
    sum += cycle.served_cost;
  }
  return sum;
}

double RegretAccount::data_bound() const {
  double sum = beyond();
  for (const CycleAccount& cycle : cycles_) {
    if (cycle.clicks > 0) {
      const double diameter = 2.0 * cycle.radius;
      sum += diameter * diameter / (2.0 * cycle.last_eta) + 0.5 * cycle.eta_gradient;
    }
  }
  return sum;
}

void RegretAccount::save(ByteWriter& out) const {
  out.put(clicks_);
  out.put(static_cast<std::uint64_t>(cycles_.size()));
  for (const CycleAccount& cycle : cycles_) {
    out.put(cycle.clicks);
    out.put(cycle.learned_cost);
    out.put(cycle.served_cost);
    out.put(cycle.last_eta);
    out.put(cycle.radius);
    out.put(cycle.eta_gradient);
  }
}

Result<void> RegretAccount::load(ByteReader& in) {
  constexpr std::uint64_t kMaxCycles = 64;
  std::uint64_t count = 0;
  std::uint64_t booked = 0;
  in.get(clicks_);
  in.get(count);
  bool sane = in.ok() && count <= kMaxCycles;
  cycles_.clear();
  for (std::uint64_t i = 0; sane && i < count; ++i) {
    CycleAccount cycle;
    in.get(cycle.clicks);
    for (double* value : {&cycle.learned_cost, &cycle.served_cost, &cycle.last_eta, &cycle.radius,
                          &cycle.eta_gradient}) {
      // A served cost may be infinite; nothing may be NaN.
      sane = in.get(*value) && !std::isnan(*value) && sane;
    }
    sane = sane && cycle.clicks <= clicks_;
    booked += cycle.clicks;
    cycles_.push_back(cycle);
  }
  if (!sane || booked != clicks_ || clicks_ > kMaxCount) {
    return Error{ErrorCode::kCorrupt, "the saved account of costs is damaged", "regret"};
  }
  return {};
}

}  // namespace hindsight
