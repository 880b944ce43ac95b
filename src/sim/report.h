// Report: an experiment's findings as one self-contained HTML page.
//
// The page carries its data, style, script and chart library inside, loads nothing from anywhere,
// and opens from a disk without a network. Every text is data: it is shown as written, never read
// as markup. What the charts show the tables hold too, so that the page is complete without
// scripts.
//
// Thread-safety: plain values and a pure function.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hindsight {

enum class Align : std::uint8_t { kLeft, kRight };

struct ReportColumn {
  std::string head = {};
  Align align = Align::kRight;
  std::string note = {};  // a few words under the head, e.g. a unit; may be empty
};

struct ReportCell {
  std::string text = {};
  bool emphasis = false;  // the best of its column, the row to look at
};

struct ReportTable {
  std::string title = {};  // may be empty
  std::vector<ReportColumn> columns = {};
  std::vector<std::vector<ReportCell>> rows = {};  // each with one cell per column
  std::string footnote = {};                       // may be empty
};

enum class ChartKind : std::uint8_t { kLine, kBars };

/// One curve, or in a bar chart one group: a bar in every category.
struct ChartSeries {
  std::string name = {};
  std::vector<double> x = {};      // lines: ascending; bars: empty
  std::vector<double> y = {};      // lines: one per x; bars: one per category. Not finite: a gap
  std::vector<double> error = {};  // empty, or one per y: drawn as y - error to y + error
  bool dashed = false;             // bounds and references
  bool emphasis = false;           // the series that the chart is about
};

struct Chart {
  ChartKind kind = ChartKind::kLine;
  std::string title = {};
  std::string caption = {};  // one sentence: what it shows and what to see in it
  std::string x_label = {};
  std::string y_label = {};
  bool log_x = false;  // lines only; values that are not positive become gaps
  bool log_y = false;
  std::vector<std::string> categories = {};  // bars only
  std::vector<ChartSeries> series = {};
};

struct ReportSection {
  std::string heading = {};
  std::vector<std::string> text = {};  // paragraphs
  std::vector<ReportTable> tables = {};
  std::vector<Chart> charts = {};
};

struct Report {
  std::string title = {};
  std::string subtitle = {};           // one line: data, seed, size
  std::vector<std::string> lead = {};  // paragraphs: the finding before the details
  std::vector<ReportSection> sections = {};
};

/// RETURNS: a whole HTML document in UTF-8. REQUIRES: every row of a table has one cell per column;
/// a line's x and y, and a bar series' y and the categories, are of equal size; errors are empty or
/// one per y; a line's x is finite and ascending
std::string render_html(const Report& report);

}  // namespace hindsight
