#include <fmt/format.h>

#include <string_view>

#include "src/core/choice_rate.h"
#include "src/sim/discrete_choice_output.h"
#include "src/sim/findings_json.h"
#include "src/sim/text_table.h"

namespace hindsight {
namespace {

std::string bounds_of(std::uint32_t n, std::uint32_t k, std::uint64_t rounds) {
  return format_count(online_rank_bound(n, rounds, choice_spread(n, k)));
}

std::string adversary_table(const DiscreteChoiceResult& result, std::string_view adversary) {
  TextTable table({"ranker", "n", "k", "rounds", "runs", "regret", "of its bound", "Theorem 3.1",
                   "lower bound", "limit", "off the limit"});
  for (const DiscreteChoiceRow* each : headline_rows(result, adversary)) {
    const DiscreteChoiceRow& row = *each;
    table.add({row.ranker, std::to_string(row.n), std::to_string(row.k),
               format_count(static_cast<double>(row.rounds)), std::to_string(row.runs),
               format_regret(row.regret, row.regret_error),
               fmt::format("{:.0f}%", 100.0 * row.regret / row.upper_bound),
               bounds_of(row.n, row.k, row.rounds), format_count(row.lower_bound),
               row.limit ? format_count(*row.limit) : "",
               row.limit ? fmt::format("{:+.1f}%", 100.0 * (row.regret / *row.limit - 1.0)) : ""});
  }
  return table.str();
}

std::string aggregation_table(const DiscreteChoiceResult& result) {
  TextTable table({"rankings", "n", "rounds", "ranker", "runs", "regret", "of its bound",
                   "Spearman", "best order"});
  for (const AggregationRow& row : result.aggregation) {
    table.add({row.sequence, std::to_string(row.n), format_count(static_cast<double>(row.rounds)),
               row.ranker, std::to_string(row.runs), format_regret(row.regret, row.regret_error),
               fmt::format("{:.0f}%", 100.0 * row.regret / row.upper_bound),
               fmt::format("{:.3f}", row.spearman), fmt::format("{:.3f}", row.best_spearman)});
  }
  return table.str();
}

std::string time_table(const DiscreteChoiceFindings& findings) {
  TextTable table({"items", "top-10 and click"});
  for (const RoundTime& time : findings.times) {
    table.add({format_count(static_cast<double>(time.n)), fmt::format("{:.2f} µs", time.ns / 1e3)});
  }
  return table.str();
}

void write_row(FindingsJson& json, const DiscreteChoiceRow& row) {
  json.object([&] {
    json.key("adversary").text(row.adversary);
    json.key("n").count(row.n);
    json.key("k").count(row.k);
    json.key("rounds").count(row.rounds);
    json.key("ranker").text(row.ranker);
    json.key("runs").count(row.runs);
    json.key("loss").text(row.loss == LossKind::kDrawn ? "drawn" : "expected");
    json.key("regret").number(row.regret);
    json.key("regret_se").number(row.regret_error);
    json.key("upper_bound").number(row.upper_bound);
    json.key("lower_bound").number(row.lower_bound);
    json.key("limit").number(row.limit);
  });
}

void write_aggregation(FindingsJson& json, const AggregationRow& row) {
  json.object([&] {
    json.key("rankings").text(row.sequence);
    json.key("n").count(row.n);
    json.key("rounds").count(row.rounds);
    json.key("ranker").text(row.ranker);
    json.key("runs").count(row.runs);
    json.key("regret").number(row.regret);
    json.key("regret_se").number(row.regret_error);
    json.key("upper_bound").number(row.upper_bound);
    json.key("spearman").number(row.spearman);
    json.key("best_spearman").number(row.best_spearman);
  });
}

}  // namespace

std::string discrete_choice_text(const DiscreteChoiceFindings& findings) {
  std::string out = fmt::format("discrete-choice: seed {}{}\n\n", findings.seed,
                                findings.quick ? ", quick: short games and few runs" : "");
  for (const std::string& adversary : adversaries_of(findings.result)) {
    out +=
        fmt::format("{} adversary\n{}\n", adversary, adversary_table(findings.result, adversary));
  }
  if (!findings.result.aggregation.empty()) {
    out += fmt::format("rank aggregation\n{}\n", aggregation_table(findings.result));
  }
  if (!findings.times.empty()) {
    out += fmt::format("time of a round\n{}\n", time_table(findings));
  }
  for (const std::string& remark : discrete_choice_remarks(findings)) {
    out += remark + '\n';
  }
  return out;
}

std::string discrete_choice_json(const DiscreteChoiceFindings& findings) {
  FindingsJson json;
  json.object([&] {
    json.key("experiment").text("discrete-choice");
    json.key("seed").count(findings.seed);
    json.key("quick").flag(findings.quick);
    json.key("rows").array(findings.result.rows, [&](const auto& row) { write_row(json, row); });
    json.key("aggregation").array(findings.result.aggregation, [&](const auto& row) {
      write_aggregation(json, row);
    });
    json.key("times").array(findings.times, [&](const RoundTime& time) {
      json.object([&] {
        json.key("n").count(time.n);
        json.key("ns").number(time.ns);
      });
    });
    json.key("time_slope").number(findings.time_slope);
  });
  return json.str() + '\n';
}

}  // namespace hindsight
