#include "src/sim/click_learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "hindsight/registry.h"
#include "hindsight/signals.h"
#include "src/sim/click_bandit_experiment.h"
#include "src/sim/click_bandit_output.h"
#include "src/sim/click_bandit_play.h"

namespace hindsight {
namespace {

constexpr std::size_t kItems = 60;
constexpr std::size_t kPlaces = 4;
constexpr std::uint64_t kRounds = 4'000;

struct Scene {
  LinearWorld world;
  ClickModel model;
};

Scene scene_of(ClickKind kind, std::uint64_t seed) {
  Rng rng(seed);
  LinearWorld world = *make_linear_world(kItems, 3, rng);
  ClickModelParams params{.kind = kind, .positions = kPlaces, .attraction = world.attraction};
  if (kind == ClickKind::kPosition) {
    params.bias = {1.0, 0.5, 0.4, 0.3};
  }
  ClickModel model = *ClickModel::make(std::move(params));
  return {std::move(world), std::move(model)};
}

/// A ranker of the registry with the items of a world, which has been told that one list was not
/// clicked: RecurRank begins with the first feedback.
std::unique_ptr<Ranker> ranker_of(const std::string& name, const LinearWorld& world,
                                  const ParamMap& params) {
  auto ranker = *make_ranker(name, params);
  std::vector<Item> items(world.items);
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].index = static_cast<ItemIndex>(i);
    items[i].dense.assign(
        world.features.begin() + static_cast<std::ptrdiff_t>(i * world.dim),
        world.features.begin() + static_cast<std::ptrdiff_t>((i + 1) * world.dim));
  }
  EXPECT_TRUE(ranker->add_items(items).ok());
  return ranker;
}

Request whole_library(std::uint64_t counter) {
  Request request;
  request.decision.counter = counter;
  request.whole_library = true;
  request.k = kPlaces;
  return request;
}

Feedback feedback_of(const Decision& decision, std::uint64_t clicks) {
  Feedback feedback{.decision = decision.id, .closed = true};
  for (std::size_t k = 0; k < decision.shown_count; ++k) {
    if (((clicks >> k) & 1U) != 0) {
      feedback.clicked.push_back(decision.items[k]);
    }
  }
  return feedback;
}

/// The same users before the fast learner and the ranker of the registry: the same lists.
void expect_same_play(const std::string& learner_name, const std::string& ranker_name,
                      const ParamMap& params, ClickKind kind) {
  const Scene scene = scene_of(kind, 5);
  const auto learner =
      *make_click_learner(learner_name, scene.world, {.positions = kPlaces, .horizon = kRounds});
  const auto ranker = ranker_of(ranker_name, scene.world, params);
  const Signals signals;
  if (ranker_name == "recurrank") {
    Rng first(1);
    const auto decision = ranker->rank(whole_library(0), signals, first);
    ASSERT_TRUE(ranker->learn(*decision, feedback_of(*decision, 0), signals).ok());
  }
  Rng fast_lists(3);
  Rng lists(3);
  Rng users(4);
  std::vector<ItemIndex> list;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    const std::uint64_t wanted = learner->choose(fast_lists, list);
    const auto decision = ranker->rank(whole_library(round), signals, lists);
    ASSERT_TRUE(decision.ok());
    ASSERT_EQ(decision->items, list) << learner_name << " in round " << round;
    // All clicks are drawn; the learner looks at those that it wants.
    const std::uint64_t clicks = scene.model.draw(list, 0xF, users);
    learner->learn(list, clicks & wanted);
    ASSERT_TRUE(ranker->learn(*decision, feedback_of(*decision, clicks), signals).ok());
  }
}

TEST(ClickLearner, RecurRankPlaysAsTheRankerOfTheRegistry) {
  for (const ClickKind kind : {ClickKind::kPosition, ClickKind::kCascade}) {
    const double horizon = static_cast<double>(kRounds);
    const double places = static_cast<double>(kPlaces);
    expect_same_play("recurrank", "recurrank", {{"positions", places}, {"horizon", horizon}}, kind);
    expect_same_play(
        "recurrank-printed", "recurrank",
        {{"positions", places}, {"horizon", horizon}, {"elimination", std::string("printed")}},
        kind);
  }
}

TEST(ClickLearner, TopRankPlaysAsTheRankerOfTheRegistry) {
  expect_same_play("toprank", "toprank", {{"horizon", static_cast<double>(kRounds)}},
                   ClickKind::kPosition);
}

// Both break ties at random, each in its own way, so that lists are compared by the scores that the
// ranker gives to their items.
TEST(ClickLearner, CascadeLinUcbPlaysAsTheRankerOfTheRegistryUpToTies) {
  Rng rng(5);
  const LinearWorld world = *make_linear_world(kItems, 3, rng);
  std::vector<double> attraction = world.attraction;
  for (double& one : attraction) {
    one *= 0.3;  // far from the most that a score can be
  }
  const ClickModel model = *ClickModel::make(
      {.kind = ClickKind::kCascade, .positions = kPlaces, .attraction = attraction});
  for (const std::string name : {"cascade-linucb", "cascade-linucb-proven"}) {
    const bool proven = name != "cascade-linucb";
    const auto learner =
        *make_click_learner(name, world, {.positions = kPlaces, .horizon = kRounds});
    const auto ranker =
        ranker_of("cascade-linucb", world,
                  {{"horizon", proven ? static_cast<double>(kRounds) : 0.0}, {"c", 1.0}});
    const Signals signals;
    Rng fast_lists(3);
    Rng lists(3);
    Rng users(4);
    std::vector<ItemIndex> list;
    std::size_t untied = 0;
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      learner->choose(fast_lists, list);
      Request request = whole_library(round);
      request.k = kItems;
      const auto all = ranker->rank(request, signals, lists);
      ASSERT_TRUE(all.ok());
      for (std::size_t k = 0; k < kPlaces; ++k) {
        const auto at = std::find(all->items.begin(), all->items.end(), list[k]);
        ASSERT_NEAR(all->score[static_cast<std::size_t>(at - all->items.begin())], all->score[k],
                    1e-12)
            << name << " in round " << round;
        untied += all->score[k] < 1.0 ? 1 : 0;
      }
      const auto decision = ranker->rank(whole_library(round), signals, lists);
      ASSERT_TRUE(decision.ok());
      const std::uint64_t clicks = model.draw(decision->items, 0xF, users);
      learner->learn(decision->items, clicks);
      ASSERT_TRUE(ranker->learn(*decision, feedback_of(*decision, clicks), signals).ok());
    }
    EXPECT_GT(untied, kRounds / 10) << name;  // not everything was a tie
  }
}

TEST(ClickLearner, TopKAreTheLargestAndEqualsStartWhereTold) {
  const std::vector<double> scores = {1.0, 3.0, 3.0, 2.0, 3.0};
  std::vector<ItemIndex> out;
  top_k(scores, 2, 0, out);
  EXPECT_EQ(out, (std::vector<ItemIndex>{1, 2}));
  top_k(scores, 2, 2, out);
  EXPECT_EQ(out, (std::vector<ItemIndex>{2, 4}));
  top_k(scores, 5, 4, out);
  EXPECT_EQ(out, (std::vector<ItemIndex>{4, 1, 2, 3, 0}));
}

TEST(ClickLearner, AllLearnBetterThanChance) {
  const Scene scene = scene_of(ClickKind::kCascade, 8);
  std::vector<ItemIndex> list(kPlaces);
  std::iota(list.begin(), list.end(), 0U);
  double chance = 0.0;  // the mean over many lists
  for (std::size_t i = 0; i < kItems; ++i) {
    for (ItemIndex& item : list) {
      item = static_cast<ItemIndex>((item + 7) % kItems);
    }
    chance += scene.model.regret(list) / static_cast<double>(kItems);
  }
  for (const std::string& name : click_learner_names()) {
    const auto learner =
        *make_click_learner(name, scene.world, {.positions = kPlaces, .horizon = kRounds});
    const ClickPlay play =
        play_clicks(scene.model, *learner, curve_rounds(kRounds, 10), 2, nullptr);
    ASSERT_EQ(play.regret.size(), 10U);
    EXPECT_LT(play.regret.back(), chance * static_cast<double>(kRounds)) << name;
  }
}

TEST(ClickLearner, BadInputIsRefused) {
  const Scene scene = scene_of(ClickKind::kCascade, 8);
  const auto code = [&](const std::string& name, std::size_t places, std::uint64_t horizon) {
    return make_click_learner(name, scene.world, {.positions = places, .horizon = horizon})
        .error()
        .code;
  };
  EXPECT_EQ(code("nobody", 4, 10), ErrorCode::kUnknownName);
  EXPECT_EQ(code("recurrank", 61, 10), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("toprank", 0, 10), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code("cascade-linucb", 4, 0), ErrorCode::kInvalidArgument);
}

std::vector<ClickEnvironment> small_environments() {
  ClickEnvironment environment;
  environment.name = "cascade";
  environment.title = "Cascade clicks";
  environment.remark = "Small.";
  environment.rounds = 500;
  environment.make = [](std::uint64_t seed) -> Result<ClickScene> {
    Scene scene = scene_of(ClickKind::kCascade, seed);
    return ClickScene{std::move(scene.world), std::move(scene.model)};
  };
  return {environment};
}

TEST(ClickBanditExperiment, RegretsDoNotDependOnThreads) {
  ClickBanditOptions options{.runs = 3, .seed = 2, .threads = 1, .curve_points = 5};
  const auto alone = *run_click_bandits(small_environments(), options);
  options.threads = 3;
  const auto together = *run_click_bandits(small_environments(), options);
  ASSERT_EQ(alone.size(), click_learner_names().size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(alone[i].ranker, click_learner_names()[i]);
    EXPECT_EQ(alone[i].curve_mean, together[i].curve_mean);
    EXPECT_EQ(alone[i].curve_se, together[i].curve_se);
    EXPECT_LE(alone[i].regret_least, alone[i].regret_mean);
    EXPECT_GE(alone[i].regret_most, alone[i].regret_mean);
    EXPECT_TRUE(alone[i].regret_se.has_value());
  }
}

TEST(ClickBanditExperiment, BadOptionsAreRefused) {
  EXPECT_FALSE(run_click_bandits(small_environments(), {.runs = 0}).ok());
  const auto unknown = run_click_bandits(small_environments(), {.rankers = {"nobody"}, .runs = 1});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kUnknownName);
}

TEST(ClickBanditExperiment, SaysTheSameInTextJsonAndHtml) {
  ClickBanditFindings findings;
  findings.experiment = "click-models";
  findings.seed = 4;
  findings.runs = 2;
  findings.environments = small_environments();
  findings.rows = *run_click_bandits(findings.environments,
                                     {.rankers = {"recurrank", "toprank"}, .runs = 2, .seed = 4});
  const std::string text = click_bandit_text(findings);
  const std::string json = click_bandit_json(findings);
  const std::string html = render_html(click_bandit_report(findings));
  for (const char* key : {"\"environment\":\"cascade\"", "\"ranker\":\"toprank\"", "\"rounds\":500",
                          "\"regret_mean\":", "\"regret_se\":", "\"ns_per_round\":"}) {
    EXPECT_NE(json.find(key), std::string::npos) << key;
  }
  EXPECT_NE(text.find("106.10"), std::string::npos);  // the paper's beside ours
  EXPECT_NE(html.find("Regret over time"), std::string::npos);
}

TEST(ClickBanditExperiment, CurvesEndWithTheLastRound) {
  EXPECT_EQ(curve_rounds(10, 5), (std::vector<std::uint64_t>{2, 4, 6, 8, 10}));
  EXPECT_EQ(curve_rounds(3, 100), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(curve_rounds(7, 2), (std::vector<std::uint64_t>{3, 7}));
}

}  // namespace
}  // namespace hindsight
