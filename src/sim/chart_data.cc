#include "src/sim/chart_data.h"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "src/core/check.h"

namespace hindsight {
namespace {

using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

constexpr std::size_t kMaxTableRows = 60;
constexpr std::string_view kNoFigure = "–";

void write_text(JsonWriter& out, const char* key, const std::string& text) {
  out.Key(key);
  out.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void write_numbers(JsonWriter& out, const char* key, const std::vector<double>& values) {
  out.Key(key);
  out.StartArray();
  for (const double value : values) {
    const std::string text = data_number(value);
    out.RawValue(text.data(), text.size(), rapidjson::kNumberType);
  }
  out.EndArray();
}

void check_series(const Chart& chart, const ChartSeries& series) {
  const std::size_t expected =
      chart.kind == ChartKind::kBars ? chart.categories.size() : series.x.size();
  HINDSIGHT_CHECK(series.y.size() == expected);
  HINDSIGHT_CHECK(series.error.empty() || series.error.size() == series.y.size());
  HINDSIGHT_CHECK(std::is_sorted(series.x.begin(), series.x.end()));
}

void write_series(JsonWriter& out, const Chart& chart, const ChartSeries& series) {
  check_series(chart, series);
  out.StartObject();
  write_text(out, "name", series.name);
  if (chart.kind == ChartKind::kLine) {
    write_numbers(out, "x", series.x);
  }
  write_numbers(out, "y", series.y);
  if (!series.error.empty()) {
    write_numbers(out, "error", series.error);
  }
  out.Key("dashed");
  out.Bool(series.dashed);
  out.Key("emphasis");
  out.Bool(series.emphasis);
  out.EndObject();
}

void write_chart(JsonWriter& out, const Chart& chart) {
  out.StartObject();
  out.Key("kind");
  out.String(chart.kind == ChartKind::kBars ? "bars" : "line");
  write_text(out, "xLabel", chart.x_label);
  write_text(out, "yLabel", chart.y_label);
  out.Key("logX");
  out.Bool(chart.log_x);
  out.Key("logY");
  out.Bool(chart.log_y);
  out.Key("categories");
  out.StartArray();
  for (const std::string& category : chart.categories) {
    out.String(category.data(), static_cast<rapidjson::SizeType>(category.size()));
  }
  out.EndArray();
  out.Key("series");
  out.StartArray();
  for (const ChartSeries& series : chart.series) {
    write_series(out, chart, series);
  }
  out.EndArray();
  out.EndObject();
}

std::string short_number(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::general, 5);
  return {text, end.ptr};
}

std::string figure(const ChartSeries& series, std::size_t i) {
  if (!std::isfinite(series.y[i])) {
    return std::string(kNoFigure);
  }
  std::string text = short_number(series.y[i]);
  if (!series.error.empty() && std::isfinite(series.error[i])) {
    text += " ± " + short_number(series.error[i]);
  }
  return text;
}

/// Every x of the chart, once.
std::vector<double> all_x(const Chart& chart) {
  std::vector<double> all;
  for (const ChartSeries& series : chart.series) {
    all.insert(all.end(), series.x.begin(), series.x.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<double> evenly_spaced(const std::vector<double>& all) {
  std::vector<double> kept;
  for (std::size_t row = 0; row < kMaxTableRows; ++row) {
    kept.push_back(all[row * (all.size() - 1) / (kMaxTableRows - 1)]);
  }
  return kept;
}

void add_line_rows(const Chart& chart, ReportTable& table) {
  std::vector<double> rows = all_x(chart);
  if (rows.size() > kMaxTableRows) {
    rows = evenly_spaced(rows);
    table.footnote = "Evenly spaced rows of the curves' points.";
  }
  for (const double x : rows) {
    std::vector<ReportCell> row = {{data_number(x)}};
    for (const ChartSeries& series : chart.series) {
      const auto at = std::lower_bound(series.x.begin(), series.x.end(), x);
      const bool here = at != series.x.end() && *at == x;
      row.push_back({here ? figure(series, static_cast<std::size_t>(at - series.x.begin()))
                          : std::string(kNoFigure)});
    }
    table.rows.push_back(std::move(row));
  }
}

}  // namespace

std::string data_number(double value) {
  if (!std::isfinite(value)) {
    return "null";
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::general, 9);
  return {text, end.ptr};
}

std::string charts_json(const std::vector<const Chart*>& charts) {
  rapidjson::StringBuffer buffer;
  JsonWriter out(buffer);
  out.StartObject();
  out.Key("charts");
  out.StartArray();
  for (const Chart* chart : charts) {
    write_chart(out, *chart);
  }
  out.EndArray();
  out.EndObject();
  // In JSON these three stand in strings only, where an escape means the same.
  std::string safe;
  for (const char c : std::string_view(buffer.GetString(), buffer.GetSize())) {
    switch (c) {
      case '<':
        safe += "\\u003c";
        break;
      case '>':
        safe += "\\u003e";
        break;
      case '&':
        safe += "\\u0026";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

ReportTable chart_table(const Chart& chart) {
  ReportTable table;
  table.columns.push_back(
      {chart.x_label, chart.kind == ChartKind::kBars ? Align::kLeft : Align::kRight, ""});
  for (const ChartSeries& series : chart.series) {
    check_series(chart, series);
    table.columns.push_back({series.name, Align::kRight, ""});
  }
  if (chart.kind == ChartKind::kLine) {
    add_line_rows(chart, table);
    return table;
  }
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    std::vector<ReportCell> row = {{chart.categories[i]}};
    for (const ChartSeries& series : chart.series) {
      row.push_back({figure(series, i)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace hindsight
