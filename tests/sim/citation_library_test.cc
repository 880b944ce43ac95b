#include "src/sim/citation_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/shared_data.h"
#include "tests/support/temp_folder.h"

namespace hindsight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// By year: b (1990), a (1991), d (1991), c (1992); e has no year, f no topic, a comes twice.
constexpr std::string_view kPapers =
    "id\tyear\ttopic\ttitle\n"
    "a\t1991\tx\tA\n"
    "b\t1990\tx\tB\n"
    "c\t1992\ty\tC\n"
    "d\t1991\tx\tD\n"
    "e\t\tx\tE\n"
    "f\t1980\t\tF\n"
    "a\t1970\ty\tA again\n";

constexpr std::string_view kCitations =
    "citing\tcited\n"
    "c\td\n"
    "c\tb\n"
    "c\tc\n"  // itself
    "c\td\n"  // again
    "a\tb\n"
    "b\td\n"  // of a later paper
    "d\te\n"  // of a paper that was left out
    "d\ta\n"
    "z\ta\n";  // by an unknown paper

TEST(CitationLibrary, OrdersPapersByYearAndThenByTheFile) {
  const auto library = parse_citation_library(kPapers, kCitations);
  ASSERT_TRUE(library.ok()) << to_string(library.error());
  EXPECT_THAT(library->ids, ElementsAre("b", "a", "d", "c"));
  EXPECT_THAT(library->years, ElementsAre(1990, 1991, 1991, 1992));
  EXPECT_THAT(library->topics, ElementsAre("x", "y"));
  EXPECT_THAT(library->topic_of, ElementsAre(0, 0, 0, 1));
}

TEST(CitationLibrary, KeepsCitationsInTheOrderOfTheFile) {
  const auto library = parse_citation_library(kPapers, kCitations);
  ASSERT_TRUE(library.ok());
  ASSERT_EQ(library->citations.size(), 4U);
  EXPECT_THAT(library->citations[0], ElementsAre(2));     // b cites d
  EXPECT_THAT(library->citations[1], ElementsAre(0));     // a cites b
  EXPECT_THAT(library->citations[2], ElementsAre(1));     // d cites a
  EXPECT_THAT(library->citations[3], ElementsAre(2, 0));  // c cites d, then b
}

TEST(CitationLibrary, CountsEveryRowThatItLeavesOut) {
  const auto library = parse_citation_library(kPapers, kCitations);
  ASSERT_TRUE(library.ok());
  const LibraryCounts expected{.paper_rows = 7,
                               .without_year_or_topic = 2,
                               .repeated_papers = 1,
                               .citation_rows = 9,
                               .self_citations = 1,
                               .unknown_ends = 2,
                               .repeated_citations = 1};
  EXPECT_EQ(library->counts, expected);
}

TEST(CitationLibrary, TakesAnotherColumnAsTopic) {
  CitationLibraryOptions options;
  options.topic_column = "title";
  const auto library = parse_citation_library(kPapers, kCitations, options);
  ASSERT_TRUE(library.ok());
  EXPECT_EQ(library->size(), 5U);
  EXPECT_THAT(library->topics, ElementsAre("F", "B", "A", "D", "C"));

  options.topic_column = "venue";
  EXPECT_EQ(to_string(parse_citation_library(kPapers, kCitations, options).error()),
            "papers.tsv:1: no column named 'venue' in the header");
  options.topic_column = "year";
  EXPECT_EQ(parse_citation_library(kPapers, kCitations, options).error().code,
            ErrorCode::kInvalidArgument);
}

TEST(CitationLibrary, RefusesABrokenYearAnEmptyIdAndALibraryWithoutPapers) {
  const auto error = [](std::string_view papers) {
    return to_string(parse_citation_library(papers, "citing\tcited\n").error());
  };
  EXPECT_EQ(error("id\tyear\ttopic\na\t19x1\tx\n"),
            "papers.tsv:2: the year '19x1' is not a whole number");
  EXPECT_EQ(error("id\tyear\ttopic\na\t99999999999\tx\n"),
            "papers.tsv:2: the year '99999999999' is not a whole number");
  EXPECT_EQ(error("id\tyear\ttopic\n\t1991\tx\n"), "papers.tsv:2: the id is empty");
  EXPECT_THAT(error("id\tyear\ttopic\n"), HasSubstr("no paper has both a year and a topic"));
}

TEST(CitationLibrary, ReadsAFolderAndNamesTheLibraryAfterIt) {
  const TempFolder folder;
  folder.write("papers.tsv", kPapers);
  EXPECT_THAT(to_string(read_citation_library(folder.path()).error()),
              HasSubstr("holds neither citations.tsv nor citations.tsv.zst"));
  folder.write("citations.tsv", kCitations);
  const auto library = read_citation_library(folder.path() / "");
  ASSERT_TRUE(library.ok()) << to_string(library.error());
  EXPECT_EQ(library->name, folder.path().filename());
  EXPECT_EQ(library->size(), 4U);
  folder.write("citations.tsv.zst", "");
  EXPECT_THAT(to_string(read_citation_library(folder.path()).error()),
              HasSubstr("holds both citations.tsv and citations.tsv.zst"));
}

TEST(LibraryStream, AsksForEachCitationOfAnEarlierPaper) {
  const auto library = parse_citation_library(kPapers, kCitations);
  ASSERT_TRUE(library.ok());
  const LibraryStream stream = make_stream(*library);
  EXPECT_EQ(stream.not_yet_there, 1U);  // b cites d
  const auto& queries = stream.prefix.queries;
  ASSERT_EQ(queries.size(), 4U);
  EXPECT_THAT(stream.prefix.candidates(queries[0]), ElementsAre(0));        // a picks b
  EXPECT_THAT(stream.prefix.candidates(queries[1]), ElementsAre(0, 1));     // d picks a
  EXPECT_THAT(stream.prefix.candidates(queries[2]), ElementsAre(0, 1, 2));  // c picks d
  EXPECT_THAT(stream.prefix.candidates(queries[3]), ElementsAre(0, 1, 2));  // c picks b
  const std::vector<ItemIndex> picks = {0, 1, 2, 0};
  const std::vector<std::uint32_t> papers_before = {1, 2, 3, 3};
  const std::vector<std::uint64_t> groups = {1, 1, 2, 2};
  ASSERT_EQ(stream.visits.size(), 4U);
  for (std::size_t t = 0; t < queries.size(); ++t) {
    EXPECT_EQ(stream.prefix.pick(queries[t]), picks[t]);
    EXPECT_EQ(stream.visits[t].items_there, papers_before[t]);
    EXPECT_EQ(stream.visits[t].session, papers_before[t] + 1);
    EXPECT_EQ(stream.visits[t].group, groups[t]);
  }
  EXPECT_THAT(stream.links[0], IsEmpty());
  EXPECT_THAT(stream.links[3], ElementsAre(2, 0));
}

struct RealData {
  const char* folder;
  const char* topic_column;
  std::size_t papers;
  std::size_t topics;
  std::size_t queries;
  std::uint64_t not_yet_there;
  LibraryCounts counts;
};

class RealLibrary : public testing::TestWithParam<RealData> {};

// Papers, topics and pairs as the data's own notes count them; queries counted by an independent
// program.
TEST_P(RealLibrary, GivesTheKnownNumberOfQueries) {
  const RealData& expected = GetParam();
  const auto folder = shared_data(expected.folder);
  if (!folder) {
    GTEST_SKIP() << "no data set " << expected.folder << " (set HINDSIGHT_DATA)";
  }
  CitationLibraryOptions options;
  options.topic_column = expected.topic_column;
  const auto library = read_citation_library(*folder, options);
  ASSERT_TRUE(library.ok()) << to_string(library.error());
  EXPECT_EQ(library->name, expected.folder);
  EXPECT_EQ(library->size(), expected.papers);
  EXPECT_EQ(library->topics.size(), expected.topics);
  EXPECT_EQ(library->counts, expected.counts);
  const LibraryStream stream = make_stream(*library);
  EXPECT_EQ(stream.prefix.queries.size(), expected.queries);
  EXPECT_EQ(stream.not_yet_there, expected.not_yet_there);
  for (const PrefixQuery& query : stream.prefix.queries) {
    ASSERT_LT(query.rank, query.length);
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, RealLibrary,
                         testing::Values(RealData{"cora",
                                                  "topic",
                                                  10'922,
                                                  70,
                                                  26'842,
                                                  4'846,
                                                  {.paper_rows = 11'094,
                                                   .without_year_or_topic = 172,
                                                   .citation_rows = 32'714,
                                                   .unknown_ends = 1'026}},
                                         RealData{"aan",
                                                  "venue",
                                                  18'041,
                                                  423,
                                                  81'150,
                                                  1'748,
                                                  {.paper_rows = 18'041,
                                                   .citation_rows = 94'973,
                                                   .self_citations = 42,
                                                   .unknown_ends = 12'033}},
                                         RealData{"pubmed_temporal",
                                                  "topic",
                                                  19'717,
                                                  3,
                                                  40'087,
                                                  4'248,
                                                  {.paper_rows = 19'717, .citation_rows = 44'335}}),
                         [](const auto& set) { return std::string(set.param.folder); });

}  // namespace
}  // namespace hindsight
