#include "src/sim/open_bandit_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/core/intervals.h"
#include "src/sim/findings_json.h"
#include "src/sim/text_table.h"

namespace hindsight {
namespace {

std::string percent(double share) { return fmt::format("{:.2f}%", 100.0 * share); }

std::string range_of(double low, double high) {
  return fmt::format("{:.2f} to {:.2f}%", 100.0 * low, 100.0 * high);
}

constexpr const char* kHeads[] = {"campaign", "logged by", "target",    "estimator",
                                  "estimate", "95%",       "bootstrap", "truth",
                                  "95%",      "z",         "effective", "max weight"};

std::vector<std::string> cells_of(const OpenBanditFinding& row) {
  return {row.campaign,
          row.logged_by,
          row.target,
          row.estimator,
          percent(row.estimate.value),
          range_of(row.estimate.low, row.estimate.high),
          row.bootstrap ? range_of(row.bootstrap->low, row.bootstrap->high) : "",
          percent(row.truth.value),
          range_of(row.truth.low, row.truth.high),
          fmt::format("{:.2f}", row.z),
          fmt::format("{:.0f} of {}", row.effective_sample_size, row.rows),
          fmt::format("{:.1f}", row.max_weight)};
}

/// What the figures say, in a sentence.
std::string remark(const OpenBanditFindings& findings) {
  const auto agree =
      std::count_if(findings.rows.begin(), findings.rows.end(),
                    [](const OpenBanditFinding& row) { return std::abs(row.z) <= kNormal95; });
  const auto weak = std::count_if(
      findings.rows.begin(), findings.rows.end(),
      [](const OpenBanditFinding& row) { return row.effective_sample_size < kFewEffective; });
  return fmt::format(
      "{} of {} estimates agree with the click rate in the target's own log: they are within 1.96 "
      "standard errors of the difference. {}",
      agree, findings.rows.size(),
      weak == 0 ? std::string("All rest on an effective sample of 30 or more.")
                : fmt::format("{} rest on an effective sample below 30, and tell nothing.", weak));
}

constexpr const char* kHowToRead =
    "z is the distance of estimate and truth in standard errors of their difference. The effective "
    "sample says how many rows of the target's own log would tell as much.";

void write_row(FindingsJson& json, const OpenBanditFinding& row) {
  const auto bound = [&](double Interval::*member) {
    return row.bootstrap ? std::optional((*row.bootstrap).*member) : std::nullopt;
  };
  json.object([&] {
    json.key("campaign").text(row.campaign);
    json.key("logged_by").text(row.logged_by);
    json.key("target").text(row.target);
    json.key("estimator").text(row.estimator);
    json.key("logged_rows").count(row.rows);
    json.key("clicks").count(row.clicks);
    json.key("value").number(row.estimate.value);
    json.key("standard_error").number(row.estimate.standard_error);
    json.key("low").number(row.estimate.low);
    json.key("high").number(row.estimate.high);
    json.key("bootstrap_low").number(bound(&Interval::low));
    json.key("bootstrap_high").number(bound(&Interval::high));
    json.key("effective_sample_size").number(row.effective_sample_size);
    json.key("mean_weight").number(row.mean_weight);
    json.key("max_weight").number(row.max_weight);
    json.key("truth").number(row.truth.value);
    json.key("truth_low").number(row.truth.low);
    json.key("truth_high").number(row.truth.high);
    json.key("z").number(row.z);
  });
}

Chart chart_of(const OpenBanditFindings& findings) {
  Chart chart;
  chart.kind = ChartKind::kBars;
  chart.title = "Click rate of the other policy";
  chart.caption = "Each estimate beside the rate in the target's own log, with 95% intervals.";
  chart.y_label = "per cent";
  ChartSeries estimate;
  estimate.name = "estimate";
  estimate.emphasis = true;
  ChartSeries truth;
  truth.name = "the target's own log";
  for (const OpenBanditFinding& row : findings.rows) {
    chart.categories.push_back(
        fmt::format("{} {} → {} ({})", row.campaign, row.logged_by, row.target, row.estimator));
    estimate.y.push_back(100.0 * row.estimate.value);
    estimate.error.push_back(100.0 * (row.estimate.high - row.estimate.value));
    truth.y.push_back(100.0 * row.truth.value);
    truth.error.push_back(100.0 * (row.truth.high - row.truth.value));
  }
  chart.series = {std::move(estimate), std::move(truth)};
  return chart;
}

}  // namespace

std::string open_bandit_text(const OpenBanditFindings& findings) {
  TextTable table({std::begin(kHeads), std::end(kHeads)});
  for (const OpenBanditFinding& row : findings.rows) {
    table.add(cells_of(row));
  }
  return fmt::format("Off-policy estimates of the click rate, Open Bandit data\n\n{}\n{}\n{}\n",
                     table.str(), remark(findings), kHowToRead);
}

std::string open_bandit_json(const OpenBanditFindings& findings) {
  FindingsJson json;
  json.object([&] {
    json.key("experiment").text("open-bandit");
    json.key("seed").count(findings.seed);
    json.key("resamples").count(findings.resamples);
    json.key("rows").array(findings.rows,
                           [&](const OpenBanditFinding& row) { write_row(json, row); });
  });
  return json.str();
}

Report open_bandit_report(const OpenBanditFindings& findings) {
  ReportTable table;
  for (const char* head : kHeads) {
    table.columns.push_back(
        {.head = head, .align = table.columns.size() < 4 ? Align::kLeft : Align::kRight});
  }
  for (const OpenBanditFinding& row : findings.rows) {
    std::vector<ReportCell> cells;
    for (std::string& cell : cells_of(row)) {
      cells.push_back({.text = std::move(cell)});
    }
    table.rows.push_back(std::move(cells));
  }
  table.footnote = kHowToRead;
  Report report;
  report.title = "What would the other policy have earned?";
  report.subtitle = fmt::format("Open Bandit data; bootstrap with seed {}, {} resamples",
                                findings.seed, findings.resamples);
  report.lead = {remark(findings)};
  report.sections.push_back(
      {.heading = "Estimates and truths",
       .text = {"Two policies served the same shop in the same week. From the log of each, the "
                "click rate of the other is estimated by weighting every row with how much "
                "likelier the other was to show it."},
       .tables = {std::move(table)},
       .charts = {chart_of(findings)}});
  return report;
}

}  // namespace hindsight
