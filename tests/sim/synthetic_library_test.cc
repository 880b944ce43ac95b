#include "src/sim/synthetic_library.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace hindsight {
namespace {

std::vector<std::uint32_t> citations_received(const GrowingLibrary& library) {
  std::vector<std::uint32_t> received(library.size(), 0);
  for (const ItemIndex cited : library.citations.values) {
    ++received[cited];
  }
  return received;
}

TEST(SyntheticLibrary, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const auto one = make_synthetic_library({}, 7);
  const auto same = make_synthetic_library({}, 7);
  const auto other = make_synthetic_library({}, 8);
  ASSERT_TRUE(one.ok() && same.ok() && other.ok());
  EXPECT_EQ(one->citations.values, same->citations.values);
  EXPECT_EQ(one->topic_of, same->topic_of);
  EXPECT_NE(one->citations.values, other->citations.values);
}

TEST(SyntheticLibrary, HasTheWantedNumbersOfPapersTopicsAndCitations) {
  SyntheticLibraryParams params;
  params.papers = 20'000;
  const auto library = make_synthetic_library(params, 1);
  ASSERT_TRUE(library.ok());
  EXPECT_EQ(library->size(), 20'000U);
  EXPECT_EQ(library->topics.size(), params.topics);
  EXPECT_TRUE(std::is_sorted(library->years.begin(), library->years.end()));
  EXPECT_EQ(library->years.front(), params.first_year);
  // Mean 3, variance 12: five standard errors of 20,000 geometric counts are 0.12 (false alarm
  // 6e-7); a few per cent are lost to repeats in small topics.
  const double mean = static_cast<double>(library->citations.values.size()) / 20'000.0;
  EXPECT_LT(mean, 3.12);
  EXPECT_GT(mean, 2.75);
}

TEST(SyntheticLibrary, GrowsByTheGivenRateOfArrival) {
  SyntheticLibraryParams params;
  params.papers = 1000;
  params.papers_per_year = 100;
  params.yearly_growth = 2.0;
  const auto library = make_synthetic_library(params, 1);
  ASSERT_TRUE(library.ok());
  const auto count = [&](std::int32_t year) {
    return std::count(library->years.begin(), library->years.end(), year);
  };
  EXPECT_EQ(count(params.first_year), 100);
  EXPECT_EQ(count(params.first_year + 1), 200);
  EXPECT_EQ(count(params.first_year + 2), 400);
  EXPECT_EQ(count(params.first_year + 3), 300);
}

// With attractiveness a and no preference (a huge) the most cited paper is an early one with about
// ln(n) times the mean; with a = 1 the tail is a power law and its first paper stands far out.
TEST(SyntheticLibrary, MakesTheRichRicherWhereAttractivenessIsSmall) {
  SyntheticLibraryParams params;
  params.topics = 1;
  const auto rich = make_synthetic_library(params, 3);
  params.attractiveness = 1e6;
  const auto even = make_synthetic_library(params, 3);
  ASSERT_TRUE(rich.ok() && even.ok());
  const auto most = [](const GrowingLibrary& library) {
    const auto received = citations_received(library);
    return *std::max_element(received.begin(), received.end());
  };
  EXPECT_GT(most(*rich), 4 * most(*even));
}

TEST(SyntheticLibrary, AfterTheChangeOnlyTheLatestPapersOfATopicAreCited) {
  const SyntheticLibraryParams params{
      .papers = 1000, .topics = 4, .own_topic_share = 1.0, .change_at = 0.5, .latest = 3};
  const GrowingLibrary library = *make_synthetic_library(params, 7);
  const GrowingLibrary unchanged = *make_synthetic_library({.papers = 1000, .topics = 4}, 7);
  EXPECT_EQ(library.name, "synthetic-change");
  EXPECT_EQ(unchanged.name, "synthetic");
  std::size_t old_ones = 0;
  for (ItemIndex paper = 0; paper < 1000; ++paper) {
    for (const ItemIndex cited : library.citations[paper]) {
      std::size_t later = 0;  // papers of the same topic that had come by then
      for (ItemIndex other = cited + 1; other < paper; ++other) {
        later += library.topic_of[other] == library.topic_of[cited] ? 1 : 0;
      }
      if (paper >= 500) {
        EXPECT_LT(later, 3U);
      }
      old_ones += paper < 500 && later >= 3 ? 1 : 0;
    }
  }
  EXPECT_GT(old_ones, 100U);
}

TEST(SyntheticLibrary, RefusesParametersOutOfRange) {
  const auto refused = [](auto change) {
    SyntheticLibraryParams params;
    change(params);
    const auto made = make_synthetic_library(params, 1);
    return !made.ok() && made.error().code == ErrorCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](auto& p) { p.papers = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.topics = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.topics = p.papers + 1; }));
  EXPECT_TRUE(refused([](auto& p) { p.topic_skew = -1; }));
  EXPECT_TRUE(refused([](auto& p) { p.citations_per_paper = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.own_topic_share = 1.5; }));
  EXPECT_TRUE(refused([](auto& p) { p.attractiveness = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.papers_per_year = 0; }));
  EXPECT_TRUE(refused([](auto& p) { p.yearly_growth = std::nan(""); }));
}

RC_GTEST_PROP(SyntheticLibrary, EveryCitationIsAQueryAndNoneIsRepeated, ()) {
  SyntheticLibraryParams params;
  params.papers = *rc::gen::inRange(1U, 300U);
  params.topics = *rc::gen::inRange(1U, params.papers + 1);
  params.own_topic_share = *rc::gen::element(0.0, 0.5, 1.0);
  const auto library = make_synthetic_library(params, *rc::gen::arbitrary<std::uint64_t>());
  RC_ASSERT(library.ok());
  for (std::size_t paper = 0; paper < library->size(); ++paper) {
    const auto cited = library->citations[paper];
    RC_ASSERT(std::set(cited.begin(), cited.end()).size() == cited.size());
    for (const ItemIndex other : cited) {
      RC_ASSERT(other < paper);
    }
  }
  const LibraryStream stream = make_stream(*library);
  RC_ASSERT(stream.not_yet_there == 0U);
  RC_ASSERT(stream.prefix.queries.size() == library->citations.values.size());
}

}  // namespace
}  // namespace hindsight
