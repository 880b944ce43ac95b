// One run of a click bandit: so many users, one after another, and the regret along the way.
//
// Thread-safety: functions of their arguments.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "src/sim/click_learner.h"
#include "src/sim/click_model.h"

namespace hindsight {

/// The rounds after which the regret is written down, ascending; the last is the number of rounds.
std::vector<std::uint64_t> curve_rounds(std::uint64_t rounds, std::size_t points);

struct ClickPlay {
  std::vector<double> regret = {};  // cumulated, at each of the curve's rounds
  double seconds = 0.0;             // of processor time
};

/// Regret is the expected one of each list, against A* ([Li19] Remark 2). `progress` may be null;
/// it is told rounds that have been played. REQUIRES: curve comes from curve_rounds
ClickPlay play_clicks(const ClickModel& model, ClickLearner& learner,
                      const std::vector<std::uint64_t>& curve, std::uint64_t seed,
                      const std::function<void(std::uint64_t)>& progress);

}  // namespace hindsight
