#include "src/rankers/experts.h"

#include <algorithm>

#include "src/core/ball_weights.h"
#include "src/core/check.h"
#include "src/core/context_terms.h"
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

/// [Delage09] Table 1 on one weight per item, and one more under a context key: as klrank.
class GperExpert final : public Expert {
 public:
  GperExpert(double alpha, std::size_t context_terms, std::string name)
      : Expert(std::move(name)),
        schedule_(*StepSchedule::make({.alpha = alpha}, true)),
        context_terms_(context_terms) {}

  void grow_items(std::size_t count) override { weights_.grow_items(count); }
  void scores(const LearnerView& view, std::span<double> out) const override {
    weights_.scores(phi(view), out);
  }
  double learn(const LearnerView& view, const ExpertLaw& law) override {
    const Step step = schedule_.at(law.click);
    if (!view.context.empty()) {
      weights_.grow_context(context_terms_);
    }
    return weights_.step(phi(view), law.probs, law.picked,
                         {.loss = 0.0, .factor = 1.0, .picked_extra = -1.0}, step.eta, step.radius);
  }
  double item_score(ItemIndex item) const override { return weights_.item(item); }
  std::size_t memory_bytes() const override { return weights_.memory_bytes(); }
  void save(ByteWriter& out) const override { weights_.save(out); }
  Result<void> load(ByteReader& in, std::size_t item_count) override {
    HINDSIGHT_RETURN_IF_ERROR(weights_.load(in));
    if (weights_.item_count() != item_count || weights_.dense_count() != 0 ||
        weights_.sparse_count() != 0 ||
        (weights_.context_count() != 0 && weights_.context_count() != context_terms_)) {
      return Error{ErrorCode::kCorrupt, "the saved weights do not fit the items", "weights"};
    }
    return {};
  }

 private:
  static ChoiceFeatures phi(const LearnerView& view) {
    return {.items = view.items,
            .rows = nullptr,
            .n = view.items.size(),
            .context = view.context,
            .context_factor = view.context.empty() ? 1.0 : context_factor(kFeatureBound)};
  }

  StepSchedule schedule_;
  std::size_t context_terms_;
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
  std::size_t memory_bytes() const override { return learner_.memory_bytes(); }
  const FeatureLearner* learner() const override { return &learner_; }
  void save(ByteWriter& out) const override { learner_.save(out); }
  Result<void> load(ByteReader& in, std::size_t item_count) override {
    return learner_.load(in, item_count);
  }

 private:
  FeatureLearner learner_;
};

}  // namespace

Experts make_experts(const Sight& sight) {
  constexpr std::size_t kAllPicks = 0;
  constexpr std::size_t kPicksOfLate = 2;
  const SignalUse& use = sight.use;
  const SignalUse picks_only{.session = false, .group = false, .links = false};
  Experts experts;
  const auto klrank = [&](double alpha, const char* name) {
    experts.push_back(std::make_unique<GperExpert>(alpha, sight.context_terms, name));
  };
  const auto features = [&](const char* name, FeatureLearnerParams params) {
    params.context_terms = sight.context_terms;
    experts.push_back(std::make_unique<FeatureExpert>(name, params));
  };
  klrank(kReferenceAlpha, "klrank, alpha 3");
  klrank(1.0, "klrank, alpha 1");
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
