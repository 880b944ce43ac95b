#include "src/core/step_schedule.h"

#include <bit>
#include <cmath>

#include "src/core/check.h"
#include "src/core/det_math.h"

namespace hindsight {
namespace {

constexpr double kTwoSqrtTwo = 0x1.6a09e667f3bcdp+1;

bool positive(double x) { return std::isfinite(x) && x > 0.0; }

}  // namespace

unsigned gper_cycle(std::uint64_t click) {
  HINDSIGHT_CHECK(click >= 1);
  return static_cast<unsigned>(std::bit_width(click));
}

double gper_radius(double alpha, double feature_bound, unsigned cycle) {
  return alpha * pow2_quarters(cycle) / feature_bound;
}

Result<StepSchedule> StepSchedule::make(const StepParams& params, bool per_item_weights) {
  if (!positive(params.alpha)) {
    return Error{ErrorCode::kInvalidArgument, "must be a positive, finite number", "alpha"};
  }
  if (!positive(params.feature_bound)) {
    return Error{ErrorCode::kInvalidArgument, "must be a positive, finite number", "feature_bound"};
  }
  if (params.method != StepMethod::kGper && params.horizon == 0) {
    return Error{ErrorCode::kInvalidArgument,
                 "this method needs the number of clicks to come; give it, or use gper", "horizon"};
  }
  if (params.method == StepMethod::kOgd) {
    if (per_item_weights) {
      // By shift invariance and absent items, H is exactly 0 for Phi = e_i.
      return Error{ErrorCode::kUnsupported,
                   "OGD needs a positive curvature, which per-item weights never have; use gper or "
                   "phi=features",
                   "optimiser"};
    }
    if (!positive(params.curvature)) {
      return Error{ErrorCode::kInvalidArgument,
                   "OGD needs the declared least curvature H > 0 of the cost", "curvature"};
    }
  }
  return StepSchedule(params);
}

Step StepSchedule::at(std::uint64_t click) const {
  HINDSIGHT_CHECK(click >= 1);
  Step step;
  if (params_.method == StepMethod::kGper) {
    step.cycle = gper_cycle(click);
    const std::uint64_t first = std::uint64_t{1} << (step.cycle - 1);
    const std::uint64_t k = click - first + 1;
    step.radius = gper_radius(params_.alpha, params_.feature_bound, step.cycle);
    // [Delage09] Table 1: D_m / (2 sqrt(2) F_m) k^(-1/2). Printed with a plus sign before the
    // gradient; the cost is minimised, so the step goes against it (BallWeights::step subtracts).
    step.eta = 2.0 * step.radius / (kTwoSqrtTwo * params_.feature_bound) /
               std::sqrt(static_cast<double>(k));
    step.clear_first = !params_.warm_restart && k == 1;
    return step;
  }
  // [Delage09] Practical Example, part 2: r = alpha T^(1/4).
  step.radius = params_.alpha * std::sqrt(std::sqrt(static_cast<double>(params_.horizon))) /
                params_.feature_bound;
  const double t = static_cast<double>(click);
  step.eta = params_.method == StepMethod::kGp
                 ? 2.0 * step.radius / (kTwoSqrtTwo * params_.feature_bound) / std::sqrt(t)
                 : 1.0 / (params_.curvature * t);
  return step;
}

double StepSchedule::regret_bound(std::uint64_t clicks) const {
  const double t = static_cast<double>(clicks);
  const double k = 2.0 * params_.alpha;  // D_m F_m = K 2^(m/4)
  switch (params_.method) {
    case StepMethod::kGper:
      return 10.0 * k * (pow_three_quarters(t) + 1.0);  // Theorem 4.4
    case StepMethod::kGp: {
      // Theorem 4.2's proof at any t up to the horizon: 2 sqrt(2) D F sqrt(t).
      const double horizon_root = std::sqrt(std::sqrt(static_cast<double>(params_.horizon)));
      return kTwoSqrtTwo * k * horizon_root * std::sqrt(t);
    }
    case StepMethod::kOgd: {
      const double g = 2.0 * params_.feature_bound;
      return clicks == 0 ? 0.0 : g * g / (2.0 * params_.curvature) * (1.0 + det_log(t));
    }
  }
  return 0.0;
}

}  // namespace hindsight
