#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "src/core/choice_rate.h"
#include "src/sim/discrete_choice_output.h"
#include "src/sim/text_table.h"

namespace hindsight {
namespace {

double real(std::uint64_t n) { return static_cast<double>(n); }

/// What the adversaries do, for people.
std::string what_it_does(std::string_view adversary) {
  if (adversary == "uniform") {
    return "k items are chosen uniformly. Nothing can be learned, and no method can do better or "
           "worse than another: the expected regret of all of them is what hindsight is worth, "
           "which tends to the limit that is drawn in.";
  }
  if (adversary == "zipf") {
    return "Items are chosen in proportion to 1, 1/2, 1/3, …";
  }
  if (adversary == "shifting") {
    return "As zipf, with an order of popularity that turns round half-way: the best fixed order "
           "is then a poor one, and a method that forgets may beat it. Regrets below zero are not "
           "drawn.";
  }
  return "The k items that were chosen least so far are chosen next: what a method that follows "
         "the counts shows last.";
}

struct Size {
  std::uint32_t n;
  std::uint32_t k;

  friend bool operator==(const Size&, const Size&) = default;
};

template <class T>
void add_once(std::vector<T>& values, const T& value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) {
    values.push_back(value);
  }
}

/// A line through the rows of one ranker; the rows come in the order of their rounds.
template <class Row>
void add_to_line(Chart& chart, const Row& row) {
  auto line = std::find_if(chart.series.begin(), chart.series.end(),
                           [&](const ChartSeries& series) { return series.name == row.ranker; });
  if (line == chart.series.end()) {
    chart.series.push_back({.name = row.ranker, .emphasis = row.ranker == "onlinerank"});
    line = chart.series.end() - 1;
  }
  line->x.push_back(real(row.rounds));
  line->y.push_back(row.regret);
  line->error.push_back(row.regret_error.value_or(0.0));
}

/// A dashed line over the same rounds as the first.
void add_reference(Chart& chart, std::string name,
                   const std::function<double(std::uint64_t)>& value) {
  ChartSeries line{.name = std::move(name), .x = chart.series.front().x, .dashed = true};
  for (const double rounds : line.x) {
    line.y.push_back(value(static_cast<std::uint64_t>(rounds)));
  }
  chart.series.push_back(std::move(line));
}

Chart log_log(std::string title, std::string caption) {
  Chart chart;
  chart.title = std::move(title);
  chart.caption = std::move(caption);
  chart.x_label = "rounds";
  chart.y_label = "regret, in positions";
  chart.log_x = true;
  chart.log_y = true;
  return chart;
}

Chart choice_chart(const DiscreteChoiceResult& result, const std::string& adversary,
                   const Size& size) {
  Chart chart = log_log(
      fmt::format("{}: n = {}, k = {}", adversary, size.n, size.k),
      "Mean regret after T rounds, each T a game of its own. OnlineRank is to stay below Theorem "
      "3.1; no method can promise to stay below the lower bound.");
  for (const DiscreteChoiceRow& row : result.rows) {
    if (row.adversary == adversary && Size{row.n, row.k} == size) {
      add_to_line(chart, row);
    }
  }
  add_reference(chart, "Theorem 3.1", [&](std::uint64_t rounds) {
    return online_rank_bound(size.n, rounds, choice_spread(size.n, size.k));
  });
  add_reference(chart, "lower bound",
                [&](std::uint64_t rounds) { return choice_lower_bound(size.n, rounds, size.k); });
  if (adversary == "uniform") {
    add_reference(chart, "limit", [&](std::uint64_t rounds) {
      return uniform_choice_regret(size.n, rounds, size.k);
    });
  }
  return chart;
}

ReportTable choice_table(const DiscreteChoiceResult& result, const std::string& adversary) {
  ReportTable table;
  table.columns = {{.head = "ranker", .align = Align::kLeft},
                   {.head = "n"},
                   {.head = "k"},
                   {.head = "rounds"},
                   {.head = "runs"},
                   {.head = "regret", .note = "± standard error"},
                   {.head = "upper bound", .note = "of the method"},
                   {.head = "lower bound"}};
  const bool uniform = adversary == "uniform";
  if (uniform) {
    table.columns.push_back({.head = "limit"});
    table.columns.push_back({.head = "off the limit"});
  }
  for (const DiscreteChoiceRow* each : headline_rows(result, adversary)) {
    const DiscreteChoiceRow& row = *each;
    std::vector<ReportCell> cells;
    for (std::string& text :
         std::vector<std::string>{row.ranker, std::to_string(row.n), std::to_string(row.k),
                                  format_count(real(row.rounds)), std::to_string(row.runs),
                                  format_regret(row.regret, row.regret_error),
                                  format_count(row.upper_bound), format_count(row.lower_bound)}) {
      cells.push_back({.text = std::move(text)});
    }
    if (uniform) {
      cells.push_back({.text = format_count(*row.limit)});
      cells.push_back({.text = fmt::format("{:+.1f}%", 100.0 * (row.regret / *row.limit - 1.0)),
                       .emphasis = row.near_limit()});
    }
    table.rows.push_back(std::move(cells));
  }
  table.footnote = uniform
                       ? "The longest game of every size; bold: all of T >= 1000 n/k, where the "
                         "regret is to be near its limit."
                       : "The longest game of every size; the charts' figures have the others.";
  return table;
}

void add_choices(const DiscreteChoiceResult& result, Report& report) {
  for (const std::string& adversary : adversaries_of(result)) {
    ReportSection section;
    section.heading = fmt::format("The {} adversary", adversary);
    section.text = {what_it_does(adversary)};
    std::vector<Size> sizes;
    for (const DiscreteChoiceRow& row : result.rows) {
      if (row.adversary == adversary) {
        add_once(sizes, Size{row.n, row.k});
      }
    }
    for (const Size& size : sizes) {
      section.charts.push_back(choice_chart(result, adversary, size));
    }
    section.tables.push_back(choice_table(result, adversary));
    report.sections.push_back(std::move(section));
  }
}

ReportTable aggregation_table(const DiscreteChoiceResult& result) {
  ReportTable table;
  table.columns = {{.head = "rankings", .align = Align::kLeft},
                   {.head = "ranker", .align = Align::kLeft},
                   {.head = "n"},
                   {.head = "rounds"},
                   {.head = "regret", .note = "± standard error"},
                   {.head = "upper bound"},
                   {.head = "Spearman", .note = "of what was played"},
                   {.head = "best order"}};
  for (const AggregationRow& row : result.aggregation) {
    table.rows.push_back({{.text = row.sequence},
                          {.text = row.ranker},
                          {.text = std::to_string(row.n)},
                          {.text = format_count(real(row.rounds))},
                          {.text = format_regret(row.regret, row.regret_error)},
                          {.text = format_count(row.upper_bound)},
                          {.text = fmt::format("{:.3f}", row.spearman)},
                          {.text = fmt::format("{:.3f}", row.best_spearman)}});
  }
  return table;
}

ReportSection aggregation_section(const DiscreteChoiceResult& result) {
  ReportSection section;
  section.heading = "Rank aggregation";
  section.text = {
      "In each round a ranking of all items comes, and the order that was played pays by its "
      "distance (Corollary 5.1). Rankings are Mallows-distributed around one order, or each is the "
      "reverse of the consensus so far. QuickSort and the leader with Gumbel noise have the same "
      "expectation as OnlineRank, and are left out."};
  std::vector<std::pair<std::string, std::uint32_t>> games;
  for (const AggregationRow& row : result.aggregation) {
    add_once(games, {row.sequence, row.n});
  }
  for (const auto& [sequence, n] : games) {
    Chart chart = log_log(fmt::format("{}: n = {}", sequence, n),
                          "Mean regret after T rankings, with OnlineRank's bound.");
    for (const AggregationRow& row : result.aggregation) {
      if (row.sequence == sequence && row.n == n) {
        add_to_line(chart, row);
      }
    }
    add_reference(chart, "Corollary 5.1", [items = n](std::uint64_t rounds) {
      return online_rank_bound(items, rounds, ranking_spread(items));
    });
    section.charts.push_back(std::move(chart));
  }
  section.tables.push_back(aggregation_table(result));
  return section;
}

ReportSection time_section(const DiscreteChoiceFindings& findings) {
  ReportSection section;
  section.heading = "Time of a round";
  section.text = {
      "OnlineRank on a library of n items: the first 10 of a list of all of them, and a click, "
      "which changes one weight of a sum tree. The paper states O(n log n)."};
  Chart chart = log_log("Top-10 and a click",
                        findings.time_slope
                            ? fmt::format("Slope from 10^4 items on: {:.2f}.", *findings.time_slope)
                            : std::string("Medians, in CPU time of one thread."));
  chart.x_label = "items";
  chart.y_label = "microseconds";
  ChartSeries line{.name = "onlinerank", .emphasis = true};
  for (const RoundTime& time : findings.times) {
    line.x.push_back(real(time.n));
    line.y.push_back(time.ns / 1e3);
  }
  chart.series.push_back(std::move(line));
  section.charts.push_back(std::move(chart));
  return section;
}

}  // namespace

Report discrete_choice_report(const DiscreteChoiceFindings& findings) {
  Report report;
  report.title = "Discrete choice";
  report.subtitle = fmt::format("seed {}{}", findings.seed,
                                findings.quick ? ", quick: short games and few runs" : "");
  report.lead = discrete_choice_remarks(findings);
  report.lead.insert(
      report.lead.begin(),
      "The game of [Ailon13]: in each round a method plays an order of n items, then k of them "
      "turn out to be wanted, and their positions are paid. Regret is what was paid beyond the "
      "best "
      "fixed order in hindsight. Positions are expectations over a method's own coins, but for "
      "QuickSort and Gumbel noise, which are drawn.");
  add_choices(findings.result, report);
  if (!findings.result.aggregation.empty()) {
    report.sections.push_back(aggregation_section(findings.result));
  }
  if (!findings.times.empty()) {
    report.sections.push_back(time_section(findings));
  }
  return report;
}

}  // namespace hindsight
