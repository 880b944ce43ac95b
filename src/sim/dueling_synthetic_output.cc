#include "src/sim/dueling_synthetic_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "src/core/check.h"
#include "src/sim/findings_json.h"
#include "src/sim/text_table.h"
#include "src/sim/yue_tables.h"

namespace hindsight {
namespace {

using Row = DuelingSyntheticRow;

constexpr double kFigureFactor = 1.0;

const Row& find_row(const DuelingSyntheticFindings& findings, DuelProblem problem,
                    DuelMethod method, double delta_l) {
  const auto row =
      std::find_if(findings.rows.begin(), findings.rows.end(), [&](const Row& candidate) {
        return candidate.problem == problem && candidate.method == method &&
               candidate.delta_l == delta_l;
      });
  HINDSIGHT_CHECK(row != findings.rows.end());
  return *row;
}

/// The cells of Table 1, problem after problem.
std::vector<std::vector<const Row*>> table1(const DuelingSyntheticFindings& findings) {
  std::vector<std::vector<const Row*>> rows;
  for (const DuelProblem problem : kDuelProblems) {
    rows.emplace_back();
    for (const double factor : kYueDeltaFactors) {
      rows.back().push_back(&find_row(findings, problem, DuelMethod::kDbgd, factor));
    }
  }
  return rows;
}

template <class Value>
std::size_t least(const std::vector<const Row*>& row, Value value) {
  const auto best = std::min_element(
      row.begin(), row.end(), [&](const Row* a, const Row* b) { return value(*a) < value(*b); });
  return static_cast<std::size_t>(best - row.begin());
}

std::size_t our_best(const std::vector<const Row*>& row) {
  return least(row, [](const Row& cell) { return cell.avg_regret; });
}

std::size_t paper_best(const std::vector<const Row*>& row) {
  return least(row, [](const Row& cell) { return *cell.paper; });
}

std::string cell_text(const Row& row) {
  return fmt::format("{:.3f} ({:.3f})", row.avg_regret, *row.paper);
}

std::string remark(const DuelingSyntheticFindings& findings) {
  double largest = 0.0;
  const Row* where = nullptr;
  int same = 0;
  const auto table = table1(findings);
  for (const auto& row : table) {
    same += our_best(row) == paper_best(row) ? 1 : 0;
    for (const Row* cell : row) {
      const double distance = std::abs(cell->avg_regret - *cell->paper);
      if (where == nullptr || distance > largest) {
        largest = distance;
        where = cell;
      }
    }
  }
  return fmt::format(
      "The factor with the least regret is the paper's in {} of {} rows. The largest distance from "
      "the paper is {:.3f}, {} at {}.",
      same, table.size(), largest, duel_problem_name(where->problem), where->delta_l);
}

constexpr const char* kHowToRead =
    "Average regret of DBGD after all rounds, the paper's in brackets. A random point has a regret "
    "of about 1.";

std::vector<std::string> method_cells(const DuelingSyntheticFindings& findings, DuelMethod method) {
  std::vector<std::string> cells = {std::string(duel_method_name(method))};
  for (const DuelProblem problem : kDuelProblems) {
    cells.push_back(
        fmt::format("{:.3f}", find_row(findings, problem, method, kFigureFactor).avg_regret));
  }
  return cells;
}

std::vector<std::string> method_heads() {
  std::vector<std::string> heads = {"method"};
  for (const DuelProblem problem : kDuelProblems) {
    heads.emplace_back(duel_problem_name(problem));
  }
  return heads;
}

ReportTable table1_report(const DuelingSyntheticFindings& findings) {
  ReportTable table{.title = "Table 1", .columns = {{.head = "problem", .align = Align::kLeft}}};
  for (const double factor : kYueDeltaFactors) {
    table.columns.push_back({.head = fmt::format("{}", factor)});
  }
  for (const auto& row : table1(findings)) {
    std::vector<ReportCell> cells = {{.text = std::string(duel_problem_name(row[0]->problem))}};
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back({.text = cell_text(*row[i]), .emphasis = i == our_best(row)});
    }
    table.rows.push_back(std::move(cells));
  }
  table.footnote = kHowToRead;
  return table;
}

ReportTable methods_report(const DuelingSyntheticFindings& findings) {
  ReportTable table{.title = "Three methods at factor 1"};
  for (std::string& head : method_heads()) {
    table.columns.push_back(
        {.head = std::move(head), .align = table.columns.empty() ? Align::kLeft : Align::kRight});
  }
  for (const DuelMethod method : kDuelMethods) {
    std::vector<ReportCell> cells;
    for (std::string& cell : method_cells(findings, method)) {
      cells.push_back({.text = std::move(cell)});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Chart figure2(const DuelingSyntheticFindings& findings, DuelProblem problem) {
  Chart chart{.title = fmt::format("Average regret on {}", duel_problem_name(problem)),
              .caption = "Regret of the rounds so far, divided by their number; factor 1.",
              .x_label = "rounds",
              .y_label = "average regret"};
  for (const DuelMethod method : kDuelMethods) {
    const Row& row = find_row(findings, problem, method, kFigureFactor);
    ChartSeries series{.name = std::string(duel_method_name(method)),
                       .y = row.curve,
                       .emphasis = method == DuelMethod::kDbgd};
    for (std::size_t i = 1; i <= row.curve.size(); ++i) {
      series.x.push_back(static_cast<double>(findings.rounds) * static_cast<double>(i) /
                         static_cast<double>(row.curve.size()));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

void write_row(FindingsJson& json, const DuelingSyntheticFindings& findings, const Row& row) {
  json.object([&] {
    json.key("problem").text(duel_problem_name(row.problem));
    json.key("method").text(duel_method_name(row.method));
    json.key("delta_l").number(row.delta_l);
    json.key("rounds").count(findings.rounds);
    json.key("runs").count(findings.runs);
    json.key("avg_regret").number(row.avg_regret);
    json.key("standard_error").number(row.standard_error);
    json.key("paper").number(row.paper);
    json.key("curve").array(row.curve, [&](double value) { json.number(value); });
  });
}

std::string size_text(const DuelingSyntheticFindings& findings) {
  return fmt::format("50 dimensions, {} rounds, {} run{} per cell, seed {}", findings.rounds,
                     findings.runs, findings.runs == 1 ? "" : "s", findings.seed);
}

}  // namespace

std::string dueling_synthetic_text(const DuelingSyntheticFindings& findings) {
  std::vector<std::string> heads = {"delta_L"};
  for (const double factor : kYueDeltaFactors) {
    heads.push_back(fmt::format("{}", factor));
  }
  TextTable table(std::move(heads));
  for (const auto& row : table1(findings)) {
    std::vector<std::string> cells = {std::string(duel_problem_name(row[0]->problem))};
    for (const Row* cell : row) {
      cells.push_back(cell_text(*cell));
    }
    table.add(std::move(cells));
  }
  TextTable methods(method_heads());
  for (const DuelMethod method : kDuelMethods) {
    methods.add(method_cells(findings, method));
  }
  return fmt::format(
      "Dueling bandits on synthetic values: {}\n\n{}\n{}\n{}\n\nAverage regret at delta_L = "
      "1\n\n{}",
      size_text(findings), table.str(), kHowToRead, remark(findings), methods.str());
}

std::string dueling_synthetic_json(const DuelingSyntheticFindings& findings) {
  FindingsJson json;
  json.object([&] {
    json.key("experiment").text("dueling-synthetic");
    json.key("seed").count(findings.seed);
    json.key("rows").array(findings.rows, [&](const Row& row) { write_row(json, findings, row); });
  });
  return json.str();
}

Report dueling_synthetic_report(const DuelingSyntheticFindings& findings) {
  Report report{.title = "Duels between points that nobody can value",
                .subtitle = size_text(findings),
                .lead = {remark(findings)}};
  report.sections.push_back(
      {.heading = "How far to look for a rival",
       .text = {"DBGD compares its weights with a rival in a random direction, and steps there if "
                "the rival wins. The factor says how far away the rival is: too near, and the "
                "comparison says nothing; too far, and the rivals themselves are bad."},
       .tables = {table1_report(findings)}});
  ReportSection methods{
      .heading = "What the outcome of a single duel is worth",
      .text = {"BGD1 and BGD2 are told the probability with which the current weights win, where "
               "DBGD sees only who won."},
      .tables = {methods_report(findings)}};
  for (const DuelProblem problem : kDuelProblems) {
    methods.charts.push_back(figure2(findings, problem));
  }
  report.sections.push_back(std::move(methods));
  return report;
}

}  // namespace hindsight
