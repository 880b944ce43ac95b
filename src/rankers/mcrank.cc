#include "src/rankers/mcrank.h"

#include <vector>

#include "src/core/ball_weights.h"
#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"
#include "src/core/losses.h"
#include "src/core/step_schedule.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {
namespace {

ListOptions mcrank_options(ChoiceSet choice_set) {
  return {.name = "mcrank", .law = ListLaw::kDeterministic, .choice_set = choice_set};
}

// [Delage09] 5.1: the offline solution sorts by p_i = picks / appearances. Sorting by p itself
// avoids the infinite log-odds of items that were never picked; what never appeared counts as never
// picked.
class ClosedMcRank final : public ScoredRanker {
 public:
  explicit ClosedMcRank(ChoiceSet choice_set) : ScoredRanker(mcrank_options(choice_set)) {}

  Description describe() const override {
    return {{"items", std::to_string(items_live())}, {"clicks learned", std::to_string(clicks_)}};
  }
  double item_score(ItemIndex item) const override {
    return seen_[item] == 0 ? 0.0
                            : static_cast<double>(picks_[item]) / static_cast<double>(seen_[item]);
  }

 protected:
  void score(const Request& request, const Signals& /*signals*/, const FeatureRows& /*features*/,
             std::span<double> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = item_score(request.candidates[i]);
    }
  }
  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    for (const ItemIndex item : feedback.clicked) {
      for (const ItemIndex other : decision.items) {
        count_up(seen_[other]);
      }
      count_up(picks_[item]);
      count_up(clicks_);
    }
    return LearnReport{.learned = static_cast<std::uint32_t>(feedback.clicked.size())};
  }
  void do_add_items(std::span<const Item> /*items*/) override {
    picks_.resize(items_added(), 0);
    seen_.resize(items_added(), 0);
  }
  void do_save(ByteWriter& out) const override {
    out.put(picks_);
    out.put(seen_);
    out.put(clicks_);
  }
  Result<void> do_load(ByteReader& in) override {
    in.get(picks_);
    in.get(seen_);
    in.get(clicks_);
    HINDSIGHT_RETURN_IF_ERROR(in.check("counts"));
    bool sane =
        picks_.size() == items_added() && seen_.size() == items_added() && clicks_ <= kMaxCount;
    for (std::size_t i = 0; sane && i < picks_.size(); ++i) {
      sane = picks_[i] <= seen_[i] && seen_[i] <= clicks_;
    }
    return sane ? Result<void>()
                : Error{ErrorCode::kCorrupt, "the saved counts do not fit the items", "counts"};
  }

 private:
  std::vector<std::uint64_t> picks_;
  std::vector<std::uint64_t> seen_;
  std::uint64_t clicks_ = 0;
};

// The logistic regression itself, by the steps of GPER. The loss is a sum over all candidates, so
// its gradient can be longer than 2F: Theorem 4.4 is not claimed.
class OnlineMcRank final : public ScoredRanker {
 public:
  OnlineMcRank(ChoiceSet choice_set, const StepSchedule& schedule)
      : ScoredRanker(mcrank_options(choice_set)), schedule_(schedule) {}

  Description describe() const override {
    return {{"items", std::to_string(items_live())},
            {"clicks learned", std::to_string(clicks_)},
            {"length of the weights", pretty(weights_.norm())}};
  }
  double item_score(ItemIndex item) const override { return weights_.item(item); }

 protected:
  void score(const Request& request, const Signals& /*signals*/, const FeatureRows& /*features*/,
             std::span<double> out) const override {
    weights_.scores({.items = request.candidates, .n = out.size()}, out);
  }
  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    const std::size_t n = decision.items.size();
    const ChoiceFeatures features{.items = decision.items, .n = n};
    std::vector<double> scores(n);
    std::vector<double> raw(n);
    for (const ItemIndex item : feedback.clicked) {
      const Step step = schedule_.at(clicks_ + 1);
      weights_.scores(features, scores);
      add_prior(decision.prior, scores);
      const std::size_t picked = place_of(decision, item);
      const LossSlope slope = two_class_cost(scores, picked, raw);
      weights_.step(features, raw, picked, slope, step.eta, step.radius);
      count_up(clicks_);
    }
    return LearnReport{.learned = static_cast<std::uint32_t>(feedback.clicked.size())};
  }
  void do_add_items(std::span<const Item> /*items*/) override {
    weights_.grow_items(items_added());
  }
  void do_save(ByteWriter& out) const override {
    weights_.save(out);
    out.put(clicks_);
  }
  Result<void> do_load(ByteReader& in) override {
    HINDSIGHT_RETURN_IF_ERROR(weights_.load(in));
    in.get(clicks_);
    HINDSIGHT_RETURN_IF_ERROR(in.check("weights"));
    if (weights_.item_count() != items_added() || clicks_ > kMaxCount) {
      return Error{ErrorCode::kCorrupt, "the saved weights do not fit the items", "weights"};
    }
    return {};
  }

 private:
  StepSchedule schedule_;
  BallWeights weights_;
  std::uint64_t clicks_ = 0;
};

Result<std::unique_ptr<Ranker>> make_mcrank(const ParamMap& params) {
  const ChoiceSet choice_set = choice_set_of(params);
  if (word(params, "form") == "closed") {
    return std::unique_ptr<Ranker>(std::make_unique<ClosedMcRank>(choice_set));
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const StepSchedule schedule,
                             StepSchedule::make({.alpha = number(params, "alpha")}, true));
  return std::unique_ptr<Ranker>(std::make_unique<OnlineMcRank>(choice_set, schedule));
}

}  // namespace

RankerInfo mcrank_info() {
  return {
      .name = "mcrank",
      .summary = "2-class McRank: sorts by how often an item was picked when it could be",
      .paper = "[Delage09] 5.1",
      .guarantee = "none",
      .assumptions =
          "one weight per item; how often an item is picked does not depend on what stands "
          "beside it",
      .law = ListLaw::kDeterministic,
      .params = {{.name = "form",
                  .default_value = std::string("closed"),
                  .help =
                      "closed: picks over appearances; online: logistic regression by GPER steps",
                  .words = {"closed", "online"}},
                 {.name = "alpha",
                  .default_value = 1.0,
                  .help = "size of the balls, for form=online",
                  .minimum = 0.0,
                  .minimum_excluded = true,
                  .maximum = 1e6},
                 choice_set_spec()},
      .make = make_mcrank};
}

}  // namespace hindsight
