#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <sstream>

#include "hindsight/registry.h"
#include "src/sim/dueling_letor_experiment.h"
#include "src/sim/dueling_letor_output.h"
#include "src/sim/yue_tables.h"
#include "tests/support/shared_data.h"
#include "tests/support/temp_folder.h"

namespace hindsight {
namespace {

Result<std::unique_ptr<Ranker>> make(const std::string& name, const ParamMap& params) {
  return make_ranker(name, params);
}

// Ten queries of eight documents per part; the first feature is the grade with noise.
std::string part_text(std::uint64_t seed) {
  Rng rng(seed);
  std::ostringstream text;
  for (int q = 0; q < 10; ++q) {
    for (int i = 0; i < 8; ++i) {
      const std::uint64_t grade = rng.below(3);
      text << grade << " qid:" << q << " 1:" << static_cast<double>(grade) + rng.uniform()
           << " 2:" << rng.uniform() << " 3:" << rng.uniform() << "\n";
    }
  }
  return text.str();
}

constexpr const char* kParts[] = {"S1.txt", "S2.txt", "S3.txt", "S4.txt", "S5.txt"};

LetorParts small_data() {
  const TempFolder folder;
  std::uint64_t seed = 0;
  for (const char* part : kParts) {
    folder.write(part, part_text(++seed));
  }
  auto data = read_letor_parts(folder.path());
  EXPECT_TRUE(data.ok());
  return *std::move(data);
}

TEST(DuelingLetor, ThreadsDoNotChangeAByte) {
  const LetorParts data = small_data();
  DuelingLetorOptions options{.link_rounds = 300, .click_rounds = 40};
  const auto one = run_dueling_letor(data, options, make);
  options.threads = 3;
  const auto three = run_dueling_letor(data, options, make);
  ASSERT_TRUE(one.ok() && three.ok());
  EXPECT_EQ(dueling_letor_json(*one), dueling_letor_json(*three));
  EXPECT_EQ(dueling_letor_text(*one), dueling_letor_text(*three));
}

TEST(DuelingLetor, EveryRowIsThereAndEasyDataAreLearned) {
  const LetorParts data = small_data();
  std::atomic<std::uint64_t> done = 0;
  DuelingLetorOptions options{.link_rounds = 4000, .click_rounds = 300};
  options.progress = [&](std::uint64_t rounds) { done += rounds; };
  const auto findings = run_dueling_letor(data, options, make);
  ASSERT_TRUE(findings.ok()) << to_string(findings.error());
  EXPECT_EQ(done, total_rounds(options));
  EXPECT_EQ(findings->queries, 50U);
  EXPECT_EQ(findings->documents, 400U);
  EXPECT_EQ(findings->svm_c.size(), kLetorFolds);
  EXPECT_GT(findings->svm.ndcg10_test, 0.9);
  ASSERT_EQ(findings->sweep.size(), 20U);
  EXPECT_EQ(findings->sweep[7].paper_final, kYueTable2Final[1][2]);
  ASSERT_EQ(findings->samples.size(), 6U);
  for (const DuelingLetorRow& row : findings->samples) {
    const WinTieLoss& counts = *row.against_svm;
    EXPECT_EQ(counts.win + counts.tie + counts.loss, findings->judged_queries);
    EXPECT_GT(row.ndcg10_test, 0.75);
  }
  ASSERT_EQ(findings->clicks.size(), 9U);
  EXPECT_EQ(findings->points.back(), 300U);
  for (const DuelingLetorRow& row : findings->clicks) {
    EXPECT_EQ(row.curve.size(), findings->points.size());
    EXPECT_NEAR(row.curve.back(), row.ndcg10_test, 1e-12);
  }
  const std::string page = render_html(dueling_letor_report(*findings));
  EXPECT_NE(page.find("Test NDCG@10 with informational users"), std::string::npos);
  EXPECT_NE(dueling_letor_text(*findings).find("490/121/389"), std::string::npos);
}

TEST(DuelingLetor, RefusesDataAndSizesThatMakeNoSense) {
  const LetorParts data = small_data();
  EXPECT_EQ(run_dueling_letor(data, {.link_rounds = 0}, make).error().field, "rounds");
  EXPECT_EQ(run_dueling_letor(data, {.threads = 0}, make).error().field, "threads");
  const TempFolder folder;
  EXPECT_FALSE(read_letor_parts(folder.path()).ok());
  for (const char* part : kParts) {
    folder.write(part, "1 qid:1 1:1 2:1\n0 qid:1 1:0\n");
  }
  folder.write("S5.txt", "1 qid:1 1:1\n");
  EXPECT_NE(read_letor_parts(folder.path()).error().message.find("different numbers of features"),
            std::string::npos);
  LetorParts irrelevant = data;
  for (JudgedQuery& query : irrelevant.parts[2].queries) {
    std::fill(query.grades.begin(), query.grades.end(), 0.0);
  }
  EXPECT_FALSE(run_dueling_letor(irrelevant, {.link_rounds = 10}, make).ok());
}

// The shape of [Yue09] Table 2: along gamma a ridge, with lower ground on both sides of it; along
// delta, up to 1, hardly a slope.
void expect_shape_of_table_2(const std::vector<DuelingLetorRow>& sweep) {
  constexpr std::size_t kGammas = kYueGammas.size();
  double lowest = 1.0;
  double highest = 0.0;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto cell = [&](std::size_t g) { return sweep[d * kGammas + g].ndcg10_train; };
    const double top = std::max({cell(1), cell(2), cell(3)});
    EXPECT_GT(top, cell(0) + 0.02) << *sweep[d * kGammas].delta;
    EXPECT_GT(top, cell(kGammas - 1)) << *sweep[d * kGammas].delta;
    lowest = std::min(lowest, top);
    highest = std::max(highest, top);
  }
  EXPECT_LT(highest - lowest, 0.01);
}

// What MQ2008 must give; minutes, so only in the full tests.
TEST(DuelingLetor, Mq2008GivesTheFieldsFigures) {
  const auto folder = shared_data("mq2008");
  if (!folder || std::getenv("HINDSIGHT_FULL") == nullptr) {
    GTEST_SKIP() << "needs the data set mq2008, and HINDSIGHT_FULL";
  }
  const auto data = read_letor_parts(*folder);
  ASSERT_TRUE(data.ok());
  const auto findings = run_dueling_letor(*data, {.threads = 2}, make);
  ASSERT_TRUE(findings.ok());
  EXPECT_GE(findings->svm.ndcg10_test, 0.69);
  const auto best = std::max_element(  // as seen in training
      findings->sweep.begin(), findings->sweep.end(),
      [](const auto& a, const auto& b) { return a.ndcg10_train < b.ndcg10_train; });
  EXPECT_GE(best->ndcg10_test, findings->svm.ndcg10_test - 0.04);
  expect_shape_of_table_2(findings->sweep);
  for (const DuelingLetorRow& row : findings->clicks) {
    if (row.ranker == "pdgd") {
      EXPECT_GE(row.ndcg10_test, row.clicks == "perfect" ? 0.69 : 0.68) << row.clicks;
    }
  }
}

}  // namespace
}  // namespace hindsight
