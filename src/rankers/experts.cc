#include "src/rankers/experts.h"

#include <algorithm>

#include "src/core/ball_weights.h"
#include "src/core/check.h"
#include "src/core/step_schedule.h"

namespace hindsight {
namespace {

/// Every order alike: nobody can be worse than the library is large.
class UniformExpert final : public Expert {
 public:
  UniformExpert() : Expert("uniform") {}
  void scores(const LearnerView& /*view*/, std::span<double> out) const override {
    std::fill(out.begin(), out.end(), 0.0);
  }
};

/// Counts as Plackett-Luce weights: e^score is one more than a count.
class CountExpert final : public Expert {
 public:
  explicit CountExpert(std::size_t column)
      : Expert("counts of " + std::string(signal_columns()[column].name)), column_(column) {}
  void scores(const LearnerView& view, std::span<double> out) const override {
    const auto column = view.signals.subspan(column_ * out.size(), out.size());
    std::copy(column.begin(), column.end(), out.begin());
  }

 private:
  std::size_t column_;
};

/// [Delage09] Table 1 on one weight per item.
class GperExpert final : public Expert {
 public:
  explicit GperExpert(double alpha, std::string name)
      : Expert(std::move(name)), schedule_(*StepSchedule::make({.alpha = alpha}, true)) {}

  void grow_items(std::size_t count) override { weights_.grow_items(count); }
  void scores(const LearnerView& view, std::span<double> out) const override {
    weights_.scores({.items = view.items, .rows = nullptr, .n = view.items.size()}, out);
  }
  double learn(const LearnerView& view, const ExpertLaw& law) override {
    const Step step = schedule_.at(law.click);
    return weights_.step({.items = view.items, .rows = nullptr, .n = view.items.size()}, law.probs,
                         law.picked, {.loss = 0.0, .factor = 1.0, .picked_extra = -1.0}, step.eta,
                         step.radius);
  }
  double item_score(ItemIndex item) const override { return weights_.item(item); }
  void save(ByteWriter& out) const override { weights_.save(out); }
  Result<void> load(ByteReader& in, std::size_t item_count) override {
    HINDSIGHT_RETURN_IF_ERROR(weights_.load(in));
    if (weights_.item_count() != item_count || weights_.dense_count() != 0 ||
        weights_.sparse_count() != 0 || weights_.context_count() != 0) {
      return Error{ErrorCode::kCorrupt, "the saved weights do not fit the items", "weights"};
    }
    return {};
  }

 private:
  StepSchedule schedule_;
  BallWeights weights_;
};

class FeatureExpert final : public Expert {
 public:
  FeatureExpert(std::string name, const FeatureLearnerParams& params)
      : Expert(std::move(name)), learner_(params) {}

  void grow_items(std::size_t count) override { learner_.grow_items(count); }
  void scores(const LearnerView& view, std::span<double> out) const override {
    learner_.scores(view, out);
  }
  double learn(const LearnerView& view, const ExpertLaw& law) override {
    learner_.learn(view, law.probs, law.picked);
    return 0.0;
  }
  double item_score(ItemIndex item) const override { return learner_.item_term(item); }
  const FeatureLearner* learner() const override { return &learner_; }
  void save(ByteWriter& out) const override { learner_.save(out); }
  Result<void> load(ByteReader& in, std::size_t item_count) override {
    return learner_.load(in, item_count);
  }

 private:
  FeatureLearner learner_;
};

}  // namespace

Experts make_experts(const SignalUse& use) {
  constexpr std::size_t kAllPicks = 0;
  constexpr std::size_t kPicksOfLate = 2;
  const SignalUse picks_only{.session = false, .group = false, .links = false};
  Experts experts;
  const auto features = [&](const char* name, const FeatureLearnerParams& params) {
    experts.push_back(std::make_unique<FeatureExpert>(name, params));
  };
  experts.push_back(std::make_unique<GperExpert>(kReferenceAlpha, "klrank, alpha 3"));
  experts.push_back(std::make_unique<GperExpert>(1.0, "klrank, alpha 1"));
  experts.push_back(std::make_unique<UniformExpert>());
  experts.push_back(std::make_unique<CountExpert>(kAllPicks));
  experts.push_back(std::make_unique<CountExpert>(kPicksOfLate));
  features("features", {.use = use});
  features("features, slow", {.rate = 0.1, .item_rate = 0.3, .use = use});
  features("features, fast", {.rate = 1.0, .item_rate = 1.0, .use = use});
  features("features, without items' own terms", {.item_rate = 0.0, .use = use});
  features("features, Newton steps", {.newton = true, .use = use});
  features("features of picks alone", {.use = picks_only});
  features("features without the session",
           {.use = {.session = false, .group = use.group, .links = false}});
  features("features without groups and links",
           {.use = {.session = use.session, .group = false, .links = false}});
  return experts;
}

}  // namespace hindsight
