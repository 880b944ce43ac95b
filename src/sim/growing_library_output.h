// What the experiment `growing-library` found, for people (text, HTML) and programs (JSON).
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/sim/growing_library_experiment.h"
#include "src/sim/report.h"

namespace hindsight {

struct GrowingLibraryFindings {
  std::uint64_t seed = 0;
  std::uint32_t runs = 1;
  bool quick = false;                      // a smaller cut: figures are not those of the whole data
  std::vector<std::string> notes;          // e.g. that no data was found
  std::vector<GrowingLibraryResult> sets;  // one per data set
  AdversaryParams adversary_params;
  std::vector<GrowingLibraryRow> adversary;
};

/// Tables for a terminal: ours beside the paper's, the sweep over alpha, the adversary.
std::string growing_library_text(const GrowingLibraryFindings& findings);

/// {"experiment":"growing-library", "seed":…, "rows":[{…}], …}; infinite numbers are null.
/// docs/experiments/growing-library.md lists the keys.
std::string growing_library_json(const GrowingLibraryFindings& findings);

/// Tables, bars, regret under its bounds, cost over time.
Report growing_library_report(const GrowingLibraryFindings& findings);

// Parts that text and report share.

/// "4.41", "40.0%", or "∞"; with the standard error over runs where there are several.
std::string format_cost(const Measure& measure);
std::string format_share(const Measure& measure);
/// RETURNS: sentences that the figures of a data set support: who leads, and where an alpha is
/// worse than Random.
std::vector<std::string> growing_library_remarks(const GrowingLibraryResult& set);

}  // namespace hindsight
