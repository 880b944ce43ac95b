#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/feature_shop.h"

namespace hindsight::testing {
namespace {

TEST(Pdgd, LearnsWhichFeatureUsersWant) {
  FeatureShop shop("pdgd", {});
  const double before = shop.share_of_good_first(200);
  shop.serve(2000);
  EXPECT_LT(before, 0.6);
  EXPECT_GT(shop.share_of_good_first(200), 0.9);
}

TEST(Pdgd, LearnsFromFeaturesOfTheRequest) {
  FeatureShop shop("pdgd", {}, /*features_in_request=*/true);
  shop.serve(2000);
  EXPECT_GT(shop.share_of_good_first(200), 0.9);
}

TEST(Pdgd, WaitsForTheWindowToClose) {
  FeatureShop shop("pdgd", {});
  const Decision decision = shop.rank();
  const std::string hash = model_hash(*shop.ranker);
  Feedback feedback{.decision = decision.id, .clicked = {decision.items[1]}};
  EXPECT_EQ(shop.learn(decision, feedback)->ignored, 1U);
  EXPECT_EQ(model_hash(*shop.ranker), hash);
  feedback.closed = true;
  EXPECT_EQ(shop.learn(decision, feedback)->learned, 1U);
  EXPECT_NE(model_hash(*shop.ranker), hash);
}

TEST(Pdgd, WhatNobodyPreferredChangesNoWeight) {
  FeatureShop shop("pdgd", {});
  shop.serve(5);
  const double before = shop.ranker->item_score(0);
  const Decision decision = shop.rank();
  EXPECT_TRUE(shop.learn(decision, {.decision = decision.id, .closed = true}).ok());
  const auto shown = decision.shown();
  EXPECT_TRUE(
      shop.learn(decision,
                 {.decision = decision.id, .clicked = {shown.begin(), shown.end()}, .closed = true})
          .ok());
  EXPECT_EQ(shop.ranker->item_score(0), before);
}

TEST(Pdgd, ListsOfOtherRankersTeachNothing) { expect_lists_of_others_teach_nothing("pdgd"); }

TEST(Pdgd, RefusesADecisionWhoseAuxDoesNotFit) {
  FeatureShop shop("pdgd", {});
  Decision decision = shop.rank();
  const Feedback feedback{.decision = decision.id, .clicked = {decision.items[0]}, .closed = true};
  decision.aux.pop_back();
  EXPECT_EQ(shop.learn(decision, feedback).error().field, "decision.aux");
  decision.aux.assign(16, std::byte{0xFF});  // not a number
  EXPECT_EQ(shop.learn(decision, feedback).error().field, "decision.aux");
}

TEST(Pdgd, RefusesFeaturesBeyondTheDeclaredLength) {
  FeatureShop shop("pdgd", {{"feature_bound", 2.0}});
  Item item;
  item.index = static_cast<ItemIndex>(shop.ranker->items_added());
  item.dense = {3.0, 0.0};
  EXPECT_EQ(shop.ranker->add_items(std::span(&item, 1)).error().code, ErrorCode::kFeatureTooLong);
}

}  // namespace
}  // namespace hindsight::testing
