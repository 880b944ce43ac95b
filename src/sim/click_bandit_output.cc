#include "src/sim/click_bandit_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "src/sim/findings_json.h"
#include "src/sim/text_table.h"

namespace hindsight {
namespace {

struct PrintedCell {
  std::string_view environment;
  std::string_view ranker;
  LiCell cell;
};

// [Li19] Tables 2 and 3.
constexpr PrintedCell kPrinted[] = {
    {"cascade", "recurrank", {0.53, 51}},
    {"cascade", "cascade-linucb", {0.17, 411}},
    {"cascade", "toprank", {106.10, 176'772}},
    {"position", "recurrank", {68'943, 310}},
    {"position", "cascade-linucb", {227'736, 4'147}},
    {"position", "toprank", {745'177, 367'509}},
    {"document", "recurrank", {42'157, 234}},
    {"document", "cascade-linucb", {180'256, 916}},
    {"document", "toprank", {114'288, 4'868}},
};

std::string amount(double value) {
  return value < 1'000.0 && value > -1'000.0 ? fmt::format("{:.2f}", value)
                                             : fmt::format("{:.0f}", value);
}

std::string duration(double nanoseconds) {
  return nanoseconds < 1'000.0 ? fmt::format("{:.0f} ns", nanoseconds)
                               : fmt::format("{:.1f} µs", nanoseconds / 1'000.0);
}

constexpr const char* kHeads[] = {"ranker", "regret",       "s.e.",         "least",
                                  "most",   "time a round", "paper regret", "paper time a round"};

std::vector<std::string> cells_of(const ClickBanditRow& row, bool quick) {
  std::vector<std::string> cells = {row.ranker,
                                    amount(row.regret_mean),
                                    row.regret_se ? amount(*row.regret_se) : "",
                                    amount(row.regret_least),
                                    amount(row.regret_most),
                                    duration(row.ns_per_round)};
  const auto printed = quick ? std::nullopt : find_li_cell(row.environment, row.ranker);
  cells.push_back(printed ? amount(printed->regret) : "");
  cells.push_back(printed ? duration(1e9 * printed->seconds / static_cast<double>(row.rounds))
                          : "");
  return cells;
}

template <class Visit>
void for_rows(const ClickBanditFindings& findings, const ClickEnvironment& environment,
              Visit visit) {
  for (const ClickBanditRow& row : findings.rows) {
    if (row.environment == environment.name) {
      visit(row);
    }
  }
}

std::string heading_of(const ClickEnvironment& environment) {
  return fmt::format("{}, {} rounds", environment.title, environment.rounds);
}

constexpr const char* kHowToRead =
    "Regret is counted in expected clicks, against the most attractive items in their order. Times "
    "are of one core's time, the simulated user included; the paper's are of its own machine. "
    "recurrank-printed cuts as Algorithm 1 is printed; cascade-linucb has c = 1, "
    "cascade-linucb-proven the c of its regret bound.";

std::string best_of(const ClickBanditFindings& findings, const ClickEnvironment& environment) {
  const ClickBanditRow* best = nullptr;
  for_rows(findings, environment, [&](const ClickBanditRow& row) {
    best = best == nullptr || row.regret_mean < best->regret_mean ? &row : best;
  });
  return best == nullptr ? std::string()
                         : fmt::format("{}: {} has the least regret, {}.", environment.title,
                                       best->ranker, amount(best->regret_mean));
}

ReportTable table_of(const ClickBanditFindings& findings, const ClickEnvironment& environment) {
  ReportTable table;
  for (const char* head : kHeads) {
    table.columns.push_back(
        {.head = head, .align = table.columns.empty() ? Align::kLeft : Align::kRight});
  }
  for_rows(findings, environment, [&](const ClickBanditRow& row) {
    std::vector<ReportCell> cells;
    for (std::string& cell : cells_of(row, findings.quick)) {
      cells.push_back({.text = std::move(cell)});
    }
    table.rows.push_back(std::move(cells));
  });
  table.footnote = kHowToRead;
  return table;
}

Chart chart_of(const ClickBanditFindings& findings, const ClickEnvironment& environment) {
  Chart chart;
  chart.title = "Regret over time";
  chart.caption = "Mean over the runs; the bands are one standard error wide to each side.";
  chart.x_label = "rounds";
  chart.y_label = "cumulated regret, in clicks";
  chart.log_y = environment.log_scale;
  for_rows(findings, environment, [&](const ClickBanditRow& row) {
    ChartSeries series;
    series.name = row.ranker;
    series.x.assign(row.curve_rounds.begin(), row.curve_rounds.end());
    series.y = row.curve_mean;
    if (row.regret_se) {
      series.error = row.curve_se;
    }
    series.dashed = row.ranker == "recurrank-printed";
    series.emphasis = row.ranker == "recurrank";
    chart.series.push_back(std::move(series));
  });
  return chart;
}

void write_row(FindingsJson& json, const ClickBanditRow& row, bool quick) {
  const auto printed = quick ? std::nullopt : find_li_cell(row.environment, row.ranker);
  json.object([&] {
    json.key("environment").text(row.environment);
    json.key("ranker").text(row.ranker);
    json.key("rounds").count(row.rounds);
    json.key("runs").count(row.runs);
    json.key("regret_mean").number(row.regret_mean);
    json.key("regret_se").number(row.regret_se);
    json.key("regret_least").number(row.regret_least);
    json.key("regret_most").number(row.regret_most);
    json.key("ns_per_round").number(row.ns_per_round);
    json.key("paper_regret").number(printed ? std::optional(printed->regret) : std::nullopt);
    json.key("paper_seconds").number(printed ? std::optional(printed->seconds) : std::nullopt);
    json.key("curve_rounds").array(row.curve_rounds, [&](std::uint64_t at) { json.count(at); });
    json.key("curve_mean").array(row.curve_mean, [&](double value) { json.number(value); });
    json.key("curve_se").array(row.curve_se, [&](double value) { json.number(value); });
  });
}

}  // namespace

std::optional<LiCell> find_li_cell(std::string_view environment, std::string_view ranker) {
  for (const PrintedCell& printed : kPrinted) {
    if (printed.environment == environment && printed.ranker == ranker) {
      return printed.cell;
    }
  }
  return std::nullopt;
}

std::string click_bandit_text(const ClickBanditFindings& findings) {
  std::string text;
  for (const ClickEnvironment& environment : findings.environments) {
    TextTable table({std::begin(kHeads), std::end(kHeads)});
    for_rows(findings, environment,
             [&](const ClickBanditRow& row) { table.add(cells_of(row, findings.quick)); });
    text += fmt::format("{} ({} runs)\n{}\n\n{}\n", heading_of(environment), findings.runs,
                        environment.remark, table.str());
  }
  return fmt::format("{}{}\n", text, kHowToRead);
}

std::string click_bandit_json(const ClickBanditFindings& findings) {
  FindingsJson json;
  json.object([&] {
    json.key("experiment").text(findings.experiment);
    json.key("seed").count(findings.seed);
    json.key("runs").count(findings.runs);
    json.key("quick").flag(findings.quick);
    json.key("rows").array(
        findings.rows, [&](const ClickBanditRow& row) { write_row(json, row, findings.quick); });
  });
  return json.str();
}

Report click_bandit_report(const ClickBanditFindings& findings) {
  Report report;
  report.title = "Which click bandit learns the best list?";
  report.subtitle = fmt::format("{}; seed {}, {} runs{}", findings.experiment, findings.seed,
                                findings.runs, findings.quick ? ", a quick look" : "");
  for (const ClickEnvironment& environment : findings.environments) {
    if (std::string line = best_of(findings, environment); !line.empty()) {
      report.lead.push_back(std::move(line));
    }
    report.sections.push_back(
        {.heading = (environment.stress ? "Stress: " : "") + heading_of(environment),
         .text = {environment.remark},
         .tables = {table_of(findings, environment)},
         .charts = {chart_of(findings, environment)}});
  }
  return report;
}

}  // namespace hindsight
