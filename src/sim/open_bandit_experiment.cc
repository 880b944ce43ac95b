#include "src/sim/open_bandit_experiment.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "hindsight/random.h"
#include "src/core/check.h"
#include "src/core/metrics.h"

namespace hindsight {
namespace {

/// The rows of a log as an estimator takes them.
struct Weighted {
  std::vector<double> weight;
  std::vector<double> reward;
};

using Law = std::function<double(const OpenBanditRow&)>;

Weighted weigh(const OpenBanditLog& log, const Law& target) {
  Weighted out;
  for (const OpenBanditRow& row : log.rows) {
    out.weight.push_back(target(row) / row.propensity);
    out.reward.push_back(row.clicked ? 1.0 : 0.0);
  }
  return out;
}

Interval middle_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(
        std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  return {.low = at(0.025), .high = at(0.975)};
}

struct Bootstrap {
  std::optional<Interval> inverse_propensity;
  std::optional<Interval> self_normalised;
};

/// Logs of as many rows, drawn from the rows with replacement.
Bootstrap resample(const Weighted& log, const OpenBanditOptions& options, std::uint64_t stream) {
  const std::size_t n = log.weight.size();
  std::vector<double> inverse;
  std::vector<double> normalised;
  for (std::uint32_t i = 0; i < options.resamples; ++i) {
    Rng rng(options.seed, (stream << 32) | i);
    double weights = 0.0;
    double rewards = 0.0;
    for (std::size_t j = 0; j < n; ++j) {
      const std::size_t row = rng.below(n);
      weights += log.weight[row];
      rewards += log.weight[row] * log.reward[row];
    }
    inverse.push_back(rewards / static_cast<double>(n));
    normalised.push_back(weights > 0.0 ? rewards / weights : 0.0);
  }
  if (inverse.empty()) {
    return {};
  }
  return {.inverse_propensity = middle_of(std::move(inverse)),
          .self_normalised = middle_of(std::move(normalised))};
}

Estimate click_rate(const OpenBanditLog& log) {
  Mean mean;
  for (const OpenBanditRow& row : log.rows) {
    mean.add(row.clicked ? 1.0 : 0.0);
  }
  return estimate_of(mean);
}

double distance(const Estimate& estimate, const Estimate& truth) {
  const double error =
      std::hypot(estimate.standard_error.value_or(0.0), truth.standard_error.value_or(0.0));
  return error > 0.0 ? (estimate.value - truth.value) / error : 0.0;
}

void estimate_other(const OpenBanditLog& log, const OpenBanditLog& other, const Law& target,
                    const OpenBanditOptions& options, std::vector<OpenBanditFinding>& findings) {
  const Weighted weighted = weigh(log, target);
  OffPolicyEstimator estimator;
  for (std::size_t i = 0; i < weighted.weight.size(); ++i) {
    estimator.add(weighted.weight[i], weighted.reward[i]);
  }
  const Bootstrap bootstrap = resample(weighted, options, findings.size());
  OpenBanditFinding finding{.campaign = log.campaign,
                            .logged_by = log.policy,
                            .target = other.policy,
                            .estimator = "ips",
                            .rows = log.rows.size(),
                            .clicks = log.clicks,
                            .estimate = estimator.inverse_propensity(),
                            .bootstrap = bootstrap.inverse_propensity,
                            .effective_sample_size = estimator.effective_sample_size(),
                            .mean_weight = estimator.mean_weight(),
                            .max_weight = estimator.max_weight(),
                            .truth = click_rate(other)};
  finding.z = distance(finding.estimate, finding.truth);
  findings.push_back(finding);
  if (const auto normalised = estimator.self_normalised()) {
    finding.estimator = "snips";
    finding.estimate = *normalised;
    finding.bootstrap = bootstrap.self_normalised;
    finding.z = distance(finding.estimate, finding.truth);
    findings.push_back(finding);
  }
}

}  // namespace

std::vector<double> average_law(const OpenBanditLog& log, std::uint32_t items) {
  HINDSIGHT_CHECK(items >= log.items);
  std::vector<double> law(std::size_t{log.positions} * items, 0.0);
  std::vector<double> shown(log.positions, 0.0);
  for (const OpenBanditRow& row : log.rows) {
    law[std::size_t{row.position} * items + row.item] += 1.0;
    shown[row.position] += 1.0;
  }
  for (std::size_t i = 0; i < law.size(); ++i) {
    law[i] /= std::max(shown[i / items], 1.0);
  }
  return law;
}

Result<std::vector<OpenBanditFinding>> run_open_bandit(const OpenBanditLog& random,
                                                       const OpenBanditLog& bts,
                                                       const OpenBanditOptions& options) {
  if (random.campaign != bts.campaign || random.positions != bts.positions) {
    return Error{ErrorCode::kInvalidArgument, "the two logs are not of one campaign", bts.campaign};
  }
  const std::uint32_t items = std::max(random.items, bts.items);
  const std::vector<double> law_of_bts = average_law(bts, items);
  std::vector<OpenBanditFinding> findings;
  estimate_other(
      random, bts,
      [&](const OpenBanditRow& row) {
        return law_of_bts[std::size_t{row.position} * items + row.item];
      },
      options, findings);
  estimate_other(
      bts, random, [&](const OpenBanditRow&) { return 1.0 / static_cast<double>(items); }, options,
      findings);
  return findings;
}

}  // namespace hindsight
