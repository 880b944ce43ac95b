#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "src/sim/discrete_choice_output.h"
#include "src/sim/text_table.h"

namespace hindsight {
namespace {

std::string game_of(const DiscreteChoiceRow& row) {
  return fmt::format("{} against {}, n = {}, k = {}, T = {}", row.ranker, row.adversary, row.n,
                     row.k, format_count(static_cast<double>(row.rounds)));
}

std::string bounds_remark(const DiscreteChoiceResult& result) {
  std::size_t games = 0;
  std::size_t below = 0;
  const auto count = [&](double regret, double bound) {
    ++games;
    below += regret <= bound ? 1 : 0;
  };
  const DiscreteChoiceRow* nearest = nullptr;
  for (const DiscreteChoiceRow& row : result.rows) {
    count(row.regret, row.upper_bound);
    if (nearest == nullptr ||
        row.regret / row.upper_bound > nearest->regret / nearest->upper_bound) {
      nearest = &row;
    }
  }
  for (const AggregationRow& row : result.aggregation) {
    count(row.regret, row.upper_bound);
  }
  return fmt::format(
      "{} of {} mean regrets are below the upper bound of their method; of the choices, the "
      "nearest is at {:.0f}% of it ({}).",
      below, games, 100.0 * nearest->regret / nearest->upper_bound, game_of(*nearest));
}

/// The regret against the uniform adversary, beside what it tends to.
std::optional<std::string> limit_remark(const DiscreteChoiceResult& result) {
  constexpr double kNear = 0.03;
  constexpr double kErrors = 3.0;
  std::size_t games = 0;
  std::size_t near = 0;
  std::size_t within_noise = 0;
  double furthest = 0.0;
  const DiscreteChoiceRow* at = nullptr;
  for (const DiscreteChoiceRow& row : result.rows) {
    if (!row.near_limit()) {
      continue;
    }
    ++games;
    const double distance = std::abs(row.regret / *row.limit - 1.0);
    const double noise = row.regret_error.value_or(0.0) / *row.limit;
    near += distance <= kNear ? 1 : 0;
    within_noise += distance > kNear && distance <= kErrors * noise ? 1 : 0;
    if (distance >= furthest) {
      furthest = distance;
      at = &row;
    }
  }
  if (at == nullptr) {
    return std::nullopt;
  }
  return fmt::format(
      "Uniform adversary, T >= 1000 n/k: {} of {} mean regrets are within 3% of the limit, {} "
      "more within 3 standard errors of it. The furthest is {:.1f}% away, with a standard error "
      "of {:.1f}% ({}).",
      near, games, within_noise, 100.0 * furthest,
      100.0 * at->regret_error.value_or(0.0) / *at->limit, game_of(*at));
}

/// QuickSort against PlackettLuce, game by game, where enough runs tell the noise.
std::optional<std::string> sorts_remark(const DiscreteChoiceResult& result) {
  constexpr std::uint32_t kEnoughRuns = 8;
  std::size_t games = 0;
  std::size_t within_two = 0;
  double furthest = 0.0;
  for (const DiscreteChoiceRow& row : result.rows) {
    if (row.ranker != "onlinerank-quicksort" || row.runs < kEnoughRuns) {
      continue;
    }
    const auto other = std::find_if(
        result.rows.begin(), result.rows.end(), [&](const DiscreteChoiceRow& candidate) {
          return candidate.ranker == "onlinerank" && candidate.adversary == row.adversary &&
                 candidate.n == row.n && candidate.k == row.k && candidate.rounds == row.rounds;
        });
    if (other == result.rows.end()) {
      continue;
    }
    const double error =
        std::hypot(row.regret_error.value_or(0.0), other->regret_error.value_or(0.0));
    const double errors = error > 0.0 ? std::abs(row.regret - other->regret) / error : 0.0;
    ++games;
    within_two += errors <= 2.0 ? 1 : 0;
    furthest = std::max(furthest, errors);
  }
  if (games == 0) {
    return std::nullopt;
  }
  return fmt::format(
      "QuickSort (drawn) and PlackettLuce (expected): in {} of the {} games of {} runs or more the "
      "regrets differ by less than 2 standard errors; the greatest difference is {:.1f}.",
      within_two, games, kEnoughRuns, furthest);
}

}  // namespace

std::vector<const DiscreteChoiceRow*> headline_rows(const DiscreteChoiceResult& result,
                                                    std::string_view adversary) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> longest;  // by n and k
  for (const DiscreteChoiceRow& row : result.rows) {
    std::uint64_t& rounds = longest[{row.n, row.k}];
    rounds = std::max(rounds, row.rounds);
  }
  std::vector<const DiscreteChoiceRow*> rows;
  for (const DiscreteChoiceRow& row : result.rows) {
    if (row.adversary == adversary && (row.near_limit() || row.rounds == longest[{row.n, row.k}])) {
      rows.push_back(&row);
    }
  }
  return rows;
}

std::vector<std::string> adversaries_of(const DiscreteChoiceResult& result) {
  std::vector<std::string> names;
  for (const DiscreteChoiceRow& row : result.rows) {
    if (std::find(names.begin(), names.end(), row.adversary) == names.end()) {
      names.push_back(row.adversary);
    }
  }
  return names;
}

std::string format_regret(double regret, const std::optional<double>& error) {
  return error ? fmt::format("{} ± {}", format_count(regret), format_count(*error))
               : format_count(regret);
}

std::vector<std::string> discrete_choice_remarks(const DiscreteChoiceFindings& findings) {
  std::vector<std::string> remarks = {bounds_remark(findings.result)};
  for (const auto& remark : {limit_remark(findings.result), sorts_remark(findings.result)}) {
    if (remark) {
      remarks.push_back(*remark);
    }
  }
  if (!findings.times.empty()) {
    const RoundTime& last = findings.times.back();
    std::string remark =
        fmt::format("A list of the first 10 of {} items and a click on it take {:.2f} µs",
                    format_count(static_cast<double>(last.n)), last.ns / 1e3);
    if (findings.time_slope) {
      remark +=
          fmt::format("; from 10^4 items on the time grows as n^{:.2f}", *findings.time_slope);
    }
    remarks.push_back(remark + ".");
  }
  return remarks;
}

}  // namespace hindsight
