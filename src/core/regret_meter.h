// RegretMeter: how far a gradient ranker is from the best fixed policy in hindsight ([Delage09] Eq.
// (2)).
//
// The comparator of Eq. (2) is projected on each round's ball and is therefore not convex in theta;
// the meter prints a bracket instead:
//   below  the cost minus that of the best theta of the last ball, each cycle charged at its
//          projection on the cycle's ball: a feasible comparator, so the regret is at least this;
//   above  the sum over cycles of (cost minus the minimum over the cycle's own ball): convex, and
//          what Appendix B bounds.
// Minima come with the solver's certificate, which is added to the upper end.
//
// Thread-safety: none; one owner at a time.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "src/core/newton.h"
#include "src/core/regret.h"

namespace hindsight {

struct RegretBracket {
  std::uint64_t clicks = 0;
  double cost = 0.0;            // of the ranker, when learned
  double served_cost = 0.0;     // of the ranker, as served
  double hindsight_cost = 0.0;  // of the feasible comparator
  double lower = 0.0;
  double upper = 0.0;
  double theorem_bound = 0.0;
  double data_bound = 0.0;
  double certificate = 0.0;  // how far below the solver's values the true minima may lie, in total
  double gap = 0.0;          // the same for the search of the comparator
};

class RegretMeter {
 public:
  /// The total cost of the learned clicks first, ..., last (counted from 1) as a function of the
  /// weights.
  using CostOfRange =
      std::function<std::unique_ptr<ConvexObjective>(std::uint64_t first, std::uint64_t last)>;

  explicit RegretMeter(CostOfRange cost_of_range) : cost_of_range_(std::move(cost_of_range)) {}

  /// Minima over whole cycles are kept between calls: measure in the order of time. REQUIRES:
  /// clicks() > 0
  RegretBracket measure(const RegretAccount& account);

  /// The weights that the last measurement compared with.
  const std::vector<double>& best_theta() const { return last_theta_; }

  /// Called with each line of the solver's progress.
  void on_progress(std::function<void(const NewtonStatus&)> progress) {
    progress_ = std::move(progress);
  }

 private:
  struct Minimum {
    double value = 0.0;
    double gap = 0.0;
  };
  Minimum cycle_minimum(std::size_t cycle, std::uint64_t first, const CycleAccount& account,
                        bool complete);
  double cost_at(std::uint64_t first, std::uint64_t last, std::span<const double> theta);

  CostOfRange cost_of_range_;
  std::function<void(const NewtonStatus&)> progress_;
  std::vector<std::optional<Minimum>> complete_cycles_;
  std::vector<double> last_theta_;  // where the next search starts
};

}  // namespace hindsight
