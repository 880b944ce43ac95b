// Truncated Newton in a ball: the best fixed policy in hindsight ([Delage09] Problem (1), footnote
// 2).
//
// Minimises a smooth convex function over { theta : ||theta|| <= radius }. Each iteration minimises
// the quadratic model over the ball (Hessian-vector products by conjugate gradients; the multiplier
// of the ball by Newton's method on the secular equation), then searches along the way there. It
// ends with a certificate: for any theta in the ball,
//   f(theta) - min f <= g.theta + radius ||g||   (g the gradient; by convexity and Cauchy-Schwarz).
//
// Thread-safety: pure apart from the objective that is passed in.

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace hindsight {

/// A smooth convex function of `dim()` variables.
class ConvexObjective {
 public:
  virtual ~ConvexObjective() = default;
  ConvexObjective(const ConvexObjective&) = delete;
  ConvexObjective& operator=(const ConvexObjective&) = delete;

  virtual std::size_t dim() const = 0;

  /// RETURNS: f(theta). Writes its gradient, and remembers theta for hessian_times.
  virtual double evaluate(std::span<const double> theta, std::span<double> gradient) = 0;

  /// out = H v, H the Hessian at the theta of the last `evaluate`.
  virtual void hessian_times(std::span<const double> v, std::span<double> out) const = 0;

 protected:
  ConvexObjective() = default;
};

struct NewtonParams {
  double radius = 1.0;
  double relative_gap = 1e-7;  // ends when the certified gap is below this share of |f| (or of 1)
  int max_iterations = 60;
  int max_cg_steps = 60;  // per linear system
};

/// One line of progress.
struct NewtonStatus {
  int iteration = 0;
  double value = 0.0;
  double gap = 0.0;
  int hessian_products = 0;
};

struct NewtonResult {
  std::vector<double> theta;
  double value = 0.0;
  double gap = 0.0;  // the minimum is at least value - gap
  int iterations = 0;
  int hessian_products = 0;
  bool converged = false;  // gap reached the wish; otherwise the certificate still holds
};

/// `start` may be empty (0). `progress` may be empty. REQUIRES: radius > 0 and finite; start inside
/// the ball
NewtonResult minimize_in_ball(ConvexObjective& objective, const NewtonParams& params,
                              std::span<const double> start = {},
                              const std::function<void(const NewtonStatus&)>& progress = {});

}  // namespace hindsight
