// FeatureShop: a small world in which users want what has a large first feature, for rankers that
// learn weights of features.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hindsight/registry.h"
#include "hindsight/signals.h"

namespace hindsight::testing {

class FeatureShop {
 public:
  static constexpr std::size_t kItems = 12;
  static constexpr std::size_t kShown = 5;

  FeatureShop(std::string_view name, const ParamMap& params, bool features_in_request = false)
      : ranker(*make_ranker(name, params)), features_in_request_(features_in_request) {
    rows_.dense_dim = 2;
    std::vector<Item> items(kItems);
    for (ItemIndex i = 0; i < kItems; ++i) {
      const std::vector<double> row = {i % 3 == 0 ? 1.0 : 0.0, static_cast<double>(i) / kItems};
      rows_.dense.insert(rows_.dense.end(), row.begin(), row.end());
      items[i].index = i;
      if (!features_in_request) {
        items[i].dense = row;
      }
      all_.push_back(i);
    }
    EXPECT_TRUE(ranker->add_items(items).ok());
  }

  static bool good(ItemIndex item) { return item % 3 == 0; }

  Decision rank() {
    Request request;
    request.decision = {.source = 1, .counter = ++lists_};
    request.candidates = all_;
    request.features = features_in_request_ ? &rows_ : nullptr;
    request.k = kShown;
    Rng rng = Rng::for_decision(7, request.decision);
    return *ranker->rank(request, signals_, rng);
  }
  Result<LearnReport> learn(const Decision& decision, const Feedback& feedback) {
    return ranker->learn(decision, feedback, signals_);
  }
  /// Lists whose users click everything that is good.
  void serve(int lists) {
    for (int i = 0; i < lists; ++i) {
      const Decision decision = rank();
      ASSERT_TRUE(learn(decision, clicks(decision)).ok());
    }
  }
  static Feedback clicks(const Decision& decision) {
    Feedback feedback{.decision = decision.id, .closed = true};
    for (const ItemIndex item : decision.shown()) {
      if (good(item)) {
        feedback.clicked.push_back(item);
      }
    }
    return feedback;
  }
  double share_of_good_first(int lists) {
    int first = 0;
    for (int i = 0; i < lists; ++i) {
      first += good(rank().items[0]) ? 1 : 0;
    }
    return static_cast<double>(first) / lists;
  }

  std::unique_ptr<Ranker> ranker;

 private:
  bool features_in_request_;
  FeatureRows rows_;
  Signals signals_;
  std::vector<ItemIndex> all_;
  std::uint64_t lists_ = 0;
};

/// A list that another ranker has made leaves the named one as it was.
inline void expect_lists_of_others_teach_nothing(std::string_view name) {
  FeatureShop shop(name, {});
  FeatureShop other("random", {});
  const Decision decision = other.rank();
  const std::string hash = model_hash(*shop.ranker);
  const Feedback feedback = FeatureShop::clicks(decision);
  const auto report = shop.learn(decision, feedback);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->ignored, feedback.clicked.size());
  EXPECT_EQ(model_hash(*shop.ranker), hash);
}

}  // namespace hindsight::testing
