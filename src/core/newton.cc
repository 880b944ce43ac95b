#include "src/core/newton.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

using Vector = std::vector<double>;

double length(std::span<const double> x) { return std::sqrt(dot(x, x)); }

// y += a x
void add(double a, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] += a * x[i];
  }
}

void scale_to(Vector& x, double radius) {
  const double norm = length(x);
  if (norm > radius) {
    // A hair inside, so that rounding does not leave the ball.
    const double factor = radius / norm * (1.0 - 1e-15);
    for (double& value : x) {
      value *= factor;
    }
  }
}

class BallNewton {
 public:
  BallNewton(ConvexObjective& objective, const NewtonParams& params)
      : objective_(objective), params_(params), n_(objective.dim()) {}

  NewtonResult run(std::span<const double> start,
                   const std::function<void(const NewtonStatus&)>& progress);

 private:
  double certified_gap(const Vector& theta, const Vector& gradient) const {
    return std::max(0.0, dot(gradient, theta) + params_.radius * length(gradient));
  }
  void solve(const Vector& b, double tolerance, Vector& x);
  Vector minimise_model(const Vector& theta, const Vector& gradient, double tolerance);
  bool search(const Vector& direction, Vector& theta, double& value, Vector& gradient);

  ConvexObjective& objective_;
  NewtonParams params_;
  std::size_t n_;
  double multiplier_ = 0.0;  // of the ball, from the iteration before
  int products_ = 0;
};

// (H + multiplier I) x = b by conjugate gradients from x, until the residual is `tolerance` times
// b.
void BallNewton::solve(const Vector& b, double tolerance, Vector& x) {
  Vector residual(n_);
  Vector product(n_);
  objective_.hessian_times(x, residual);
  ++products_;
  for (std::size_t i = 0; i < n_; ++i) {
    residual[i] = b[i] - (residual[i] + multiplier_ * x[i]);
  }
  Vector direction = residual;
  double squared = dot(residual, residual);
  const double wanted = tolerance * tolerance * dot(b, b);
  for (int step = 0; step < params_.max_cg_steps && squared > wanted; ++step) {
    objective_.hessian_times(direction, product);
    ++products_;
    add(multiplier_, direction, product);
    const double curvature = dot(direction, product);
    if (!(curvature > 1e-300)) {
      return;  // flat: this direction changes nothing
    }
    const double a = squared / curvature;
    add(a, direction, x);
    add(-a, product, residual);
    const double next = dot(residual, residual);
    const double ratio = next / squared;
    squared = next;
    for (std::size_t i = 0; i < n_; ++i) {
      direction[i] = residual[i] + ratio * direction[i];
    }
  }
}

// argmin over the ball of g.z + (z - theta)^T H (z - theta) / 2, roughly: (H + multiplier I) z = H
// theta - g.
Vector BallNewton::minimise_model(const Vector& theta, const Vector& gradient, double tolerance) {
  constexpr int kMultiplierSteps = 6;
  Vector b(n_);
  objective_.hessian_times(theta, b);
  ++products_;
  for (std::size_t i = 0; i < n_; ++i) {
    b[i] -= gradient[i];
  }
  Vector z = theta;
  Vector w(n_, 0.0);
  for (int step = 0; step < kMultiplierSteps; ++step) {
    solve(b, tolerance, z);
    const double norm = length(z);
    const double excess = norm / params_.radius - 1.0;
    const bool interior = multiplier_ <= 0.0 && excess <= 0.0;
    if (interior || std::abs(excess) < 0.1 * tolerance) {
      break;
    }
    // Newton on 1/||z|| = 1/radius: d||z||/d multiplier = -z.(H + multiplier I)^-1 z / ||z||.
    solve(z, 0.1, w);
    const double slope = dot(z, w);
    if (!(slope > 0.0)) {
      break;
    }
    multiplier_ = std::max(0.0, multiplier_ + norm * norm / slope * excess);
  }
  scale_to(z, params_.radius);
  return z;
}

// Armijo backtracking along a direction whose end lies in the ball. RETURNS: whether anything was
// gained.
bool BallNewton::search(const Vector& direction, Vector& theta, double& value, Vector& gradient) {
  constexpr double kSufficient = 1e-4;
  constexpr int kHalvings = 40;
  const double slope = dot(gradient, direction);
  if (!(slope < 0.0)) {
    return false;
  }
  Vector trial(n_);
  Vector trial_gradient(n_);
  double t = 1.0;
  for (int i = 0; i < kHalvings; ++i, t *= 0.5) {
    for (std::size_t j = 0; j < n_; ++j) {
      trial[j] = theta[j] + t * direction[j];
    }
    const double trial_value = objective_.evaluate(trial, trial_gradient);
    if (trial_value <= value + kSufficient * t * slope) {
      const bool gained = trial_value < value;
      theta.swap(trial);
      gradient.swap(trial_gradient);
      value = trial_value;
      return gained;
    }
  }
  objective_.evaluate(theta, gradient);
  return false;
}

NewtonResult BallNewton::run(std::span<const double> start,
                             const std::function<void(const NewtonStatus&)>& progress) {
  NewtonResult result;
  Vector theta(n_, 0.0);
  std::copy(start.begin(), start.end(), theta.begin());
  scale_to(theta, params_.radius);
  Vector gradient(n_);
  double value = objective_.evaluate(theta, gradient);
  double tolerance = 0.1;
  while (true) {
    result.gap = certified_gap(theta, gradient);
    if (progress) {
      progress({result.iterations, value, result.gap, products_});
    }
    result.converged = result.gap <= params_.relative_gap * std::max(1.0, std::abs(value));
    if (result.converged || result.iterations == params_.max_iterations) {
      break;
    }
    Vector direction = minimise_model(theta, gradient, tolerance);
    add(-1.0, theta, direction);
    bool moved = search(direction, theta, value, gradient);
    if (!moved) {
      // The model was solved too roughly: towards the best point of the ball for the linear model.
      const double norm = length(gradient);
      for (std::size_t i = 0; i < n_; ++i) {
        direction[i] = -params_.radius / norm * gradient[i] - theta[i];
      }
      moved = search(direction, theta, value, gradient);
    }
    ++result.iterations;
    tolerance = std::max(1e-10, 0.3 * tolerance);
    if (!moved && tolerance <= 1e-10) {
      result.gap = certified_gap(theta, gradient);
      break;
    }
  }
  result.theta = std::move(theta);
  result.value = value;
  result.hessian_products = products_;
  return result;
}

}  // namespace

NewtonResult minimize_in_ball(ConvexObjective& objective, const NewtonParams& params,
                              std::span<const double> start,
                              const std::function<void(const NewtonStatus&)>& progress) {
  HINDSIGHT_CHECK(params.radius > 0.0 && std::isfinite(params.radius));
  HINDSIGHT_CHECK(start.empty() || start.size() == objective.dim());
  return BallNewton(objective, params).run(start, progress);
}

}  // namespace hindsight
