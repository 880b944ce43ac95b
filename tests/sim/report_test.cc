#include "src/sim/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidjson/document.h>

#include <cmath>
#include <limits>
#include <string>

#include "src/sim/chart_data.h"
#include "src/sim/report_assets.h"
#include "src/sim/table_reader.h"
#include "tests/support/sample_report.h"

namespace hindsight {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The page without our own style and script, which the tests of its texts are not about.
std::string without_assets(std::string page) {
  for (const std::string_view asset : {report_style().text, report_script().text}) {
    const auto at = page.find(asset);
    EXPECT_NE(at, std::string::npos);
    page.erase(at, asset.size());
  }
  return page;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

rapidjson::Document data_of(const std::string& page) {
  const std::string_view opening = "<script type=\"application/json\" id=\"report-data\">";
  const auto begin = page.find(opening) + opening.size();
  rapidjson::Document data;
  data.Parse(page.substr(begin, page.find("</script>", begin) - begin).c_str());
  EXPECT_FALSE(data.HasParseError());
  return data;
}

TEST(Report, HoldsEveryTextAndFigureOfItsParts) {
  const std::string page = render_html(sample_report());
  for (const char* text : {"<title>Growing library</title>", "4.41 nats a query", "clicked first",
                           "<td class=\"right best\">32.6</td>", "wherever it is not first.",
                           "Random is last in both.", "regret (nats)", "data-dependent bound"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  const auto data = data_of(page);
  ASSERT_EQ(data["charts"].Size(), 4U);
  const auto& bars = data["charts"][0];
  EXPECT_STREQ(bars["kind"].GetString(), "bars");
  EXPECT_EQ(bars["series"][1]["y"][1].GetDouble(), 32.6);
  EXPECT_TRUE(bars["series"][0]["y"][6].IsNull()) << "NaN is a gap";
  EXPECT_EQ(
      std::string(bars["categories"][6].GetString()),
      std::string(kHostileName).replace(std::string(kHostileName).find('\xFF'), 1, "\xEF\xBF\xBD"));
}

TEST(Report, ANameCannotBreakOutOfThePage) {
  const std::string page = without_assets(render_html(sample_report()));
  EXPECT_THAT(page, Not(HasSubstr("<b ")));
  EXPECT_THAT(page, Not(HasSubstr("<!--")));
  EXPECT_EQ(count(page, "</script>"), 2U);
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;b onload=&quot;alert(1)&quot;&gt;&amp;amp;"));
}

TEST(Report, AnyTextAnywhereLeavesTheMarkupAsItIs) {
  const auto shape = [](const std::string& text) {
    Report report{.title = text,
                  .subtitle = text,
                  .lead = {text},
                  .sections = {{text,
                                {text},
                                {{text, {{text, Align::kLeft, text}}, {{{text}}}, text}},
                                {{ChartKind::kBars,
                                  text,
                                  text,
                                  text,
                                  text,
                                  false,
                                  false,
                                  {text},
                                  {{.name = text, .y = {1.0}}}}}}}};
    const std::string page = without_assets(render_html(report));
    EXPECT_TRUE(is_utf8(page));
    EXPECT_EQ(data_of(page)["charts"].Size(), 1U);
    return std::pair(count(page, "<"), count(page, ">"));
  };
  const auto plain = shape("plain");
  EXPECT_TRUE(rc::check([&] {
    const auto letters = *rc::gen::container<std::string>(
        rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::element('<', '>', '&', '"', '\'')));
    RC_ASSERT(shape("x" + letters) == plain);
  }));
}

TEST(Report, LoadsNothingAndRunsNothingButItsOwnScript) {
  const std::string page = render_html(sample_report());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr(report_script().hash));
  EXPECT_THAT(page, HasSubstr(report_style().hash));
  const std::string markup = without_assets(page);
  for (const char* loader : {" src=", "href=\"http", "<link", "<iframe", "@import", "url(",
                             "'unsafe-inline'", " style="}) {
    EXPECT_THAT(markup, Not(HasSubstr(loader)));
  }
  EXPECT_THAT(std::string(report_style().text), Not(HasSubstr("url(")));
}

TEST(Report, TheSameFindingsGiveTheSamePage) {
  EXPECT_EQ(render_html(sample_report()), render_html(sample_report()));
}

TEST(Report, SaysWithoutScriptsWhereTheFiguresAre) {
  EXPECT_THAT(render_html(sample_report()), HasSubstr("<noscript>"));
}

TEST(ChartTable, HasARowPerCategoryAndAColumnPerSeries) {
  const ReportTable table = chart_table(sample_bars());
  ASSERT_EQ(table.rows.size(), 7U);
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[2].head, "this run");
  EXPECT_EQ(table.rows[1][0].text, "greedy-klrank");
  EXPECT_EQ(table.rows[1][2].text, "32.6 ± 0.4");
  EXPECT_EQ(table.rows[6][1].text, "–");
}

TEST(ChartTable, AlignsCurvesOfDifferentXAndKeepsTheLastPoint) {
  Chart chart{.x_label = "t",
              .series = {{.name = "a", .x = {1, 2, 4}, .y = {10, 20, 40}},
                         {.name = "b", .x = {2, 3}, .y = {0.5, NAN}}}};
  const ReportTable table = chart_table(chart);
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(table.rows[0][2].text, "–");
  EXPECT_EQ(table.rows[1][1].text, "20");
  EXPECT_EQ(table.rows[1][2].text, "0.5");
  EXPECT_EQ(table.rows[2][2].text, "–");
  EXPECT_TRUE(table.footnote.empty());

  ChartSeries& curve = chart.series[0];
  const auto extend_to = [&curve](int last) {
    for (int t = static_cast<int>(curve.x.back()) + 1; t <= last; ++t) {
      curve.x.push_back(t);
      curve.y.push_back(10 * t);
    }
  };
  extend_to(60);
  const ReportTable just_whole = chart_table(chart);
  EXPECT_EQ(just_whole.rows.size(), 60U);
  EXPECT_TRUE(just_whole.footnote.empty());
  extend_to(1000);
  const ReportTable thinned = chart_table(chart);
  EXPECT_LE(thinned.rows.size(), 60U);
  EXPECT_EQ(thinned.rows.front()[0].text, "1");
  EXPECT_EQ(thinned.rows.back()[0].text, "1000");
  EXPECT_FALSE(thinned.footnote.empty());
}

TEST(ChartData, NumbersAreShortAndNeverNotANumber) {
  EXPECT_EQ(data_number(0.1), "0.1");
  EXPECT_EQ(data_number(26'842), "26842");
  EXPECT_EQ(data_number(-1.0 / 3), "-0.333333333");
  EXPECT_EQ(data_number(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(data_number(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(ReportDeathTest, PartsThatDoNotFitTogetherAreAProgrammersMistake) {
  Report report{.sections = {{.tables = {{.columns = {{"one"}}, .rows = {{{"1"}, {"2"}}}}}}}};
  EXPECT_DEATH(render_html(report), "check failed");
  Report short_series{.sections = {{.charts = {{.series = {{.x = {1, 2}, .y = {1}}}}}}}};
  EXPECT_DEATH(render_html(short_series), "check failed");
}

}  // namespace
}  // namespace hindsight
