// Dueling Bandit Gradient Descent: the probe, the step and their sizes ([Yue09] Algorithm 1).
//
//   symbol    here      what it is
//   W         space     where the weights live: a ball of radius R, or the unit sphere
//   P_W       project   the nearest point of W
//   delta     probe     how far away the rival of the current weights is tried
//   gamma     step      how far the weights move towards a rival that won
//   d, T, L             dimensions, comparisons to come, Lipschitz constant of the preferences
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hindsight/result.h"

namespace hindsight {

struct WeightSpace {
  enum class Kind : std::uint8_t { kBall, kSphere };

  Kind kind = Kind::kBall;
  double radius = 1.0;
};

/// w = P_W(w). The origin has no nearest point on the sphere and stays: weights that nobody has
/// moved yet. REQUIRES: finite, radius > 0
void project(const WeightSpace& space, std::span<double> w);

/// out = P_W(w + length * u): Algorithm 1 lines 4 and 7. REQUIRES: equal sizes; out may be w
void move_along(const WeightSpace& space, std::span<const double> w, std::span<const double> u,
                double length, std::span<double> out);

struct DuelSteps {
  double probe = 0.0;  // delta
  double step = 0.0;   // gamma
};

/// [Yue09] Eq. (18): delta = sqrt(2 R d) / (sqrt(13 L) T^(1/4)), gamma = R / sqrt T. The bound
/// holds where delta < L_sigma / (L_v L_2). FAILS: kInvalidArgument (a number that is not positive
/// and finite)
Result<DuelSteps> theorem2_steps(double radius, std::size_t dim, double lipschitz, double rounds);

/// [Yue09] 5.1: delta = T^(-1/4) delta_L sqrt(0.4 R d), gamma = R / sqrt T; the step sizes of
/// Corollary 2 with delta_L in place of the unknown 1 / sqrt L. FAILS: likewise
Result<DuelSteps> section5_steps(double radius, std::size_t dim, double delta_l, double rounds);

/// [Yue09] Theorem 2: the bound 2 lambda_T T^(3/4) sqrt(26 R d L) on the expected regret.
/// L_sigma and L_v are the Lipschitz constants of link and value, L_2 that of the link's slope.
/// FAILS: kInvalidArgument (likewise; T too small for the bound to hold)
Result<double> theorem2_bound(double radius, std::size_t dim, double l_sigma, double l_v,
                              double l_2, double rounds);

}  // namespace hindsight
