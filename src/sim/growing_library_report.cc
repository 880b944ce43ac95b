#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "src/sim/delage_table2.h"
#include "src/sim/growing_library_output.h"
#include "src/sim/text_table.h"

namespace hindsight {
namespace {

constexpr double kSameCost = 1e-9;  // the same weights, summed in another order
constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

std::string name_of(const GrowingLibraryRow& row) {
  return row.alpha ? fmt::format("{} (α = {})", row.ranker, *row.alpha) : row.ranker;
}

std::vector<const GrowingLibraryRow*> headline_of(const GrowingLibraryResult& set) {
  std::vector<const GrowingLibraryRow*> rows;
  for (const GrowingLibraryRow& row : set.rows) {
    if (row.headline) {
      rows.push_back(&row);
    }
  }
  return rows;
}

/// The four columns of Table 2, with the best value of each marked.
class MetricCells {
 public:
  explicit MetricCells(const std::vector<const GrowingLibraryRow*>& rows) {
    for (const GrowingLibraryRow* row : rows) {
      least_cost_ = std::min(least_cost_, row->kl_cost.mean);
      least_distance_ = std::min(least_distance_, row->rel_distance.mean);
      most_first_ = std::max(most_first_, row->first_rate.mean);
      most_ndcg_ = std::max(most_ndcg_, row->ndcg.mean);
    }
  }

  static std::vector<ReportColumn> columns() {
    return {{.head = "ranker", .align = Align::kLeft},
            {.head = "α"},
            {.head = "K-L cost", .note = "nats"},
            {.head = "rel. distance"},
            {.head = "clicked first"},
            {.head = "NDCG"}};
  }

  std::vector<ReportCell> cells(const GrowingLibraryRow& row) const {
    return {{row.ranker, false},
            {row.alpha ? fmt::format("{}", *row.alpha) : "", false},
            {format_cost(row.kl_cost),
             std::isfinite(row.kl_cost.mean) && row.kl_cost.mean <= least_cost_ + kSameCost},
            {format_share(row.rel_distance), row.rel_distance.mean == least_distance_},
            {format_share(row.first_rate), row.first_rate.mean == most_first_},
            {format_share(row.ndcg), row.ndcg.mean == most_ndcg_}};
  }

 private:
  double least_cost_ = std::numeric_limits<double>::infinity();
  double least_distance_ = std::numeric_limits<double>::infinity();
  double most_first_ = 0.0;
  double most_ndcg_ = 0.0;
};

ReportTable metric_table(std::string title, const std::vector<const GrowingLibraryRow*>& rows,
                         bool with_paper) {
  ReportTable table;
  table.title = std::move(title);
  table.columns = MetricCells::columns();
  if (with_paper) {
    for (const char* head : {"K-L cost", "rel. distance", "clicked first", "NDCG"}) {
      table.columns.push_back({.head = head, .note = "paper"});
    }
    table.footnote = fmt::format(
        "The paper's columns are its Table 2, on its own cut of Cora ({} queries, other candidate "
        "sets). Bold: the best of our column.",
        format_count(kDelageTable2Queries));
  }
  table.columns.push_back({.head = "information", .align = Align::kLeft});
  const MetricCells metrics(rows);
  for (const GrowingLibraryRow* row : rows) {
    std::vector<ReportCell> cells = metrics.cells(*row);
    if (with_paper) {
      const DelageTable2Row* paper = find_delage_table2(row->ranker);
      cells.push_back({paper ? format_cost({paper->kl_cost, {}, {}}) : "", false});
      cells.push_back({paper ? format_share({paper->rel_distance, {}, {}}) : "", false});
      cells.push_back({paper ? format_share({paper->first_rate, {}, {}}) : "", false});
      cells.push_back({paper ? format_share({paper->ndcg, {}, {}}) : "", false});
    }
    cells.push_back({row->information, false});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// Ours and the paper's, as per cents, one category per ranker.
Chart metric_bars(const std::vector<const GrowingLibraryRow*>& rows, const std::string& title,
                  const std::string& caption, Measure GrowingLibraryRow::*ours,
                  double DelageTable2Row::*theirs) {
  Chart chart;
  chart.kind = ChartKind::kBars;
  chart.title = title;
  chart.caption = caption;
  chart.y_label = "per cent";
  ChartSeries here;
  here.name = "here";
  here.emphasis = true;
  ChartSeries paper;
  paper.name = "paper (its own data)";
  for (const GrowingLibraryRow* row : rows) {
    chart.categories.push_back(row->ranker);
    const Measure& measure = row->*ours;
    here.y.push_back(100.0 * measure.mean);
    here.error.push_back(100.0 * measure.run_error.value_or(0.0));
    const DelageTable2Row* printed = find_delage_table2(row->ranker);
    paper.y.push_back(printed ? 100.0 * (printed->*theirs) : kGap);
  }
  chart.series = {std::move(here), std::move(paper)};
  return chart;
}

/// The mean of everything up to each point: blocks have equal length, but for one query.
ChartSeries mean_so_far(const GrowingLibraryRow& row, double JudgedPoint::*member, double scale) {
  ChartSeries series;
  series.name = name_of(row);
  double sum = 0.0;
  std::uint64_t before = 0;
  for (const JudgedPoint& point : row.curve) {
    sum += (point.*member) * static_cast<double>(point.t - before);
    before = point.t;
    series.x.push_back(static_cast<double>(point.t));
    series.y.push_back(scale * sum / static_cast<double>(point.t));
  }
  return series;
}

Chart over_time(const std::vector<const GrowingLibraryRow*>& rows, std::string title,
                std::string caption, std::string y_label, double JudgedPoint::*member,
                double scale) {
  Chart chart;
  chart.title = std::move(title);
  chart.caption = std::move(caption);
  chart.x_label = "queries";
  chart.y_label = std::move(y_label);
  for (const GrowingLibraryRow* row : rows) {
    ChartSeries series = mean_so_far(*row, member, scale);
    if (!series.y.empty() && std::isfinite(series.y.back())) {
      series.emphasis = row->ranker == "noregret-klrank";
      series.dashed = row->ranker == "random";
      chart.series.push_back(std::move(series));
    }
  }
  return chart;
}

Chart regret_chart(const GrowingLibraryRow& row) {
  Chart chart;
  chart.title = fmt::format("Regret of {} under its bounds", name_of(row));
  chart.caption =
      "Regret against the best fixed policy in hindsight lies between the lower and the "
      "upper end. The upper end is what Theorem 4.4 bounds: it must stay below both dashed lines.";
  chart.x_label = "queries";
  chart.y_label = "nats, in total";
  chart.log_x = true;
  chart.log_y = true;
  const auto line = [&](const char* name, double RegretBracket::*member, bool dashed,
                        bool emphasis) {
    ChartSeries series;
    series.name = name;
    series.dashed = dashed;
    series.emphasis = emphasis;
    for (const RegretBracket& bracket : row.regret) {
      series.x.push_back(static_cast<double>(bracket.clicks));
      series.y.push_back(bracket.*member);
    }
    chart.series.push_back(std::move(series));
  };
  line("regret, upper end", &RegretBracket::upper, false, true);
  line("regret, lower end", &RegretBracket::lower, false, false);
  line("data-dependent bound", &RegretBracket::data_bound, true, false);
  line("Theorem 4.4", &RegretBracket::theorem_bound, true, false);
  line("total cost", &RegretBracket::cost, false, false);
  return chart;
}

ReportTable regret_table(const GrowingLibraryRow& row) {
  ReportTable table;
  table.title = fmt::format("Regret of {} at powers of two", name_of(row));
  table.columns = {{.head = "queries"},           {.head = "cost"},
                   {.head = "best in hindsight"}, {.head = "regret, lower end"},
                   {.head = "regret, upper end"}, {.head = "data bound"},
                   {.head = "Theorem 4.4"}};
  for (const RegretBracket& bracket : row.regret) {
    std::vector<ReportCell> cells = {{format_count(static_cast<double>(bracket.clicks)), false}};
    for (const double value : {bracket.cost, bracket.hindsight_cost, bracket.lower, bracket.upper,
                               bracket.data_bound, bracket.theorem_bound}) {
      cells.push_back({std::isnan(value) ? std::string() : fmt::format("{:.1f}", value), false});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// One line per gradient ranker over the values of alpha that were tried.
Chart sweep_chart(const GrowingLibraryResult& set, std::string title, std::string caption,
                  std::string y_label, Measure GrowingLibraryRow::*member, double scale) {
  Chart chart;
  chart.title = std::move(title);
  chart.caption = std::move(caption);
  chart.x_label = "α";
  chart.y_label = std::move(y_label);
  chart.log_x = true;
  for (const GrowingLibraryRow* first : headline_of(set)) {
    std::vector<std::pair<double, double>> points;
    for (const GrowingLibraryRow& row : set.rows) {
      if (row.ranker == first->ranker && row.alpha && std::isfinite((row.*member).mean)) {
        points.emplace_back(*row.alpha, scale * (row.*member).mean);
      }
    }
    std::sort(points.begin(), points.end());
    ChartSeries series;
    series.name = first->ranker;
    series.emphasis = first->ranker == "noregret-klrank";
    for (const auto& [alpha, value] : points) {
      series.x.push_back(alpha);
      series.y.push_back(value);
    }
    if (points.size() > 1) {
      chart.series.push_back(std::move(series));
    }
  }
  return chart;
}

ReportSection sweep_section(const GrowingLibraryResult& set) {
  std::vector<const GrowingLibraryRow*> swept;
  for (const GrowingLibraryRow& row : set.rows) {
    if (row.alpha) {
      swept.push_back(&row);
    }
  }
  std::stable_sort(swept.begin(), swept.end(), [](const auto* a, const auto* b) {
    return a->ranker != b->ranker ? a->ranker < b->ranker : *a->alpha < *b->alpha;
  });
  ReportSection section;
  section.heading = fmt::format("{}: other values of α", set.dataset);
  section.text = {
      "α sets the size of the balls that the weights may move in, and with it the steps. A small "
      "one learns slowly and promises much, a large one follows every click."};
  section.tables.push_back(metric_table("", swept, false));
  for (Chart& chart :
       std::vector<Chart>{sweep_chart(set, "K-L cost by α", "Rankers whose cost is finite.", "nats",
                                      &GrowingLibraryRow::kl_cost, 1.0),
                          sweep_chart(set, "NDCG by α", "All gradient rankers.", "per cent",
                                      &GrowingLibraryRow::ndcg, 100.0)}) {
    if (!chart.series.empty()) {
      section.charts.push_back(std::move(chart));
    }
  }
  return section;
}

ReportSection table_section(const GrowingLibraryResult& set) {
  ReportSection section;
  section.heading = set.dataset;
  section.text.push_back(fmt::format(
      "{} papers in {} topics arrive in order of year; {} citations of papers already there are "
      "the queries, with {} candidates on average. Random puts the pick first in {:.1f}% of "
      "them.",
      format_count(static_cast<double>(set.papers)), set.topics,
      format_count(static_cast<double>(set.queries)), format_count(set.mean_candidates),
      100.0 * set.mean_inverse_candidates));
  for (std::string& remark : growing_library_remarks(set)) {
    section.text.push_back(std::move(remark));
  }
  const auto rows = headline_of(set);
  section.tables.push_back(metric_table("Table 2, ours beside the paper's", rows, true));
  section.charts.push_back(metric_bars(rows, "NDCG", "Higher is better.", &GrowingLibraryRow::ndcg,
                                       &DelageTable2Row::ndcg));
  section.charts.push_back(metric_bars(rows, "Relative click distance", "Lower is better.",
                                       &GrowingLibraryRow::rel_distance,
                                       &DelageTable2Row::rel_distance));
  section.charts.push_back(over_time(
      rows, "Cost over time", "Mean K-L cost so far, where it is finite. Libraries grow: it rises.",
      "nats per query", &JudgedPoint::kl_cost, 1.0));
  section.charts.push_back(over_time(rows, "NDCG over time", "Mean NDCG so far.", "per cent",
                                     &JudgedPoint::ndcg, 100.0));
  return section;
}

void add_set(const GrowingLibraryResult& set, Report& report) {
  report.sections.push_back(table_section(set));
  const auto rows = headline_of(set);
  const auto with_regret =
      std::find_if(rows.begin(), rows.end(), [](const auto* row) { return !row->regret.empty(); });
  if (with_regret != rows.end()) {  // those after it learn the same weights and have the same
    ReportSection section;
    section.heading = fmt::format("{}: regret", set.dataset);
    section.charts.push_back(regret_chart(**with_regret));
    section.tables.push_back(regret_table(**with_regret));
    report.sections.push_back(std::move(section));
  }
  if (set.rows.size() > rows.size()) {
    report.sections.push_back(sweep_section(set));
  }
}

ReportSection adversary_section(const GrowingLibraryFindings& findings) {
  std::vector<const GrowingLibraryRow*> rows;
  for (const GrowingLibraryRow& row : findings.adversary) {
    rows.push_back(&row);
  }
  ReportSection section;
  section.heading = "Users who want the worst";
  section.text = {fmt::format(
      "Remark 3.1: {} items, {} queries. Every user wants the item that the ranker likes least; "
      "the adversary knows all that the ranker has learned, but not how its coins fall. A sorted "
      "list then has the pick at its end, ties apart. Drawing the list makes the ranker as good "
      "as Random, which is the best that is possible here; drawing only the first slot keeps the "
      "K-L cost low, but not the positions.",
      findings.adversary_params.items,
      format_count(static_cast<double>(findings.adversary_params.queries)))};
  section.tables.push_back(metric_table("", rows, false));
  section.charts.push_back(over_time(rows, "Relative click distance over time", "Lower is better.",
                                     "per cent", &JudgedPoint::rel_distance, 100.0));
  return section;
}

}  // namespace

Report growing_library_report(const GrowingLibraryFindings& findings) {
  Report report;
  report.title = "A growing library";
  std::vector<std::string> names;
  for (const GrowingLibraryResult& set : findings.sets) {
    names.push_back(set.dataset);
  }
  report.subtitle =
      fmt::format("{}; seed {}, {} run{}{}", fmt::join(names, ", "), findings.seed, findings.runs,
                  findings.runs == 1 ? "" : "s", findings.quick ? ", quick: a smaller cut" : "");
  report.lead = findings.notes;
  report.lead.insert(
      report.lead.begin(),
      "The experiment of [Delage09] section 5: papers join a library one by one, each citation of "
      "a paper is a query for the cited paper's topic, and rankers learn from what was picked.");
  for (const GrowingLibraryResult& set : findings.sets) {
    add_set(set, report);
  }
  if (!findings.adversary.empty()) {
    report.sections.push_back(adversary_section(findings));
  }
  return report;
}

}  // namespace hindsight
