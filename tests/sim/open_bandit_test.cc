#include "src/sim/open_bandit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>

#include "hindsight/random.h"
#include "src/sim/open_bandit_experiment.h"
#include "src/sim/open_bandit_output.h"
#include "tests/support/shared_data.h"
#include "tests/support/temp_folder.h"

namespace hindsight {
namespace {

const std::string kHeader = ",timestamp,item_id,position,click,propensity_score,user_feature_0\n";

TEST(OpenBandit, ReadsItemsPlacesClicksAndPropensities) {
  const auto log = parse_open_bandit(kHeader + "0,2019-11-24 00:01:03,2,3,0,0.25,abc\n" +
                                     "1,2019-11-24 00:01:04,4,1,1,1e-06,\n");
  ASSERT_TRUE(log.ok()) << to_string(log.error());
  ASSERT_EQ(log->rows.size(), 2U);
  EXPECT_EQ(log->rows[0].item, 2U);
  EXPECT_EQ(log->rows[0].position, 2U) << "from 0";
  EXPECT_FALSE(log->rows[0].clicked);
  EXPECT_EQ(log->rows[0].propensity, 0.25);
  EXPECT_TRUE(log->rows[1].clicked);
  EXPECT_EQ(log->rows[1].propensity, 1e-6);
  EXPECT_EQ(log->items, 5U);
  EXPECT_EQ(log->positions, 3U);
  EXPECT_EQ(log->clicks, 1U);
}

TEST(OpenBandit, RefusesWhatCannotBe) {
  for (const char* row :
       {"0,t,-1,1,0,0.5,x", "0,t,1.5,1,0,0.5,x", "0,t,1,0,0,0.5,x", "0,t,1,1,2,0.5,x",
        "0,t,1,1,0,0,x", "0,t,1,1,0,1.5,x", "0,t,1,1,0,nan,x", "0,t,1,1,0,,x", "0,t,1,1,0,0.5"}) {
    const auto log = parse_open_bandit(kHeader + row + "\n");
    ASSERT_FALSE(log.ok()) << row;
    EXPECT_EQ(log.error().code, ErrorCode::kParse) << row;
    EXPECT_EQ(log.error().field, "log:2") << row;
  }
  EXPECT_EQ(parse_open_bandit(kHeader).error().code, ErrorCode::kInvalidArgument) << "no rows";
  EXPECT_EQ(parse_open_bandit("item_id,position,click\n").error().code, ErrorCode::kParse);
}

TEST(OpenBandit, ACampaignHasTheLogsOfBothPolicies) {
  const TempFolder folder;
  for (const char* name : {"random_a.csv", "bts_a.csv", "random_b.csv", "bts_c.csv"}) {
    std::ofstream(folder.path() / name) << kHeader << "0,t,0,1,1,0.5,x\n";
  }
  EXPECT_EQ(open_bandit_campaigns(folder.path()), std::vector<std::string>{"a"});
  EXPECT_TRUE(open_bandit_campaigns(folder.path() / "none").empty());
  const auto log = read_open_bandit(folder.path(), "bts", "a");
  ASSERT_TRUE(log.ok());
  EXPECT_EQ(log->campaign, "a");
  EXPECT_EQ(log->policy, "bts");
  EXPECT_EQ(read_open_bandit(folder.path(), "bts", "b").error().code, ErrorCode::kInvalidArgument);
}

/// A log of a policy whose law and whose items' click rates are known.
OpenBanditLog simulated(const std::string& policy, const std::vector<double>& law,
                        std::size_t rows) {
  constexpr double kRates[] = {0.3, 0.1, 0.5};
  OpenBanditLog log{
      .campaign = "c", .policy = policy, .items = 3, .positions = 2, .clicks = 0, .rows = {}};
  Rng rng(policy == "random" ? 1 : 2);
  for (std::size_t i = 0; i < rows; ++i) {
    const double point = rng.uniform();
    const std::uint32_t item = point < law[0] ? 0 : point < law[0] + law[1] ? 1 : 2;
    const bool clicked = rng.uniform() < kRates[item];
    log.rows.push_back({.item = item,
                        .position = static_cast<std::uint32_t>(i % 2),
                        .clicked = clicked,
                        .propensity = law[item]});
    log.clicks += clicked ? 1 : 0;
  }
  return log;
}

TEST(OpenBandit, EachPolicyIsEstimatedFromTheLogOfTheOther) {
  const OpenBanditLog random = simulated("random", {1.0 / 3, 1.0 / 3, 1.0 / 3}, 20'000);
  const OpenBanditLog bts = simulated("bts", {0.2, 0.1, 0.7}, 20'000);
  const auto findings = run_open_bandit(random, bts, {.seed = 4, .resamples = 200});
  ASSERT_TRUE(findings.ok());
  ASSERT_EQ(findings->size(), 4U);
  for (const OpenBanditFinding& finding : *findings) {
    const double truth = finding.target == "bts" ? 0.42 : 0.3;
    EXPECT_NEAR(finding.estimate.value, truth, 0.02) << finding.target << finding.estimator;
    EXPECT_NEAR(finding.truth.value, truth, 0.02);
    EXPECT_LT(std::abs(finding.z), 3.0);
    EXPECT_NEAR(finding.mean_weight, 1.0, 0.05);
    EXPECT_LT(finding.effective_sample_size, 20'000.0);
    // The bootstrap and the normal law tell the same of so many rows.
    ASSERT_TRUE(finding.bootstrap);
    EXPECT_NEAR(finding.bootstrap->low, finding.estimate.low, 0.005);
    EXPECT_NEAR(finding.bootstrap->high, finding.estimate.high, 0.005);
  }
  EXPECT_EQ((*findings)[0].logged_by, "random");
  EXPECT_EQ((*findings)[3].estimator, "snips");
}

TEST(OpenBandit, TheSameSeedGivesTheSameFiguresAndAnotherOnlyAnotherBootstrap) {
  const OpenBanditLog random = simulated("random", {1.0 / 3, 1.0 / 3, 1.0 / 3}, 500);
  const OpenBanditLog bts = simulated("bts", {0.2, 0.1, 0.7}, 500);
  const auto json = [&](std::uint64_t seed) {
    const auto findings = run_open_bandit(random, bts, {.seed = seed, .resamples = 20});
    return open_bandit_json({.seed = 1, .resamples = 20, .rows = *findings});
  };
  EXPECT_EQ(json(1), json(1));
  EXPECT_NE(json(1), json(2));
}

TEST(OpenBandit, TheAverageLawSumsToOneAtEveryPlace) {
  const OpenBanditLog bts = simulated("bts", {0.2, 0.1, 0.7}, 1'000);
  const std::vector<double> law = average_law(bts, 4);
  ASSERT_EQ(law.size(), 8U);
  EXPECT_NEAR(law[0] + law[1] + law[2] + law[3], 1.0, 1e-12);
  EXPECT_NEAR(law[4] + law[5] + law[6] + law[7], 1.0, 1e-12);
  EXPECT_EQ(law[3], 0.0) << "never shown";
}

TEST(OpenBandit, FindingsAreTextJsonAndAPage) {
  const auto rows = run_open_bandit(simulated("random", {0.4, 0.3, 0.3}, 100),
                                    simulated("bts", {0.2, 0.1, 0.7}, 100), {.resamples = 5});
  const OpenBanditFindings findings{.seed = 7, .resamples = 5, .rows = *rows};
  EXPECT_NE(open_bandit_text(findings).find("of 4 estimates agree"), std::string::npos);
  const std::string json = open_bandit_json(findings);
  EXPECT_EQ(json.find(R"({"experiment":"open-bandit","seed":7,)"), 0U) << json;
  EXPECT_NE(json.find(R"("estimator":"snips")"), std::string::npos);
  const std::string page = render_html(open_bandit_report(findings));
  EXPECT_NE(page.find("What would the other policy have earned?"), std::string::npos);
}

// The real data is fixed, and so are these figures.
class RealOpenBandit : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto found = shared_data("open_bandit");
    if (!found) {
      GTEST_SKIP() << "skipped: data set open_bandit is not there (set HINDSIGHT_DATA)";
    }
    folder = *found;
  }
  std::filesystem::path folder;
};

TEST_F(RealOpenBandit, HasTheRowsThatItsReadmeNames) {
  ASSERT_EQ(open_bandit_campaigns(folder), (std::vector<std::string>{"men", "women"}));
  const struct {
    const char* policy;
    const char* campaign;
    std::uint32_t items;
    std::uint64_t clicks;
  } expected[] = {{"random", "men", 34, 46},
                  {"bts", "men", 34, 69},
                  {"random", "women", 46, 46},
                  {"bts", "women", 46, 46}};
  for (const auto& one : expected) {
    const auto log = read_open_bandit(folder, one.policy, one.campaign);
    ASSERT_TRUE(log.ok()) << to_string(log.error());
    EXPECT_EQ(log->rows.size(), 10'000U);
    EXPECT_EQ(log->items, one.items);
    EXPECT_EQ(log->clicks, one.clicks);
    EXPECT_EQ(log->positions, 3U);
  }
}

// One row of bts was shown with probability 1e-6, and weighs as much as all the others.
TEST_F(RealOpenBandit, AWeightThatOutweighsAllOthersShowsInTheEffectiveSample) {
  const auto findings =
      run_open_bandit(*read_open_bandit(folder, "random", "women"),
                      *read_open_bandit(folder, "bts", "women"), {.resamples = 0});
  ASSERT_TRUE(findings.ok());
  EXPECT_EQ(findings->at(2).logged_by, "bts");
  EXPECT_NEAR(findings->at(2).max_weight, 1e6 / 46, 1.0);
  EXPECT_LT(findings->at(2).effective_sample_size, 3.0);
  EXPECT_NE(open_bandit_text({.seed = 1, .resamples = 0, .rows = *findings})
                .find("2 rest on an effective sample below 30"),
            std::string::npos);
}

TEST_F(RealOpenBandit, EveryEstimateIsNearTheRateInTheTargetsOwnLog) {
  for (const std::string& campaign : open_bandit_campaigns(folder)) {
    const auto findings =
        run_open_bandit(*read_open_bandit(folder, "random", campaign),
                        *read_open_bandit(folder, "bts", campaign), {.resamples = 0});
    ASSERT_TRUE(findings.ok());
    for (const OpenBanditFinding& finding : *findings) {
      EXPECT_LT(std::abs(finding.z), 3.0) << campaign << finding.logged_by << finding.estimator;
      if (finding.logged_by == "random") {
        EXPECT_NEAR(finding.mean_weight, 1.0, 0.05) << campaign;
        EXPECT_GT(finding.effective_sample_size, 2'000.0) << campaign;
      }
      EXPECT_TRUE(std::isfinite(finding.estimate.high));
      EXPECT_FALSE(finding.bootstrap);
    }
  }
}

}  // namespace
}  // namespace hindsight
