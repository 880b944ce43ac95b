#include "src/sim/dueling_letor_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/core/check.h"
#include "src/sim/findings_json.h"
#include "src/sim/text_table.h"
#include "src/sim/yue_tables.h"

namespace hindsight {
namespace {

using Row = DuelingLetorRow;
using Findings = DuelingLetorFindings;

/// A table as plain words, from which terminal and page are made.
struct Grid {
  std::string title;
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
  std::string footnote = {};
};

std::string with_paper(double ours, std::optional<double> paper) {
  return paper ? fmt::format("{:.3f} ({:.3f})", ours, *paper) : fmt::format("{:.3f}", ours);
}

template <class Ours>
Grid sweep_grid(const Findings& findings, std::string title, Ours ours,
                std::optional<double> Row::*paper) {
  Grid grid{.title = std::move(title), .heads = {"delta"}, .rows = {}};
  for (const double gamma : kYueGammas) {
    grid.heads.push_back(fmt::format("gamma {}", gamma));
  }
  for (std::size_t d = 0; d < kYueDeltas.size(); ++d) {
    std::vector<std::string> cells = {fmt::format("{}", kYueDeltas[d])};
    for (std::size_t g = 0; g < kYueGammas.size(); ++g) {
      const Row& row = findings.sweep[d * kYueGammas.size() + g];
      cells.push_back(with_paper(ours(row), paper == nullptr ? std::nullopt : row.*paper));
    }
    grid.rows.push_back(std::move(cells));
  }
  return grid;
}

Grid average_grid(const Findings& findings) {
  return sweep_grid(
      findings, "Table 2, average: NDCG@10 on the training queries over all rounds",
      [](const Row& row) { return *row.ndcg10_average; }, &Row::paper_average);
}

Grid final_grid(const Findings& findings) {
  return sweep_grid(
      findings, "Table 2, final: NDCG@10 on the training queries in the end",
      [](const Row& row) { return row.ndcg10_train; }, &Row::paper_final);
}

Grid test_grid(const Findings& findings) {
  return sweep_grid(
      findings, "The same on the test queries, which the paper leaves out",
      [](const Row& row) { return row.ndcg10_test; }, nullptr);
}

Grid samples_grid(const Findings& findings) {
  Grid grid{.title = "Table 3: final models and the ranking SVM",
            .heads = {"model", "gamma", "train", "test", "win/tie/loss", "paper", "paper w/t/l"},
            .rows = {}};
  grid.rows.push_back({"ranking SVM", "", fmt::format("{:.3f}", findings.svm.ndcg10_train),
                       fmt::format("{:.3f}", findings.svm.ndcg10_test), "",
                       fmt::format("{:.3f}", kYueTable3Svm), ""});
  for (std::size_t i = 0; i < findings.samples.size(); ++i) {
    const Row& row = findings.samples[i];
    const WinTieLoss& counts = *row.against_svm;
    const YueTable3Column& paper = kYueTable3[i];
    grid.rows.push_back({fmt::format("sample {}", *row.samples), fmt::format("{}", *row.gamma),
                         fmt::format("{:.3f}", row.ndcg10_train),
                         fmt::format("{:.3f}", row.ndcg10_test),
                         fmt::format("{}/{}/{}", counts.win, counts.tie, counts.loss),
                         fmt::format("{:.3f}", paper.ndcg10),
                         fmt::format("{}/{}/{}", paper.win, paper.tie, paper.loss)});
  }
  grid.footnote =
      "Wins are queries on which the SVM is better: ours on the test queries of all folds. gamma "
      "is "
      "the best on the validation folds, delta is 1.";
  return grid;
}

Grid clicks_grid(const Findings& findings) {
  Grid grid{.title = "Learning from clicks: NDCG@10 after all lists",
            .heads = {"ranker", "users", "train", "test", "standard error"},
            .rows = {}};
  for (const Row& row : findings.clicks) {
    grid.rows.push_back({row.ranker, row.clicks, fmt::format("{:.3f}", row.ndcg10_train),
                         fmt::format("{:.3f}", row.ndcg10_test),
                         row.test_error ? fmt::format("{:.3f}", *row.test_error) : ""});
  }
  return grid;
}

std::vector<Grid> all_grids(const Findings& findings) {
  return {average_grid(findings), final_grid(findings), test_grid(findings), samples_grid(findings),
          clicks_grid(findings)};
}

std::string remark(const Findings& findings) {
  const auto best =
      std::max_element(findings.sweep.begin(), findings.sweep.end(),
                       [](const Row& a, const Row& b) { return a.ndcg10_train < b.ndcg10_train; });
  return fmt::format(
      "The ranking SVM, which is told the grades, reaches a test NDCG@10 of {:.3f}. DBGD, which "
      "only "
      "sees who wins, reaches {:.3f} in the cell that is best on the training queries (delta {}, "
      "gamma {}).",
      findings.svm.ndcg10_test, best->ndcg10_test, *best->delta, *best->gamma);
}

constexpr const char* kOtherData =
    "The paper's figures, in brackets, come from a web search data set that was never published: "
    "their shape can be compared, not their height.";

std::string size_text(const Findings& findings) {
  return fmt::format(
      "{}: {} queries ({} with a relevant document), {} documents, five folds; {} duels, {} lists, "
      "seed {}",
      findings.data, findings.queries, findings.judged_queries, findings.documents,
      findings.link_rounds, findings.click_rounds, findings.seed);
}

ReportTable report_table(Grid grid) {
  ReportTable table{.title = std::move(grid.title), .footnote = std::move(grid.footnote)};
  for (std::string& head : grid.heads) {
    table.columns.push_back(
        {.head = std::move(head), .align = table.columns.empty() ? Align::kLeft : Align::kRight});
  }
  for (std::vector<std::string>& row : grid.rows) {
    std::vector<ReportCell> cells;
    cells.reserve(row.size());
    for (std::string& cell : row) {
      cells.push_back({.text = std::move(cell)});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Chart curves(const Findings& findings, UserKind user) {
  Chart chart{.title = fmt::format("Test NDCG@10 with {} users", user_kind_name(user)),
              .caption =
                  "Mean of five folds; the line is the ranking SVM, which is told the "
                  "grades.",
              .x_label = "lists shown",
              .y_label = "NDCG@10",
              .log_x = true};
  const std::vector<double> x(findings.points.begin(), findings.points.end());
  for (const Row& row : findings.clicks) {
    if (row.clicks == user_kind_name(user)) {
      chart.series.push_back(
          {.name = row.ranker, .x = x, .y = row.curve, .emphasis = row.ranker == "dbgd"});
    }
  }
  chart.series.push_back({.name = "ranking SVM",
                          .x = x,
                          .y = std::vector<double>(x.size(), findings.svm.ndcg10_test),
                          .dashed = true});
  return chart;
}

void write_row(FindingsJson& json, const std::string& table, const Row& row) {
  const auto count = [&](const char* key, const std::optional<std::uint64_t>& value) {
    value ? json.key(key).count(*value) : json.key(key).number(std::nullopt);
  };
  json.object([&] {
    json.key("table").text(table);
    json.key("ranker").text(row.ranker);
    json.key("clicks").text(row.clicks);
    json.key("delta").number(row.delta);
    json.key("gamma").number(row.gamma);
    count("samples", row.samples);
    json.key("rounds").count(row.rounds);
    json.key("ndcg10_train").number(row.ndcg10_train);
    json.key("ndcg10_test").number(row.ndcg10_test);
    json.key("ndcg10_test_error").number(row.test_error);
    json.key("ndcg10_average").number(row.ndcg10_average);
    json.key("paper_average").number(row.paper_average);
    json.key("paper_final").number(row.paper_final);
    if (row.against_svm) {
      json.key("svm_wins").count(row.against_svm->win);
      json.key("ties").count(row.against_svm->tie);
      json.key("svm_losses").count(row.against_svm->loss);
    }
    json.key("curve").array(row.curve, [&](double value) { json.number(value); });
  });
}

}  // namespace

std::string dueling_letor_text(const DuelingLetorFindings& findings) {
  std::string text = fmt::format("Dueling bandits on judged documents\n{}\n", size_text(findings));
  for (const Grid& grid : all_grids(findings)) {
    TextTable table(grid.heads);
    for (const auto& row : grid.rows) {
      table.add(row);
    }
    text += fmt::format("\n{}\n\n{}", grid.title, table.str());
    if (!grid.footnote.empty()) {
      text += fmt::format("{}\n", grid.footnote);
    }
  }
  return text + fmt::format("\n{}\n{}\n", remark(findings), kOtherData);
}

std::string dueling_letor_json(const DuelingLetorFindings& findings) {
  std::vector<std::pair<std::string, const Row*>> rows = {{"svm", &findings.svm}};
  const auto add = [&](const char* table, const std::vector<Row>& all) {
    for (const Row& row : all) {
      rows.emplace_back(table, &row);
    }
  };
  add("sweep", findings.sweep);
  add("samples", findings.samples);
  add("clicks", findings.clicks);
  FindingsJson json;
  json.object([&] {
    json.key("experiment").text("dueling-letor");
    json.key("seed").count(findings.seed);
    json.key("data").text(findings.data);
    json.key("points").array(findings.points, [&](std::uint64_t point) { json.count(point); });
    json.key("svm_c").array(findings.svm_c, [&](double c) { json.number(c); });
    json.key("rows").array(rows, [&](const auto& row) { write_row(json, row.first, *row.second); });
  });
  return json.str();
}

Report dueling_letor_report(const DuelingLetorFindings& findings) {
  Report report{.title = "Learning to rank documents from duels",
                .subtitle = size_text(findings),
                .lead = {remark(findings), kOtherData}};
  ReportSection sweep{
      .heading = "Duels through the link",
      .text = {"Two weights are compared on a random query, and the rival wins with probability "
               "sigma(10 x the difference of their NDCG@10). 100 such duels decide a step."}};
  sweep.tables = {report_table(average_grid(findings)), report_table(final_grid(findings)),
                  report_table(test_grid(findings))};
  ReportSection samples{.heading = "How many queries to compare before a step",
                        .tables = {report_table(samples_grid(findings))}};
  ReportSection clicks{
      .heading = "Duels inside lists that users click in",
      .text =
          {"dbgd interleaves its order with one rival's, mgd with nine; pdgd draws its list and "
           "learns from pairs. Each list shows ten documents of a random training query."},
      .tables = {report_table(clicks_grid(findings))}};
  for (const UserKind user : kUserKinds) {
    clicks.charts.push_back(curves(findings, user));
  }
  report.sections = {std::move(sweep), std::move(samples), std::move(clicks)};
  return report;
}

}  // namespace hindsight
