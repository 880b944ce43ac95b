// Step sizes and balls of the online gradient methods of [Delage09].
//
// symbol  name here        meaning
// t       click            learned clicks so far, the next one included (1, 2, ...)
// m       cycle            t = 2^(m-1) ... 2^m - 1
// k       -                place inside the cycle, 1 ... 2^(m-1)
// alpha   alpha            size of the balls
// F       feature_bound    no feature vector is longer
// D       2 radius         diameter of the ball
// H       curvature        least eigenvalue of the Hessian (OGD)
//
// Thread-safety: pure functions of t.

#pragma once

#include <cstdint>

#include "hindsight/result.h"

namespace hindsight {

enum class StepMethod : std::uint8_t {
  kGper,  // Table 1: cycles of doubling length, balls that grow; no horizon needed
  kGp,    // Theorem 4.2: known horizon T, one ball of radius alpha T^(1/4) / F
  kOgd,   // Proposition 4.1: steps 1/(H t); needs H > 0, which plain e_i never has
};

struct StepParams {
  StepMethod method = StepMethod::kGper;
  double alpha = 3.0;
  double feature_bound = 1.0;
  bool warm_restart = true;   // GPER: keep theta at the start of a cycle, or begin at 0
  std::uint64_t horizon = 0;  // GP and OGD
  double curvature = 0.0;     // OGD
};

struct Step {
  double eta = 0.0;
  double radius = 0.0;
  unsigned cycle = 1;        // 1 throughout for GP and OGD
  bool clear_first = false;  // cold restart: theta <- 0 before this step's cost is taken
};

class StepSchedule {
 public:
  /// FAILS: kInvalidArgument (alpha, F, H, horizon), kUnsupported (OGD over per-item weights)
  static Result<StepSchedule> make(const StepParams& params, bool per_item_weights);

  /// The step of the t-th learned click. REQUIRES: click >= 1
  Step at(std::uint64_t click) const;

  /// The proven bound on the regret after `clicks` learned clicks: Theorem 4.4, Theorem 4.2 or
  /// Proposition 4.1.
  double regret_bound(std::uint64_t clicks) const;

  const StepParams& params() const { return params_; }

 private:
  explicit StepSchedule(const StepParams& params) : params_(params) {}

  StepParams params_;
};

/// [Delage09] Eq. (2): phi(t), the cycle of the t-th click. REQUIRES: click >= 1
unsigned gper_cycle(std::uint64_t click);

/// Radius of the m-th ball, alpha 2^(m/4) / F. REQUIRES: cycle >= 1
double gper_radius(double alpha, double feature_bound, unsigned cycle);

}  // namespace hindsight
