#include "src/sim/growing_library_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include <limits>
#include <map>

#include "src/sim/text_table.h"

namespace hindsight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

GrowingLibraryRow make_row(const std::string& ranker, std::optional<double> alpha, double kl_cost,
                           double ndcg) {
  GrowingLibraryRow row;
  row.ranker = ranker;
  row.information = "picks";
  row.alpha = alpha;
  row.headline = alpha != 10.0;
  row.kl_cost = {kl_cost, {}, {}};
  row.rel_distance = {0.25, {}, {}};
  row.first_rate = {0.125, {}, {}};
  row.ndcg = {ndcg, 0.001, 0.002};
  row.curve = {{10, kl_cost, 0.3, 0.2}, {20, kl_cost, 0.2, 0.4}};
  return row;
}

GrowingLibraryFindings make_findings() {
  GrowingLibraryFindings findings;
  findings.seed = 7;
  findings.runs = 3;
  findings.notes = {"a note with <markup> & \"quotes\""};
  GrowingLibraryResult set;
  set.dataset = "tiny";
  set.papers = 1234567;
  set.topics = 3;
  set.queries = 20;
  set.mean_candidates = 12.5;
  set.not_yet_there = 4;
  set.rows = {
      make_row("noregret-klrank", 3.0, 4.5, 0.25), make_row("greedy-klrank", 3.0, kInfinity, 0.375),
      make_row("random", std::nullopt, 4.75, 0.2), make_row("noregret-klrank", 10.0, 4.9, 0.3)};
  set.rows[0].regret = {{.clicks = 16,
                         .cost = 70.0,
                         .served_cost = 71.0,
                         .hindsight_cost = 60.0,
                         .lower = 10.0,
                         .upper = 12.0,
                         .theorem_bound = 500.0,
                         .data_bound = 90.0},
                        {.clicks = 20,
                         .cost = 90.0,
                         .served_cost = 92.0,
                         .hindsight_cost = 76.0,
                         .lower = 14.0,
                         .upper = 17.0,
                         .theorem_bound = 600.0,
                         .data_bound = 110.0}};
  findings.sets.push_back(set);
  findings.adversary = {make_row("random", std::nullopt, 3.0, 0.35)};
  return findings;
}

TEST(GrowingLibraryJson, HasTheKeysOfTheContract) {
  rapidjson::Document json;
  const std::string text = growing_library_json(make_findings());
  ASSERT_FALSE(json.Parse(text.c_str()).HasParseError()) << text;
  EXPECT_STREQ(json["experiment"].GetString(), "growing-library");
  EXPECT_EQ(json["seed"].GetUint64(), 7U);
  ASSERT_EQ(json["rows"].Size(), 4U);
  const auto& first = json["rows"][0];
  EXPECT_STREQ(first["dataset"].GetString(), "tiny");
  EXPECT_STREQ(first["ranker"].GetString(), "noregret-klrank");
  EXPECT_EQ(first["alpha"].GetDouble(), 3.0);
  EXPECT_EQ(first["kl_cost"].GetDouble(), 4.5);
  EXPECT_EQ(first["rel_distance"].GetDouble(), 0.25);
  EXPECT_EQ(first["first_rate"].GetDouble(), 0.125);
  EXPECT_EQ(first["ndcg"].GetDouble(), 0.25);
  EXPECT_EQ(first["ndcg_se"].GetDouble(), 0.001);
  EXPECT_EQ(first["ndcg_query_se"].GetDouble(), 0.002);
  EXPECT_TRUE(first["kl_cost_se"].IsNull());
  EXPECT_EQ(first["cost"].GetDouble(), 90.0);
  EXPECT_EQ(first["served_cost"].GetDouble(), 92.0);
  EXPECT_EQ(first["regret"].GetDouble(), 17.0);
  EXPECT_EQ(first["regret_low"].GetDouble(), 14.0);
  EXPECT_EQ(first["bound"].GetDouble(), 600.0);
  EXPECT_EQ(first["data_bound"].GetDouble(), 110.0);
}

TEST(GrowingLibraryJson, WritesNullForInfinityAndForWhatARankerHasNot) {
  rapidjson::Document json;
  json.Parse(growing_library_json(make_findings()).c_str());
  const auto& greedy = json["rows"][1];
  EXPECT_TRUE(greedy["kl_cost"].IsNull());
  EXPECT_TRUE(greedy["regret"].IsNull());
  EXPECT_TRUE(greedy["bound"].IsNull());
  EXPECT_TRUE(json["rows"][2]["alpha"].IsNull());
  EXPECT_TRUE(json["curves"][1]["kl_cost"][0].IsNull());
  EXPECT_EQ(json["curves"][1]["ndcg"][1].GetDouble(), 0.4);
}

TEST(GrowingLibraryJson, HasCurvesRegretAndThePapersTable) {
  rapidjson::Document json;
  json.Parse(growing_library_json(make_findings()).c_str());
  EXPECT_EQ(json["curves"].Size(), 3U);  // the headline's
  EXPECT_EQ(json["curves"][0]["t"][1].GetUint64(), 20U);
  ASSERT_EQ(json["regret_curves"].Size(), 1U);
  EXPECT_EQ(json["regret_curves"][0]["points"][0]["t"].GetUint64(), 16U);
  EXPECT_EQ(json["regret_curves"][0]["points"][1]["hindsight_cost"].GetDouble(), 76.0);
  EXPECT_EQ(json["regret_curves"][0]["points"][0]["served_cost"].GetDouble(), 71.0);
  EXPECT_EQ(json["adversarial"]["rows"].Size(), 1U);
  EXPECT_EQ(json["adversarial"]["curves"][0]["rel_distance"][1].GetDouble(), 0.2);
  ASSERT_EQ(json["paper_table_2"].Size(), 8U);
  EXPECT_EQ(json["paper_table_2"][0]["kl_cost"].GetDouble(), 4.63);
  EXPECT_EQ(json["datasets"][0]["papers"].GetUint64(), 1234567U);
}

TEST(GrowingLibraryJson, IsUtf8WhateverTheFolderIsCalled) {
  GrowingLibraryFindings findings = make_findings();
  findings.sets.front().dataset = "caf\xE9";
  rapidjson::Document json;
  json.Parse<rapidjson::kParseValidateEncodingFlag>(growing_library_json(findings).c_str());
  ASSERT_FALSE(json.HasParseError());
  EXPECT_STREQ(json["rows"][0]["dataset"].GetString(), "caf\xEF\xBF\xBD");
}

TEST(GrowingLibraryText, ShowsThePapersTableBesideOurs) {
  const std::string text = growing_library_text(make_findings());
  EXPECT_THAT(text, HasSubstr("growing-library: seed 7, 3 runs\n"));
  EXPECT_THAT(text, HasSubstr("a note with <markup>"));
  EXPECT_THAT(text, HasSubstr("tiny: 1,234,567 papers, 3 topics, 20 queries, 12 candidates"));
  EXPECT_THAT(text, HasSubstr("left out: 4 citations of papers not yet there"));
  EXPECT_THAT(text,
              HasSubstr("noregret-klrank      3  4.50  25.0%  12.5%  25.0% ±0.10  14 to 17 "
                        "        110    600          4.63  25.7%  14.3%  34.4%          picks\n"));
  EXPECT_THAT(text, HasSubstr("greedy-klrank        3     ∞"));
  EXPECT_THAT(text, HasSubstr("other values of alpha"));
  EXPECT_THAT(text, HasSubstr("greedy-klrank has the best lists: NDCG 37.5% ±0.10"));
  EXPECT_THAT(text, HasSubstr("noregret-klrank costs more than random here: 4.90 against 4.75"));
}

TEST(GrowingLibraryText, SeparatesThousands) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
  EXPECT_EQ(format_count(-123), "-123");
}

TEST(GrowingLibraryReport, HasTheTableTheBarsTheRegretAndTheCosts) {
  const Report report = growing_library_report(make_findings());
  std::vector<std::string> headings;
  std::map<std::string, Chart> charts;
  for (const ReportSection& section : report.sections) {
    headings.push_back(section.heading);
    for (const ReportTable& table : section.tables) {
      for (const auto& row : table.rows) {
        EXPECT_EQ(row.size(), table.columns.size()) << table.title;
      }
    }
    for (const Chart& chart : section.charts) {
      charts[chart.title] = chart;
    }
  }
  EXPECT_THAT(headings, ElementsAre("tiny", "tiny: regret", "tiny: other values of α",
                                    "Users who want the worst"));
  const auto& rows = report.sections[0].tables[0].rows;
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[1][9].text, "39.1%");
  EXPECT_EQ(rows[1].back().text, "picks");
  EXPECT_TRUE(rows[1][5].emphasis);   // Greedy KLRank's NDCG is the best
  EXPECT_FALSE(rows[1][2].emphasis);  // its cost is infinite
  EXPECT_TRUE(rows[0][2].emphasis);

  EXPECT_EQ(charts["NDCG"].kind, ChartKind::kBars);
  EXPECT_EQ(charts["NDCG"].series.size(), 2U);
  const Chart& regret = charts["Regret of noregret-klrank (α = 3) under its bounds"];
  ASSERT_FALSE(regret.series.empty());
  EXPECT_TRUE(regret.log_x && regret.log_y);
  EXPECT_EQ(regret.series[0].y, (std::vector<double>{12.0, 17.0}));
  EXPECT_EQ(charts["Cost over time"].series.size(), 2U);  // an infinite cost cannot be drawn
  ASSERT_EQ(charts["NDCG over time"].series.size(), 3U);
  EXPECT_NEAR(charts["NDCG over time"].series[0].y[1], 30.0, 1e-12);  // the mean of 20% and 40%
  ASSERT_EQ(charts["K-L cost by α"].series.size(), 1U);
  EXPECT_EQ(charts["K-L cost by α"].series[0].x, (std::vector<double>{3.0, 10.0}));
}

TEST(GrowingLibraryReport, LeavesOutTheSectionsThatHaveNothingToSay) {
  GrowingLibraryFindings findings = make_findings();
  findings.adversary.clear();
  findings.sets[0].rows.pop_back();
  findings.sets[0].rows[0].regret.clear();
  EXPECT_EQ(growing_library_report(findings).sections.size(), 1U);
}

TEST(GrowingLibraryReport, RendersToAPage) {
  const std::string page = render_html(growing_library_report(make_findings()));
  EXPECT_THAT(page, HasSubstr("A growing library"));
  EXPECT_THAT(page, HasSubstr("&lt;markup&gt;"));
}

}  // namespace
}  // namespace hindsight
