#include "src/sim/letor.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cmath>
#include <fstream>
#include <numeric>

#include "src/core/metrics.h"
#include "tests/support/shared_data.h"
#include "tests/support/temp_folder.h"

namespace hindsight {
namespace {

using Numbers = std::vector<double>;

TEST(Letor, ReadsGradesQueriesAndFeatures) {
  const auto set = parse_letor(
      "2 qid:10 1:0.5 2:1e-3 # docid = GX1 inc = 1\n"
      "\n"
      "# a comment alone\n"
      "0 qid:10 2:-2\r\n"
      "1 qid:abc 4:7 #\n"
      "0\tqid:abc",
      "t");
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->dim, 4U);
  EXPECT_EQ(set->documents(), 4U);
  ASSERT_EQ(set->queries.size(), 2U);
  EXPECT_EQ(set->queries[0].name, "10");
  EXPECT_EQ(set->queries[0].grades, (Numbers{2, 0}));
  EXPECT_EQ(set->queries[0].features, (Numbers{0.5, 1e-3, 0, 0, 0, -2, 0, 0}));
  EXPECT_EQ(set->queries[1].name, "abc");
  EXPECT_EQ(set->queries[1].features, (Numbers{0, 0, 0, 7, 0, 0, 0, 0}));
}

TEST(Letor, ReadsLinesWhoseQueriesAreCountedElsewhere) {
  const auto set = parse_letor("1 1:1\n0 2:2\n3 1:3\n", "2\n1\n", "t");
  ASSERT_TRUE(set.ok());
  ASSERT_EQ(set->queries.size(), 2U);
  EXPECT_EQ(set->queries[0].grades, (Numbers{1, 0}));
  EXPECT_EQ(set->queries[1].grades, (Numbers{3}));
  EXPECT_EQ(set->queries[1].features, (Numbers{3, 0}));
}

TEST(Letor, ABrokenLineGivesFileLineAndReason) {
  const struct {
    const char* text;
    const char* field;
    const char* says;
  } cases[] = {
      {"0 qid:1 1:1\nx qid:1 1:1\n", "t:2", "the grade 'x'"},
      {"-1 qid:1 1:1\n", "t:1", "the grade '-1'"},
      {"1001 qid:1 1:1\n", "t:1", "the grade"},
      {"nan qid:1 1:1\n", "t:1", "the grade"},
      {"0 1:1\n", "t:1", "no qid"},
      {"0 qid: 1:1\n", "t:1", "without a name"},
      {"0 qid:1 1\n", "t:1", "'1' is no feature"},
      {"0 qid:1 a:1\n", "t:1", "'a:1' is no feature"},
      {"0 qid:1 0:1\n", "t:1", "feature 0 is not from 1"},
      {"0 qid:1 65537:1\n", "t:1", "feature 65537 is not"},
      {"0 qid:1 1:1 1:2\n", "t:1", "feature 1 after feature 1"},
      {"0 qid:1 2:1 1:2\n", "t:1", "feature 1 after feature 2"},
      {"0 qid:1 1:nan\n", "t:1", "feature 1 is no finite number: 'nan'"},
      {"0 qid:1 1:inf\n", "t:1", "feature 1 is no finite number"},
      {"0 qid:1 1:1e999\n", "t:1", "feature 1 is no finite number"},
      {"0 qid:1 1:\n", "t:1", "feature 1 is no finite number: ''"},
      {"0 qid:1 1:1\n0 qid:2 1:1\n0 qid:1 1:1\n", "t:3", "query '1' comes back"},
      {"# nothing\n", "t", "there are no documents"},
      {"", "t", "there are no documents"},
  };
  for (const auto& broken : cases) {
    const auto set = parse_letor(broken.text, "t");
    ASSERT_FALSE(set.ok()) << broken.text;
    EXPECT_EQ(set.error().code, ErrorCode::kParse);
    EXPECT_EQ(set.error().field, broken.field);
    EXPECT_NE(set.error().message.find(broken.says), std::string::npos) << set.error().message;
  }
  EXPECT_EQ(parse_letor("1 1:1\n1 1:1\n", "1\n", "t").error().field, "t:2");
  EXPECT_EQ(parse_letor("1 1:1\n", "2\n", "t").error().field, "t:1");
  EXPECT_EQ(parse_letor("1 1:1\n", "1\n1\n", "t").error().field, "t:1");
  EXPECT_EQ(parse_letor("1 1:1\n", "0\n", "t").error().field, "t.query:1");
  EXPECT_EQ(parse_letor("1 1:1\n", "1\nx\n", "t").error().field, "t.query:2");
  EXPECT_EQ(parse_letor("1 qid:1 1:1\n", "1\n", "t").error().field, "t:1");
  EXPECT_EQ(parse_letor("1 qid:1 " + std::string(2 << 20, ' ') + "1:1", "t").error().field, "t:1");
}

TEST(Letor, ReadsFilesPlainAndCompressedWithSizesBesideThem) {
  TempFolder folder;
  const std::string text = "1 1:1\n0 1:2\n";
  std::ofstream(folder.path() / "a.txt") << text;
  EXPECT_EQ(read_letor(folder.path() / "a.txt").error().code, ErrorCode::kParse);  // no qid
  std::ofstream(folder.path() / "a.txt.query") << "2\n";
  ASSERT_TRUE(read_letor(folder.path() / "a.txt").ok());
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  std::ofstream(folder.path() / "b.zst") << packed;
  std::ofstream(folder.path() / "b.query") << "1\n1\n";
  const auto set = read_letor(folder.path() / "b.zst");
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_EQ(set->queries.size(), 2U);
  std::ofstream(folder.path() / "c.zst") << packed.substr(0, packed.size() - 1);
  EXPECT_EQ(read_letor(folder.path() / "c.zst").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read_letor(folder.path() / "none").error().code, ErrorCode::kInvalidArgument);
}

TEST(Letor, JoinedSetsHaveTheColumnsOfTheWidest) {
  const auto a = parse_letor("1 qid:1 1:1 2:2\n0 qid:1 1:3\n", "a");
  const auto b = parse_letor("1 qid:1 3:9\n", "b");
  const JudgedSet* both[] = {&*a, &*b};
  const JudgedSet joined = join_sets(both);
  EXPECT_EQ(joined.dim, 3U);
  ASSERT_EQ(joined.queries.size(), 2U);
  EXPECT_EQ(joined.queries[0].features, (Numbers{1, 2, 0, 3, 0, 0}));
  EXPECT_EQ(joined.queries[1].features, (Numbers{0, 0, 9}));
}

TEST(Letor, NormalisedFeaturesLieBetweenZeroAndOneInEachQuery) {
  auto set = parse_letor(
      "0 qid:1 1:5 2:7 3:-1e308\n0 qid:1 1:10 2:7 3:1e308\n0 qid:1 1:15 2:7\n1 qid:2 1:3\n", "t");
  ASSERT_TRUE(set.ok());
  normalise_queries(*set);
  EXPECT_EQ(set->queries[0].features, (Numbers{0, 0, 0, 0.5, 0, 1, 1, 0, 0.5}));
  EXPECT_EQ(set->queries[1].features, (Numbers{0, 0, 0}));  // one document: all are constant
}

TEST(Letor, QueriesWithoutRelevantDocumentsCannotBeJudged) {
  const auto set = parse_letor("0 qid:1 1:1\n0 qid:2 1:1\n1 qid:2 1:2\n", "t");
  EXPECT_FALSE(set->queries[0].has_relevant());
  EXPECT_TRUE(set->queries[1].has_relevant());
  EXPECT_FALSE(ndcg_at(set->queries[0].grades, 10).has_value());
}

// The counts of ../shared/data/mq2008/README.md and of lightgbm_lambdarank's.
TEST(Letor, TheSharedDataSetsAreWhole) {
  const auto folder = shared_data("mq2008");
  if (!folder) {
    GTEST_SKIP() << "no data set mq2008";
  }
  std::size_t documents = 0;
  std::size_t queries = 0;
  std::size_t judged = 0;
  for (const char* name : {"S1", "S2", "S3", "S4", "S5"}) {
    const auto set = read_letor(*folder / (std::string(name) + ".txt.zst"));
    ASSERT_TRUE(set.ok()) << set.error().field << set.error().message;
    EXPECT_EQ(set->dim, 46U);
    documents += set->documents();
    queries += set->queries.size();
    for (const JudgedQuery& query : set->queries) {
      judged += query.has_relevant() ? 1 : 0;
    }
  }
  EXPECT_EQ(documents, 15'211U);
  EXPECT_EQ(queries, 784U);
  EXPECT_EQ(judged, 564U);
  const auto light = read_letor(*shared_data("lightgbm_lambdarank") / "rank.train.zst");
  ASSERT_TRUE(light.ok()) << light.error().field << light.error().message;
  EXPECT_EQ(light->documents(), 3'005U);
  EXPECT_EQ(light->queries.size(), 201U);
  EXPECT_LE(light->dim, 300U);
}

}  // namespace
}  // namespace hindsight
