#include "src/sim/click_model.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/sim/linear_world.h"

namespace hindsight {
namespace {

constexpr double kRounding = 1e-12;

std::vector<double> probabilities(std::size_t count, Rng& rng) {
  std::vector<double> out(count);
  for (double& p : out) {
    p = rng.uniform();
  }
  return out;
}

ClickModelParams random_params(ClickKind kind, std::size_t items, std::size_t places, Rng& rng) {
  ClickModelParams params{
      .kind = kind, .positions = places, .attraction = probabilities(items, rng)};
  if (kind == ClickKind::kPosition) {
    params.bias = probabilities(places, rng);
  } else if (kind == ClickKind::kDependent || kind == ClickKind::kImpatient) {
    params.go_on = probabilities(places, rng);
  }
  return params;
}

std::vector<ItemIndex> random_list(std::size_t items, std::size_t places, Rng& rng) {
  std::vector<ItemIndex> all(items);
  std::iota(all.begin(), all.end(), 0U);
  for (std::size_t i = 0; i < places; ++i) {
    std::swap(all[i], all[i + static_cast<std::size_t>(rng.below(items - i))]);
  }
  all.resize(places);
  return all;
}

/// Every list of K of the items.
std::vector<std::vector<ItemIndex>> all_lists(std::size_t items, std::size_t places) {
  std::vector<std::vector<ItemIndex>> lists = {{}};
  for (std::size_t k = 0; k < places; ++k) {
    std::vector<std::vector<ItemIndex>> longer;
    for (const auto& list : lists) {
      for (ItemIndex item = 0; item < items; ++item) {
        if (std::find(list.begin(), list.end(), item) == list.end()) {
          longer.push_back(list);
          longer.back().push_back(item);
        }
      }
    }
    lists = std::move(longer);
  }
  return lists;
}

/// A model for which the assumptions of [Li19] are claimed.
ClickModel well_behaved(ClickKind kind, Rng& rng) {
  ClickModelParams params = random_params(kind, 6, 4, rng);
  std::sort(params.bias.rbegin(), params.bias.rend());
  if (!params.go_on.empty()) {
    params.go_on.assign(params.go_on.size(), params.go_on[0]);
  }
  return *ClickModel::make(std::move(params));
}

constexpr ClickKind kLawful[] = {ClickKind::kDocument, ClickKind::kPosition, ClickKind::kCascade,
                                 ClickKind::kDependent};
constexpr ClickKind kEvery[] = {ClickKind::kDocument, ClickKind::kPosition, ClickKind::kCascade,
                                ClickKind::kDependent, ClickKind::kImpatient};

TEST(ClickModel, ExaminationDependsOnTheSetAboveAPlaceOnly) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    for (const ClickKind kind : kLawful) {
      const ClickModel model = well_behaved(kind, rng);
      const auto list = random_list(6, 4, rng);
      for (std::size_t k = 0; k < 4; ++k) {
        auto other = list;
        std::sort(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(k));
        std::reverse(other.begin() + static_cast<std::ptrdiff_t>(k), other.end());
        RC_ASSERT(std::abs(model.examination(list, k) - model.examination(other, k)) < kRounding);
      }
    }
  }));
}

TEST(ClickModel, ExaminationFallsAlongTheList) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    for (const ClickKind kind : kEvery) {
      const ClickModel model = well_behaved(kind, rng);
      const auto list = random_list(6, 4, rng);
      for (std::size_t k = 0; k + 1 < 4; ++k) {
        RC_ASSERT(model.examination(list, k + 1) <= model.examination(list, k) + kRounding);
      }
    }
  }));
}

TEST(ClickModel, ExaminationIsLeastOnTheMostAttractiveList) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    for (const ClickKind kind : kLawful) {
      const ClickModel model = well_behaved(kind, rng);
      const auto list = random_list(6, 4, rng);
      for (std::size_t k = 0; k < 4; ++k) {
        RC_ASSERT(model.examination(list, k) >=
                  model.examination(model.most_attractive(), k) - kRounding);
      }
    }
  }));
}

TEST(ClickModel, DependentClicksWithAnUnevenEndBreakTheFirstAssumption) {
  const auto model = *ClickModel::make({.kind = ClickKind::kDependent,
                                        .positions = 3,
                                        .attraction = {0.9, 0.1, 0.5},
                                        .bias = {},
                                        .go_on = {1.0, 0.0, 0.0}});
  EXPECT_DOUBLE_EQ(model.examination(std::vector<ItemIndex>{0, 1, 2}, 2), 0.9);
  EXPECT_DOUBLE_EQ(model.examination(std::vector<ItemIndex>{1, 0, 2}, 2), 0.1);
}

TEST(ClickModel, AnImpatientUserBreaksTheThirdAssumptionAndARisingBiasTheSecond) {
  const auto impatient = *ClickModel::make({.kind = ClickKind::kImpatient,
                                            .positions = 2,
                                            .attraction = {0.9, 0.1},
                                            .bias = {},
                                            .go_on = {0.5, 0.5}});
  EXPECT_LT(impatient.examination(std::vector<ItemIndex>{1, 0}, 1),
            impatient.examination(impatient.most_attractive(), 1));
  const auto rising = *ClickModel::make({.kind = ClickKind::kPosition,
                                         .positions = 2,
                                         .attraction = {0.9, 0.1},
                                         .bias = {0.2, 1.0},
                                         .go_on = {}});
  const std::vector<ItemIndex> list = {0, 1};
  EXPECT_GT(rising.examination(list, 1), rising.examination(list, 0));
  // So A* is not the best list (Remark 2), and the regret of the best is below 0.
  const auto best = *rising.optimal_list();
  EXPECT_EQ(best, (std::vector<ItemIndex>{1, 0}));
  EXPECT_LT(rising.regret(best), 0.0);
}

TEST(ClickModel, TheOptimalListHasTheLargestRewardOfAllLists) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    const auto kind = static_cast<ClickKind>(rng.below(5));
    const auto model = *ClickModel::make(random_params(kind, 5 + rng.below(2), 3, rng));
    double most = 0.0;
    for (const auto& list : all_lists(model.items(), 3)) {
      most = std::max(most, model.reward(list));
    }
    RC_ASSERT(std::abs(model.reward(*model.optimal_list()) - most) < kRounding);
  }));
}

TEST(ClickModel, AStarIsTheOptimumWhereFewerAndFewerGoOn) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    ClickModelParams params = random_params(ClickKind::kDependent, 6, 3, rng);
    std::sort(params.go_on.rbegin(), params.go_on.rend());
    const auto model = *ClickModel::make(params);
    for (const auto& list : all_lists(6, 3)) {
      RC_ASSERT(model.regret(list) >= -kRounding);
    }
  }));
}

TEST(ClickModel, ALongSearchIsRefused) {
  Rng rng(1);
  ClickModelParams params = random_params(ClickKind::kImpatient, 20, 7, rng);
  const auto list = ClickModel::make(params)->optimal_list();
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kTooLarge);
}

// Hoeffding: a mean of N draws of [0, 1] is off by e with probability at most 2 e^(-2 N e^2); with
// N = 40,000 and e = 0.02 that is 3e-14 for each of the 20 means.
TEST(ClickModel, DrawsFollowTheExpectedClicks) {
  constexpr int kDraws = 40'000;
  constexpr std::uint64_t kAll = 0xF;
  Rng rng(17);
  for (const ClickKind kind : kEvery) {
    const auto model = *ClickModel::make(random_params(kind, 8, 4, rng));
    const auto list = random_list(8, 4, rng);
    double clicks[4] = {};
    for (int i = 0; i < kDraws; ++i) {
      const std::uint64_t drawn = model.draw(list, kAll, rng);
      for (std::size_t k = 0; k < 4; ++k) {
        clicks[k] += static_cast<double>((drawn >> k) & 1U);
      }
    }
    double reward = 0.0;
    for (std::size_t k = 0; k < 4; ++k) {
      const double v = model.examination(list, k) * model.attraction(list[k]);
      EXPECT_NEAR(clicks[k] / kDraws, v, 0.02) << click_kind_name(kind) << " at place " << k;
      reward += v;
    }
    EXPECT_NEAR(model.reward(list), reward, kRounding);
  }
}

TEST(ClickModel, OnlyWantedPlacesAreClicked) {
  Rng rng(3);
  for (const ClickKind kind : kEvery) {
    ClickModelParams params = random_params(kind, 5, 4, rng);
    params.attraction.assign(5, 1.0);
    params.bias.assign(params.bias.size(), 1.0);
    params.go_on.assign(params.go_on.size(), 1.0);
    const auto model = *ClickModel::make(params);
    const std::vector<ItemIndex> list = {4, 3, 2, 1};
    const std::uint64_t stops = kind == ClickKind::kCascade ? 0b0001 : 0b1111;
    EXPECT_EQ(model.draw(list, 0b0101, rng), 0b0101 & stops);
    EXPECT_EQ(model.draw(list, 0, rng), 0U);
  }
}

TEST(ClickModel, CascadeClicksAtMostOnce) {
  Rng rng(8);
  const auto model = *ClickModel::make(random_params(ClickKind::kCascade, 30, 10, rng));
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LE(std::popcount(model.draw(random_list(30, 10, rng), ~std::uint64_t{0}, rng)), 1);
  }
}

TEST(ClickModel, BadInputIsRefused) {
  Rng rng(4);
  const auto expect = [&](ErrorCode code, const char* field, const auto& change) {
    ClickModelParams params = random_params(ClickKind::kPosition, 5, 3, rng);
    change(params);
    const auto made = ClickModel::make(params);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, code);
    EXPECT_EQ(made.error().field, field);
    EXPECT_FALSE(made.error().message.empty());
  };
  expect(ErrorCode::kInvalidArgument, "positions", [](auto& p) { p.positions = 0; });
  expect(ErrorCode::kInvalidArgument, "positions", [](auto& p) { p.positions = 6; });
  expect(ErrorCode::kTooLarge, "positions", [](auto& p) {
    p.positions = 65;
    p.attraction.assign(100, 0.5);
  });
  expect(ErrorCode::kInvalidArgument, "bias", [](auto& p) { p.bias.pop_back(); });
  expect(ErrorCode::kInvalidArgument, "bias[1]", [](auto& p) { p.bias[1] = -0.1; });
  expect(ErrorCode::kNotFinite, "bias[2]",
         [](auto& p) { p.bias[2] = std::numeric_limits<double>::quiet_NaN(); });
  expect(ErrorCode::kInvalidArgument, "go_on", [](auto& p) { p.go_on = {0.5}; });
  expect(ErrorCode::kInvalidArgument, "attraction[4]", [](auto& p) { p.attraction[4] = 1.5; });
}

TEST(LinearWorld, TransformedVectorsHaveLengthOneAndProductsThatAreProbabilities) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    Rng rng(seed);
    const auto world = *make_linear_world(20, 2 + rng.below(6), rng);
    for (std::size_t i = 0; i < world.items; ++i) {
      double squared = 0.0;
      for (std::size_t c = 0; c < world.dim; ++c) {
        squared += world.features[i * world.dim + c] * world.features[i * world.dim + c];
      }
      RC_ASSERT(std::abs(squared - 1.0) < kRounding);
      RC_ASSERT(world.attraction[i] >= 0.0 && world.attraction[i] <= 1.0);
    }
  }));
}

TEST(LinearWorld, BadInputIsRefused) {
  Rng rng(1);
  EXPECT_FALSE(make_linear_world(0, 5, rng).ok());
  EXPECT_FALSE(make_linear_world(5, 1, rng).ok());
  EXPECT_FALSE(make_linear_world(0, {}, {}).ok());
  EXPECT_FALSE(make_linear_world(2, {1.0, 0.0, 0.0, 0.0}, {0.5, 0.5}).ok());
  EXPECT_FALSE(make_linear_world(1, {2.0}, {0.9}).ok());
  EXPECT_FALSE(make_linear_world(1, {std::nan("")}, {0.9}).ok());
  EXPECT_FALSE(to_unit_with_constant(std::vector<double>{0.0, 0.0}).ok());
  EXPECT_FALSE(to_unit_with_constant({}).ok());
}

}  // namespace
}  // namespace hindsight
