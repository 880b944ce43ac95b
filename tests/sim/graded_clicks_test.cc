#include "src/sim/graded_clicks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hindsight {
namespace {

// The probability of a click at each place, from the model's definition.
std::vector<double> click_law(const GradedClicks& users, const std::vector<double>& grades,
                              const std::vector<double>& bias) {
  std::vector<double> law;
  double reads = 1.0;
  for (std::size_t i = 0; i < grades.size(); ++i) {
    const auto grade = static_cast<std::size_t>(grades[i]);
    const double looks = bias.empty() ? 1.0 : i < bias.size() ? bias[i] : 0.0;
    law.push_back(reads * looks * users.click(grade));
    reads *= 1.0 - looks * users.click(grade) * users.stop(grade);
  }
  return law;
}

// 20,000 users; each place within 6 standard errors, at most 6 * 0.5 / sqrt(20000) = 0.0213.
TEST(GradedClicks, ClicksFollowTheLaw) {
  const std::vector<double> grades = {0, 1, 2, 0, 2, 1, 0};
  for (const UserKind kind : kUserKinds) {
    for (const std::vector<double>& bias : {std::vector<double>{}, falling_bias(5, 1.0)}) {
      const auto users = GradedClicks::make(kind, 2, bias);
      ASSERT_TRUE(users.ok());
      Rng rng(1);
      constexpr int kUsers = 20'000;
      std::vector<double> seen(grades.size(), 0.0);
      for (int i = 0; i < kUsers; ++i) {
        for (const std::uint32_t place : users->draw(grades, rng)) {
          seen[place] += 1.0 / kUsers;
        }
      }
      const std::vector<double> law = click_law(*users, grades, bias);
      for (std::size_t i = 0; i < grades.size(); ++i) {
        EXPECT_NEAR(seen[i], law[i], 0.0213) << user_kind_name(kind) << i;
        EXPECT_EQ(seen[i] > 0.0, law[i] > 0.0);
      }
    }
  }
}

TEST(GradedClicks, PerfectUsersNeverClickWhatIsNotRelevant) {
  for (const std::size_t max_grade : {1, 2, 4}) {
    const auto users = GradedClicks::make(UserKind::kPerfect, max_grade);
    Rng rng(2);
    const auto top = static_cast<double>(max_grade);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(users->draw(std::vector<double>{0, top, 0, top}, rng),
                (std::vector<std::uint32_t>{1, 3}));
    }
  }
}

TEST(GradedClicks, BetterDocumentsAreClickedMore) {
  for (const UserKind kind : kUserKinds) {
    for (const std::size_t max_grade : {1, 2, 4}) {
      const auto users = GradedClicks::make(kind, max_grade);
      ASSERT_TRUE(users.ok());
      for (std::size_t grade = 1; grade <= max_grade; ++grade) {
        EXPECT_GT(users->click(grade), users->click(grade - 1));
        EXPECT_GE(users->stop(grade), users->stop(grade - 1));
      }
    }
  }
}

TEST(GradedClicks, RefusesWhatIsNotDefined) {
  EXPECT_FALSE(GradedClicks::make(UserKind::kPerfect, 3).ok());
  EXPECT_FALSE(GradedClicks::make(UserKind::kPerfect, 0).ok());
  EXPECT_FALSE(GradedClicks::make(UserKind::kPerfect, 2, {1.5}).ok());
  EXPECT_FALSE(GradedClicks::make(UserKind::kPerfect, 2, {NAN}).ok());
}

}  // namespace
}  // namespace hindsight
