// A report with every kind of part in it, and with names that try to break out of the page.

#pragma once

#include <cmath>
#include <limits>

#include "hindsight/random.h"
#include "src/sim/report.h"

namespace hindsight {

/// Markup, script, attribute and encoding tricks, as a data set's name could carry them.
inline constexpr const char* kHostileName =
    "</script><b onload=\"alert(1)\">&amp;<!--'\\u003c \xE2\x80\xA8 \x01 \xFF é";

inline Chart sample_curves() {
  Chart chart{.title = "Regret against the best fixed policy",
              .caption =
                  "Total regret stays far under both bounds and bends away from them: the "
                  "average per round goes to zero.",
              .x_label = "queries",
              .y_label = "regret (nats)",
              .log_x = true,
              .log_y = true};
  ChartSeries regret{.name = "NoRegret KLRank", .emphasis = true};
  ChartSeries data_bound{.name = "data-dependent bound", .dashed = true};
  ChartSeries bound{.name = "bound of Theorem 4.4", .dashed = true};
  for (double t = 1; t < 27'000; t *= 1.25) {
    const double whole = std::floor(t);
    if (!regret.x.empty() && regret.x.back() == whole) {
      continue;
    }
    for (ChartSeries* series : {&regret, &data_bound}) {
      series->x.push_back(whole);
    }
    regret.y.push_back(1.4 * std::pow(whole, 0.66));
    regret.error.push_back(0.12 * regret.y.back());
    data_bound.y.push_back(19 * std::pow(whole, 0.75));
  }
  for (double t = 1; t <= 16'384; t *= 2) {
    bound.x.push_back(t);
    bound.y.push_back(60 * (std::pow(t, 0.75) + 1));
  }
  chart.series = {regret, data_bound, bound};
  return chart;
}

inline Chart sample_many_lines() {
  Chart chart{.title = "Cost over time",
              .caption = "Every ranker that learns falls below Random within a thousand queries.",
              .x_label = "queries",
              .y_label = "average K-L cost (nats)"};
  Rng rng(3);
  for (const char* name : {"noregret-klrank", "klrank", "greedy-klrank", "online-ranknet",
                           "category-ranking", "hits", "pagerank", "mcrank", "random"}) {
    ChartSeries series{.name = name};
    const double level = 3.6 + 0.12 * static_cast<double>(chart.series.size());
    series.emphasis = chart.series.empty();
    const bool spread = chart.series.empty();
    for (int i = 0; i < 200; ++i) {
      series.x.push_back(130.0 * i);
      series.y.push_back(i == 60 ? std::numeric_limits<double>::quiet_NaN()
                                 : level + std::exp(-i / 20.0) + 0.03 * rng.normal());
      if (spread) {
        series.error.push_back(0.1);
      }
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

inline Chart sample_bars() {
  return {.kind = ChartKind::kBars,
          .title = "NDCG, the paper and this run",
          .caption = "The order of the rankers is that of the paper; Random is last in both.",
          .x_label = "ranker",
          .y_label = "NDCG (%)",
          .categories = {"noregret-klrank", "greedy-klrank", "online-ranknet", "category-ranking",
                         "hits", "random", kHostileName},
          .series = {{.name = "paper", .y = {34.4, 39.1, 37.4, 37.3, 36.2, 27.6, NAN}},
                     {.name = "this run",
                      .y = {25.1, 32.6, 32.5, 27.1, 29.4, 21.7, 12.0},
                      .error = {0.6, 0.4, 0.3, 0.5, 0.4, 1.2, 0.0},
                      .emphasis = true}}};
}

inline ReportTable sample_table() {
  ReportTable table{.title = "Table 2, the paper beside this run",
                    .columns = {{"ranker", Align::kLeft},
                                {"α"},
                                {"K-L cost", Align::kRight, "nats"},
                                {"paper"},
                                {"rel. distance", Align::kRight, "%"},
                                {"paper"},
                                {"clicked first", Align::kRight, "%"},
                                {"paper"},
                                {"NDCG", Align::kRight, "%"},
                                {"paper"}}};
  table.rows = {{{"NoRegret KLRank"},
                 {"3"},
                 {"4.41", true},
                 {"4.63"},
                 {"40.0"},
                 {"25.7"},
                 {"3.3"},
                 {"14.3"},
                 {"25.1"},
                 {"34.4"}},
                {{"Greedy KLRank"},
                 {"3"},
                 {"∞"},
                 {"∞"},
                 {"30.0"},
                 {"19.2"},
                 {"8.9", true},
                 {"17.8"},
                 {"32.6", true},
                 {"39.1"}},
                {{"Online RankNet"},
                 {"1"},
                 {"∞"},
                 {"∞"},
                 {"29.9", true},
                 {"19.8"},
                 {"8.8"},
                 {"16.1"},
                 {"32.5"},
                 {"37.4"}},
                {{kHostileName},
                 {"–"},
                 {"4.69"},
                 {"4.93"},
                 {"49.2"},
                 {"45.0"},
                 {"1.7"},
                 {"9.7"},
                 {"21.7"},
                 {"27.6"}}};
  table.footnote =
      "The best of each column stands out. ∞: a list that is sorted gives the picked "
      "item no probability wherever it is not first.";
  return table;
}

/// Four charts: curves on logarithmic axes, many lines, bars, and a bar chart of costs.
inline Report sample_report() {
  Chart costs{.kind = ChartKind::kBars,
              .title = "Time of one query",
              .caption = "All rankers answer in microseconds.",
              .y_label = "µs (logarithmic)",
              .log_y = true,
              .categories = {"klrank", "pagerank"},
              .series = {{.name = "time", .y = {1.4, 220.0}}}};
  return {
      .title = "Growing library",
      .subtitle = std::string("Data set ") + kHostileName + " · 26,842 queries · seed 7",
      .lead = {"Greedy KLRank and Online RankNet lead, Random is last, as in the paper. NoRegret "
               "KLRank pays 4.41 nats a query, 0.28 less than Random, and its regret stays far "
               "under both bounds."},
      .sections = {{"Rankings",
                    {"Each row used the α that served it best."},
                    {sample_table()},
                    {sample_bars()}},
                   {"Regret",
                    {"The regret is against the best fixed ranking policy chosen in "
                     "hindsight."},
                    {},
                    {sample_curves()}},
                   {"Over time", {}, {}, {sample_many_lines(), costs}}}};
}

}  // namespace hindsight
