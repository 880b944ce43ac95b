// What the experiments `click-models` and `movielens` found, for people (text, HTML) and programs
// (JSON).
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/sim/click_bandit_experiment.h"
#include "src/sim/report.h"

namespace hindsight {

struct ClickBanditFindings {
  std::string experiment;  // click-models or movielens
  std::uint64_t seed = 0;
  std::uint32_t runs = 0;
  bool quick = false;
  std::vector<ClickEnvironment> environments;
  std::vector<ClickBanditRow> rows;
};

/// A cell of Tables 2 and 3 of [Li19].
struct LiCell {
  double regret = 0.0;
  double seconds = 0.0;
};
/// RETURNS: what the paper printed, if it has this ranker in this environment.
std::optional<LiCell> find_li_cell(std::string_view environment, std::string_view ranker);

std::string click_bandit_text(const ClickBanditFindings& findings);

/// {"experiment":…,"seed":…,"rows":[{…}]}; docs/experiments/click-bandits.md lists the keys.
std::string click_bandit_json(const ClickBanditFindings& findings);

Report click_bandit_report(const ClickBanditFindings& findings);

}  // namespace hindsight
