// What the experiment `dueling-letor` found, for people (text, HTML) and programs (JSON).
//
// Thread-safety: pure functions.

#pragma once

#include <string>

#include "src/sim/dueling_letor_experiment.h"
#include "src/sim/report.h"

namespace hindsight {

/// Tables 2 and 3 beside the paper's, and what the rankers reached under three kinds of users.
std::string dueling_letor_text(const DuelingLetorFindings& findings);

/// {"experiment":"dueling-letor","seed":…,"rows":[{…}]}; docs/experiments/dueling.md lists the
/// keys.
std::string dueling_letor_json(const DuelingLetorFindings& findings);

/// The tables, and learning curves for each kind of users.
Report dueling_letor_report(const DuelingLetorFindings& findings);

}  // namespace hindsight
