// What the experiment `discrete-choice` found, for people (text, HTML) and programs (JSON).
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/sim/discrete_choice_experiment.h"
#include "src/sim/report.h"

namespace hindsight {

/// The time of a round on a library of n items.
struct RoundTime {
  std::uint64_t n = 0;
  double ns = 0.0;
};

struct DiscreteChoiceFindings {
  std::uint64_t seed = 0;
  bool quick = false;
  DiscreteChoiceResult result;
  std::vector<RoundTime> times;      // of a top-10 list and a click; empty: not measured
  std::optional<double> time_slope;  // the exponent of n in them, from 10^4 on
};

/// Tables for a terminal: the headline's rows, rank aggregation, times; and what they say.
std::string discrete_choice_text(const DiscreteChoiceFindings& findings);

/// {"experiment":"discrete-choice", "seed":…, "rows":[{…}], …};
/// docs/experiments/discrete-choice.md lists the keys.
std::string discrete_choice_json(const DiscreteChoiceFindings& findings);

/// Regret over rounds with the bounds drawn in, for every size; rank aggregation; times.
Report discrete_choice_report(const DiscreteChoiceFindings& findings);

// Parts that text and report share.

/// RETURNS: sentences that the figures support: bounds, the limit law, the two sorts, the times.
std::vector<std::string> discrete_choice_remarks(const DiscreteChoiceFindings& findings);

/// RETURNS: the rows to look at: of every size the longest game and, against the uniform adversary,
/// all that are long enough for the limit.
std::vector<const DiscreteChoiceRow*> headline_rows(const DiscreteChoiceResult& result,
                                                    std::string_view adversary);

/// RETURNS: the adversaries of the rows, each once.
std::vector<std::string> adversaries_of(const DiscreteChoiceResult& result);

/// RETURNS: a figure and its standard error: "124,812 ± 1,290".
std::string format_regret(double regret, const std::optional<double>& error);

}  // namespace hindsight
