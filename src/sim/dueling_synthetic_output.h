// What the experiment `dueling-synthetic` found, for people (text, HTML) and programs (JSON).
//
// Thread-safety: pure functions.

#pragma once

#include <string>

#include "src/sim/dueling_synthetic_experiment.h"
#include "src/sim/report.h"

namespace hindsight {

/// Table 1 with the paper's beside ours, and the three methods at delta_L = 1.
std::string dueling_synthetic_text(const DuelingSyntheticFindings& findings);

/// {"experiment":"dueling-synthetic","seed":…,"rows":[{…}]}; docs/experiments/dueling.md lists the
/// keys.
std::string dueling_synthetic_json(const DuelingSyntheticFindings& findings);

/// The tables, and the curves of Figure 2 for all five problems.
Report dueling_synthetic_report(const DuelingSyntheticFindings& findings);

}  // namespace hindsight
