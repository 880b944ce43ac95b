#include "src/rankers/feature_klrank.h"

#include <cmath>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/feature_learner.h"
#include "src/core/feature_rows.h"
#include "src/core/kernels.h"
#include "src/core/losses.h"
#include "src/rankers/scored_ranker.h"
#include "src/rankers/signal_view.h"

namespace hindsight {
namespace {

constexpr const char* kName = "feature-klrank";

class FeatureKlRank final : public ScoredRanker {
 public:
  FeatureKlRank(ListOptions list, const FeatureLearnerParams& params)
      : ScoredRanker(std::move(list)),
        sight_{.use = params.use, .context_terms = params.context_terms},
        learner_(params) {}

  Description describe() const override {
    Description lines = {{"items", std::to_string(items_live())},
                         {"clicks learned", std::to_string(clicks_)},
                         {"cost when learned", pretty(cost_)}};
    for (std::size_t j = 0; j < kSignalColumns; ++j) {
      lines.emplace_back("weight of: " + std::string(signal_columns()[j].name),
                         pretty(learner_.weight(j)));
    }
    return lines;
  }
  double item_score(ItemIndex item) const override { return learner_.item_term(item); }
  std::size_t memory_bytes() const override {
    return items_added() + learner_.memory_bytes() + features_.memory_bytes();
  }

 protected:
  Result<FeatureRows> collect_features(const Request& request) const override {
    HINDSIGHT_RETURN_IF_ERROR(
        check_context_key(request, sight_.context_terms, "context_terms and item_rate"));
    return request.features == nullptr ? features_.rows_of(request.candidates) : *request.features;
  }
  void score(const Request& request, const Signals& signals, const FeatureRows& features,
             std::span<double> out) const override {
    learner_.scores(view_of(request, signals, sight_, features).view(), out);
  }
  Result<Explanation> do_explain(const Request& request, const Signals& signals,
                                 std::size_t at) const override {
    HINDSIGHT_ASSIGN_OR_RETURN(Explanation explanation,
                               ScoredRanker::do_explain(request, signals, at));
    explanation.parts.clear();
    HINDSIGHT_ASSIGN_OR_RETURN(const FeatureRows features, collect_features(request));
    add_parts(learner_, view_of(request, signals, sight_, features), at, 1.0, explanation.parts);
    if (!request.prior.empty()) {
      explanation.parts.push_back({.name = "prior",
                                   .value = request.prior[at],
                                   .weight = 1.0,
                                   .contribution = request.prior[at]});
    }
    explanation.score = 0.0;
    for (const Explanation::Part& part : explanation.parts) {
      explanation.score += part.contribution;
    }
    return explanation;
  }

  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& signals) override {
    const std::size_t n = decision.items.size();
    const SignalView seen = view_of(decision, signals, sight_);
    scores_.resize(n);
    raw_.resize(n);
    LearnReport report;
    for (const ItemIndex item : feedback.clicked) {
      const std::size_t picked = place_of(decision, item);
      learner_.scores(seen.view(), scores_);
      add_prior(decision.prior, scores_);
      const LossSlope slope = kl_cost(scores_, max_of(scores_), picked, raw_);
      for (double& prob : raw_) {
        prob *= slope.factor;
      }
      learner_.learn(seen.view(), raw_, picked);
      cost_ += slope.loss;
      count_up(clicks_);
      ++report.learned;
    }
    return report;
  }

  void do_add_items(std::span<const Item> items) override {
    learner_.grow_items(items_added());
    for (const Item& item : items) {
      features_.put(item);
    }
  }
  void do_save(ByteWriter& out) const override {
    learner_.save(out);
    features_.save(out);
    out.put(clicks_);
    out.put(cost_);
  }
  Result<void> do_load(ByteReader& in) override {
    HINDSIGHT_RETURN_IF_ERROR(learner_.load(in, items_added()));
    HINDSIGHT_RETURN_IF_ERROR(features_.load(in));
    in.get(clicks_);
    in.get(cost_);
    HINDSIGHT_RETURN_IF_ERROR(in.check("costs"));
    if (features_.size() != items_added() || clicks_ > kMaxCount || !std::isfinite(cost_)) {
      return Error{ErrorCode::kCorrupt, "the saved model's parts do not fit together", ""};
    }
    return {};
  }

 private:
  Sight sight_;
  FeatureLearner learner_;
  FeatureStore features_;
  std::uint64_t clicks_ = 0;
  double cost_ = 0.0;
  std::vector<double> scores_;  // scratch of learn
  std::vector<double> raw_;
};

std::vector<ParamSpec> params() {
  const FeatureLearnerParams defaults;
  return signal_params(
      {{.name = "rate",
        .default_value = defaults.rate,
        .help = "size of the AdaGrad steps on weights that items share",
        .minimum = 0.0,
        .maximum = 10.0},
       {.name = "item_rate",
        .default_value = defaults.item_rate,
        .help =
            "size of the AdaGrad steps on each item's own term; 0: no such terms, and no context "
            "keys",
        .minimum = 0.0,
        .maximum = 10.0},
       {.name = "optimiser",
        .default_value = std::string("adagrad"),
        .help = "of the weights of signals: AdaGrad, or online Newton steps",
        .words = {"adagrad", "newton"}},
       {.name = "max_move",
        .default_value = defaults.max_move,
        .help = "no click moves any score by more than this",
        .minimum = 0.0,
        .minimum_excluded = true,
        .maximum = 1e3}});
}

}  // namespace

RankerInfo feature_klrank_info() {
  return {.name = kName,
          .summary =
              "Learns the weights of what the log says about items: picks, recency, what "
              "goes together, groups, links; and of the caller's features",
          .paper = "[Delage09] 3.2, 4.2; [Duchi11]; [Hazan07]",
          .guarantee =
              "one click moves no score by more than max_move; none on the cost of its "
              "own, but inside auto its cost is within ln N of the best expert's",
          .assumptions =
              "AdaGrad's regret bound [Duchi11] holds for as long as no step is "
              "shortened; a feature row longer than 4 is scaled to 4",
          .law = ListLaw::kFirstSlot,
          .params = params(),
          .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
            const Sight sight = sight_of(params);
            return std::unique_ptr<Ranker>(std::make_unique<FeatureKlRank>(
                ListOptions{
                    .name = kName, .law = first_law(params), .choice_set = choice_set_of(params)},
                FeatureLearnerParams{
                    .rate = number(params, "rate"),
                    .item_rate = number(params, "item_rate"),
                    .newton = word(params, "optimiser") == "newton",
                    .max_move = number(params, "max_move"),
                    .use = sight.use,
                    .context_terms = number(params, "item_rate") > 0.0 ? sight.context_terms : 0}));
          }};
}

}  // namespace hindsight
