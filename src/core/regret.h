// RegretAccount: what a gradient ranker has paid, click by click, and what its theory allows it to
// pay.
//
// Three sums are kept apart. `learned_cost` is the cost under the law held when the click was
// *learned*: the bounds hold for it. `served_cost` is the cost under the law that was *served*:
// with late clicks an adversary can make it arbitrarily worse, so no bound stands beside it. The
// data-dependent bound uses the steps and gradients that really occurred ([Delage09] Theorem 4.2's
// proof, summed over cycles as in Appendix B).
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstdint>
#include <vector>

#include "hindsight/result.h"
#include "src/core/step_schedule.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

/// One cycle of GPER (or the only one of GP and OGD).
struct CycleAccount {
  std::uint64_t clicks = 0;
  double learned_cost = 0.0;
  double served_cost = 0.0;
  double last_eta = 0.0;
  double radius = 0.0;
  double eta_gradient = 0.0;  // sum of eta ||g||^2
};

class RegretAccount {
 public:
  /// What a ranker may pay above the gradient method of the schedule, added to both bounds.
  struct Beyond {
    double once = 0.0;
    double per_later_click = 0.0;  // for each one but the first
  };

  explicit RegretAccount(const StepSchedule& schedule) : RegretAccount(schedule, Beyond()) {}
  RegretAccount(const StepSchedule& schedule, Beyond beyond)
      : schedule_(schedule), beyond_(beyond) {}

  /// The step that the next learned click takes.
  Step next_step() const { return schedule_.at(clicks() + 1); }

  /// Books one learned click. REQUIRES: step is next_step()
  void book(const Step& step, double learned_cost, double served_cost, double gradient_norm2);

  std::uint64_t clicks() const { return clicks_; }
  double learned_cost() const;
  double served_cost() const;
  /// Of the click that was booked last; 0 after loading.
  double last_learned_cost() const { return last_learned_cost_; }
  const std::vector<CycleAccount>& cycles() const { return cycles_; }

  /// Theorem 4.4: 10 K (T^(3/4) + 1), K = 2 alpha (or the bound of the method in use).
  double theorem_bound() const { return schedule_.regret_bound(clicks_) + beyond(); }
  /// sum over cycles of D^2 / (2 eta_last) + 1/2 sum eta ||g||^2.
  double data_bound() const;
  const StepSchedule& schedule() const { return schedule_; }

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt
  Result<void> load(ByteReader& in);

 private:
  double beyond() const {
    return beyond_.once +
           beyond_.per_later_click * static_cast<double>(clicks_ > 0 ? clicks_ - 1 : 0);
  }

  StepSchedule schedule_;
  Beyond beyond_;
  std::uint64_t clicks_ = 0;
  double last_learned_cost_ = 0.0;
  std::vector<CycleAccount> cycles_;
};

}  // namespace hindsight
