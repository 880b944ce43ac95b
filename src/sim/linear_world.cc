#include "src/sim/linear_world.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

constexpr double kRounding = 1e-12;

std::vector<double> gaussian(std::size_t size, Rng& rng) {
  std::vector<double> x(size);
  for (double& value : x) {
    value = rng.normal();
  }
  return x;
}

}  // namespace

Result<std::vector<double>> to_unit_with_constant(std::span<const double> x) {
  if (!all_finite(x)) {
    return Error{ErrorCode::kNotFinite, "features must be finite numbers", "features"};
  }
  const double length = std::sqrt(dot(x, x));
  if (!(length > 0.0) || !std::isfinite(length)) {
    return Error{ErrorCode::kInvalidArgument, "a vector of zeros has no direction", "features"};
  }
  std::vector<double> out(x.begin(), x.end());
  for (double& value : out) {
    value /= std::sqrt(2.0) * length;
  }
  out.push_back(std::sqrt(0.5));
  return out;
}

Result<LinearWorld> make_linear_world(std::size_t items, std::size_t dim, Rng& rng) {
  if (items == 0 || dim < 2) {
    return Error{ErrorCode::kInvalidArgument, "there must be items, of at least 2 dimensions",
                 items == 0 ? "items" : "dim"};
  }
  HINDSIGHT_ASSIGN_OR_RETURN(std::vector<double> theta,
                             to_unit_with_constant(gaussian(dim - 1, rng)));
  std::vector<double> features;
  features.reserve(items * dim);
  for (std::size_t i = 0; i < items; ++i) {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<double> row,
                               to_unit_with_constant(gaussian(dim - 1, rng)));
    features.insert(features.end(), row.begin(), row.end());
  }
  return make_linear_world(dim, std::move(features), std::move(theta));
}

Result<LinearWorld> make_linear_world(std::size_t dim, std::vector<double> features,
                                      std::vector<double> theta) {
  if (dim == 0 || theta.size() != dim || features.empty() || features.size() % dim != 0) {
    return Error{ErrorCode::kInvalidArgument,
                 "every item and theta need the same number of features, at least 1", "dim"};
  }
  const std::size_t items = features.size() / dim;
  LinearWorld world{.items = items,
                    .dim = dim,
                    .features = std::move(features),
                    .theta = std::move(theta),
                    .attraction = {}};
  if (!all_finite(world.features) || !all_finite(world.theta)) {
    return Error{ErrorCode::kNotFinite, "features must be finite numbers", "features"};
  }
  for (std::size_t i = 0; i < world.items; ++i) {
    const std::span<const double> row = std::span(world.features).subspan(i * dim, dim);
    const std::string field = "features[" + std::to_string(i) + "]";
    if (dot(row, row) == 0.0) {
      return Error{ErrorCode::kInvalidArgument, "a vector of zeros says nothing of an item", field};
    }
    const double alpha = dot(row, world.theta);
    if (alpha < -kRounding || alpha > 1.0 + kRounding) {
      return Error{ErrorCode::kInvalidArgument, "the attractiveness must lie in [0, 1]", field};
    }
    world.attraction.push_back(std::clamp(alpha, 0.0, 1.0));
  }
  return world;
}

}  // namespace hindsight
