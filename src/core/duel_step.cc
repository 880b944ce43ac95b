#include "src/core/duel_step.h"

#include <cmath>
#include <initializer_list>
#include <utility>

#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

using Named = std::pair<const char*, double>;

Result<void> check_positive(std::initializer_list<Named> numbers) {
  for (const auto& [name, value] : numbers) {
    if (!(value > 0.0) || !std::isfinite(value)) {
      return Error{ErrorCode::kInvalidArgument, "must be a finite number above 0", name};
    }
  }
  return {};
}

double fourth_root(double x) { return std::sqrt(std::sqrt(x)); }

}  // namespace

void project(const WeightSpace& space, std::span<double> w) {
  const double length2 = dot(w, w);
  const bool sphere = space.kind == WeightSpace::Kind::kSphere;
  if (length2 == 0.0 || (!sphere && length2 <= space.radius * space.radius)) {
    return;
  }
  const double factor = (sphere ? 1.0 : space.radius) / std::sqrt(length2);
  for (double& x : w) {
    x *= factor;
  }
}

void move_along(const WeightSpace& space, std::span<const double> w, std::span<const double> u,
                double length, std::span<double> out) {
  HINDSIGHT_CHECK(w.size() == u.size() && w.size() == out.size());
  for (std::size_t i = 0; i < w.size(); ++i) {
    out[i] = w[i] + length * u[i];
  }
  project(space, out);
}

Result<DuelSteps> theorem2_steps(double radius, std::size_t dim, double lipschitz, double rounds) {
  const auto d = static_cast<double>(dim);
  HINDSIGHT_RETURN_IF_ERROR(check_positive(
      {{"radius", radius}, {"dim", d}, {"lipschitz", lipschitz}, {"rounds", rounds}}));
  return DuelSteps{
      .probe = std::sqrt(2.0 * radius * d) / (std::sqrt(13.0 * lipschitz) * fourth_root(rounds)),
      .step = radius / std::sqrt(rounds)};
}

Result<DuelSteps> section5_steps(double radius, std::size_t dim, double delta_l, double rounds) {
  const auto d = static_cast<double>(dim);
  HINDSIGHT_RETURN_IF_ERROR(
      check_positive({{"radius", radius}, {"dim", d}, {"delta_l", delta_l}, {"rounds", rounds}}));
  return DuelSteps{.probe = delta_l * std::sqrt(0.4 * radius * d) / fourth_root(rounds),
                   .step = radius / std::sqrt(rounds)};
}

Result<double> theorem2_bound(double radius, std::size_t dim, double l_sigma, double l_v,
                              double l_2, double rounds) {
  const auto d = static_cast<double>(dim);
  HINDSIGHT_RETURN_IF_ERROR(check_positive({{"radius", radius},
                                            {"dim", d},
                                            {"l_sigma", l_sigma},
                                            {"l_v", l_v},
                                            {"l_2", l_2},
                                            {"rounds", rounds}}));
  const double lipschitz = l_sigma * l_v;
  const double grows = l_sigma * std::sqrt(13.0 * lipschitz) * fourth_root(rounds);
  const double stays = l_v * l_2 * std::sqrt(2.0 * radius * d);
  if (grows <= stays) {  // Eq. (18)
    return Error{ErrorCode::kInvalidArgument, "too few rounds for the bound to hold", "rounds"};
  }
  const double lambda = grows / (grows - stays);  // Eq. (19)
  return 2.0 * lambda * pow_three_quarters(rounds) * std::sqrt(26.0 * radius * d * lipschitz);
}

}  // namespace hindsight
