// What the experiment `open-bandit` found, for people (text, HTML) and programs (JSON).
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/sim/open_bandit_experiment.h"
#include "src/sim/report.h"

namespace hindsight {

struct OpenBanditFindings {
  std::uint64_t seed = 0;
  std::uint32_t resamples = 0;
  std::vector<OpenBanditFinding> rows;
};

/// A table for a terminal, and what it says.
std::string open_bandit_text(const OpenBanditFindings& findings);

/// {"experiment":"open-bandit","seed":…,"rows":[{…}]}; docs/off-policy.md lists the keys.
std::string open_bandit_json(const OpenBanditFindings& findings);

/// The table, and estimates beside truths as bars.
Report open_bandit_report(const OpenBanditFindings& findings);

}  // namespace hindsight
