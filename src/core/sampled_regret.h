// The best fixed policy in hindsight from the learned clicks, all of them or a uniform sample.
//
// Of all clicks the figures are those of RegretMeter, and `error` is the solver's certificate.
//
// Of a sample of k out of T clicks every sum is T/k times that of the sample, with the cost that
// was booked for each click as a control variate: what is estimated is the difference between it
// and the comparator's, which varies less than either. A minimum over a sample is too low, for
// theta is fitted to the very clicks that judge it; a theta that was fitted to one half and is
// judged by the other is too high, for it is not the best one. In expectation the truth lies
// between the two. So `cost` is the latter, crosswise over both halves and with theta shrunk
// towards 0 as far as that is better (few clicks on many items fit noise), and `error` is the
// distance between the two and the 95% reach of the sampling beside it.
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "src/core/choice_objective.h"
#include "src/core/regret.h"

namespace hindsight {

/// Learned clicks, in the order of learning.
struct LearnedChoices {
  std::vector<std::uint64_t> click = {};  // the number of each among all, from 1, ascending
  std::vector<double> learned_cost = {};  // as it was booked
  std::vector<Choice> choice = {};

  std::size_t size() const { return choice.size(); }
};

struct HindsightEstimate {
  double cost = 0.0;          // of the best fixed policy, each click charged at its projection
  double error = 0.0;         // how far off `cost` may be
  double regret_upper = 0.0;  // booked cost minus the sum of each cycle's own minimum
};

/// RETURNS: the weights that the choices use. Items, sparse columns and context terms are
/// renumbered to those that occur: what nobody could choose has weight 0.
ChoiceObjective::Sizes renumber(std::vector<Choice>& choices);

/// `go_on` is asked about every pass over the choices; false ends the work. RETURNS: none where it
/// was ended. REQUIRES: account.clicks() > 0; choices not empty, with numbers up to the account's
std::optional<HindsightEstimate> estimate_hindsight(const RegretAccount& account,
                                                    LearnedChoices choices,
                                                    const std::function<bool()>& go_on);

}  // namespace hindsight
