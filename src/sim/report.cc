#include "src/sim/report.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "src/core/check.h"
#include "src/sim/chart_data.h"
#include "src/sim/report_assets.h"
#include "src/sim/utf8.h"

namespace hindsight {
namespace {

/// Text as a page shows it, in elements and in quoted attributes alike.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

class Page {
 public:
  explicit Page(const Report& report) : report_(report) {}

  std::string html() {
    add_head();
    add_opening();
    for (std::size_t i = 0; i < report_.sections.size(); ++i) {
      add_section(report_.sections[i], i);
    }
    add_end();
    return as_utf8(html_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(html_), format, std::forward<Args>(args)...);
  }

  void add_paragraphs(const std::vector<std::string>& paragraphs, std::string_view css_class) {
    for (const std::string& paragraph : paragraphs) {
      add("<p class=\"{}\">{}</p>\n", css_class, escaped(paragraph));
    }
  }

  void add_head() {
    add("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    // Nothing may be loaded, and nothing may run but the one script and the one style inside.
    add("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'\">\n",
        report_script().hash, report_style().hash);
    add("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    add("<meta name=\"color-scheme\" content=\"light dark\">\n");
    add("<meta name=\"referrer\" content=\"no-referrer\">\n");
    add("<title>{}</title>\n<style>{}</style>\n</head>\n", escaped(report_.title),
        report_style().text);
  }

  void add_opening() {
    add("<body>\n<main>\n<header>\n<p class=\"maker\">Hindsight · report</p>\n<h1>{}</h1>\n",
        escaped(report_.title));
    if (!report_.subtitle.empty()) {
      add("<p class=\"subtitle\">{}</p>\n", escaped(report_.subtitle));
    }
    add_paragraphs(report_.lead, "lead");
    add("<noscript><p class=\"notice mild\">The charts need scripts, which are switched off here. "
        "The tables, and those under “Figures” at each chart, hold all figures.</p></noscript>\n");
    add("<p class=\"notice\" id=\"problem\" role=\"alert\" hidden></p>\n</header>\n");
    if (report_.sections.size() > 2) {
      add("<nav class=\"contents\" aria-label=\"Contents\"><ul>\n");
      for (std::size_t i = 0; i < report_.sections.size(); ++i) {
        add("<li><a href=\"#section-{}\">{}</a></li>\n", i, escaped(report_.sections[i].heading));
      }
      add("</ul></nav>\n");
    }
  }

  void add_section(const ReportSection& section, std::size_t index) {
    add("<section id=\"section-{0}\" aria-labelledby=\"heading-{0}\">\n"
        "<h2 id=\"heading-{0}\">{1}</h2>\n",
        index, escaped(section.heading));
    add_paragraphs(section.text, "");
    for (const ReportTable& table : section.tables) {
      add("<figure>\n");
      if (!table.title.empty()) {
        add("<figcaption><h3>{}</h3></figcaption>\n", escaped(table.title));
      }
      add_table(table, table.title.empty() ? section.heading : table.title);
      add("</figure>\n");
    }
    for (const Chart& chart : section.charts) {
      add_chart(chart);
    }
    add("</section>\n");
  }

  /// The first cell of a row names it. A box that scrolls can be reached by keyboard.
  void add_table(const ReportTable& table, std::string_view label) {
    add("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n"
        "<table>\n<thead><tr>",
        escaped(label));
    for (const ReportColumn& column : table.columns) {
      add("<th scope=\"col\"{}>{}", column.align == Align::kRight ? " class=\"right\"" : "",
          escaped(column.head));
      if (!column.note.empty()) {
        add("<small>{}</small>", escaped(column.note));
      }
      add("</th>");
    }
    add("</tr></thead>\n<tbody>\n");
    for (const auto& row : table.rows) {
      HINDSIGHT_CHECK(row.size() == table.columns.size());
      add("<tr>");
      for (std::size_t i = 0; i < row.size(); ++i) {
        add_cell(row[i], table.columns[i].align, i == 0);
      }
      add("</tr>\n");
    }
    add("</tbody>\n</table>\n</div>\n");
    if (!table.footnote.empty()) {
      add("<p class=\"footnote\">{}</p>\n", escaped(table.footnote));
    }
  }

  void add_cell(const ReportCell& cell, Align align, bool names_row) {
    const std::string css_class =
        fmt::format("{}{}", align == Align::kRight ? "right" : "", cell.emphasis ? " best" : "");
    add("<{}{}>{}</{}>", names_row ? "th scope=\"row\"" : "td",
        css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class), escaped(cell.text),
        names_row ? "th" : "td");
  }

  void add_chart(const Chart& chart) {
    const std::size_t index = charts_.size();
    charts_.push_back(&chart);
    add("<figure>\n<figcaption><h3>{}</h3><p>{}</p></figcaption>\n", escaped(chart.title),
        escaped(chart.caption));
    if (chart.kind == ChartKind::kLine && !chart.y_label.empty()) {
      add("<p class=\"axis-name\">{}</p>\n", escaped(chart.y_label));
    }
    add("<div class=\"plot\" id=\"plot-{}\" role=\"img\" aria-label=\"{}: {}\"></div>\n", index,
        escaped(chart.title), escaped(chart.caption));
    if (chart.kind == ChartKind::kLine) {
      add("<p class=\"hint\">Drag over the plot to look closer; double-click to see all "
          "again.</p>\n");
    }
    add("<details>\n<summary>Figures</summary>\n");
    add_table(chart_table(chart), chart.title);
    add("</details>\n</figure>\n");
  }

  void add_end() {
    add("<footer>Made by hindsight. Charts are drawn by uPlot.</footer>\n</main>\n");
    // A data block is not run, so that the policy need not know it.
    add("<script type=\"application/json\" id=\"report-data\">{}</script>\n", charts_json(charts_));
    add("<script>{}</script>\n</body>\n</html>\n", report_script().text);
  }

  const Report& report_;
  std::string html_;
  std::vector<const Chart*> charts_;
};

}  // namespace

std::string render_html(const Report& report) { return Page(report).html(); }

}  // namespace hindsight
