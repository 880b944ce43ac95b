// The experiment `open-bandit`: the off-policy estimators on logs of real users, where the truth is
// nearly known.
//
// Two policies served the same shop in the same week: one drew items uniformly, the other by
// Thompson sampling (bts). From the log of each, the click rate of the other is estimated and held
// against the rate in the other's own log.
//
//   target random   its law is known: 1 / number of items at every place
//   target bts      its law moved with every update; what is known is how often it put each item at
//                   each place over the week, and that average law is the target
//
// Thread-safety: functions of their arguments.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/core/intervals.h"
#include "src/core/off_policy.h"
#include "src/sim/open_bandit.h"

namespace hindsight {

struct OpenBanditOptions {
  std::uint64_t seed = 1;           // of the bootstrap
  std::uint32_t resamples = 1'000;  // 0: no bootstrap
};

/// One log, one target, one estimator.
struct OpenBanditFinding {
  std::string campaign;
  std::string logged_by;
  std::string target;
  std::string estimator;  // ips, snips
  std::uint64_t rows = 0;
  std::uint64_t clicks = 0;
  Estimate estimate;
  std::optional<Interval> bootstrap;  // the middle 95% of the resamples
  double effective_sample_size = 0.0;
  double mean_weight = 0.0;
  double max_weight = 0.0;
  Estimate truth;  // the click rate in the target's own log
  /// (estimate - truth) / the standard error of their difference.
  double z = 0.0;
};

/// RETURNS: how often the policy put each item at each place: [position * items + item], each place
/// summing to 1 (or 0 where nothing was shown there).
std::vector<double> average_law(const OpenBanditLog& log, std::uint32_t items);

/// Both directions of one campaign, both estimators each. FAILS: kInvalidArgument (logs of
/// different campaigns). REQUIRES: the first is that of the uniform policy
Result<std::vector<OpenBanditFinding>> run_open_bandit(const OpenBanditLog& random,
                                                       const OpenBanditLog& bts,
                                                       const OpenBanditOptions& options);

}  // namespace hindsight
