#include "src/rankers/auto_ranker.h"

#include <algorithm>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/choice_objective.h"
#include "src/core/context_terms.h"
#include "src/core/det_math.h"
#include "src/core/expert_mixture.h"
#include "src/core/feature_rows.h"
#include "src/core/kernels.h"
#include "src/core/regret.h"
#include "src/rankers/experts.h"
#include "src/rankers/scored_ranker.h"
#include "src/rankers/signal_view.h"

namespace hindsight {
namespace {

constexpr const char* kName = "auto";

// Lists are made without experts of less weight: the law changes by less than N times this. Costs,
// and so the bound, are taken with all of them.
constexpr double kNegligible = 1e-12;
// Below this, probabilities are added up as logarithms.
constexpr double kTiny = 1e-280;

class AutoRanker final : public ScoredRanker {
 public:
  AutoRanker(ListOptions list, const Sight& sight, double share)
      : ScoredRanker(std::move(list)),
        sight_(sight),
        experts_(make_experts(sight)),
        mixture_(experts_.size(), share),
        account_(*StepSchedule::make({.alpha = kReferenceAlpha}, true),
                 {.once = mixture_.once_beyond(),
                  .per_later_click = mixture_.beyond_per_later_round()}) {}

  Description describe() const override {
    Description lines = {{"items", std::to_string(items_live())},
                         {"clicks learned", std::to_string(mixture_.rounds())},
                         {"cost when learned", pretty(mixture_.cost())},
                         {"cost when learned is at most", pretty(mixture_.cost_bound())},
                         {"cost as served", pretty(account_.served_cost())}};
    for (std::size_t k = 0; k < experts_.size(); ++k) {
      lines.emplace_back("weight of " + experts_[k]->name(), pretty(mixture_.weight(k)));
      lines.emplace_back("cost of " + experts_[k]->name(), pretty(mixture_.expert_cost(k)));
    }
    return lines;
  }
  double item_score(ItemIndex item) const override {
    double score = 0.0;
    for (std::size_t k = 0; k < experts_.size(); ++k) {
      score += mixture_.weight(k) * experts_[k]->item_score(item);
    }
    return score;
  }
  std::size_t memory_bytes() const override {
    std::size_t bytes = items_added() + features_.memory_bytes();
    for (const auto& expert : experts_) {
      bytes += expert->memory_bytes();
    }
    return bytes;
  }
  std::vector<float> expert_weights() const override {
    std::vector<float> weights;
    for (std::size_t k = 0; k < experts_.size(); ++k) {
      weights.push_back(static_cast<float>(mixture_.weight(k)));
    }
    return weights;
  }
  const RegretAccount* regret() const override { return &account_; }
  bool books_kl_cost() const override { return true; }
  /// The best fixed policy in hindsight is that of klrank: one weight per item, and one more under
  /// a context key.
  std::optional<Choice> choice_of(const Decision& decision, ItemIndex clicked) const override {
    Choice choice{
        .prior = decision.prior,
        .context = context_slots(decision.context_key, decision.items, sight_.context_terms),
        .n = decision.items.size(),
        .picked = place_of(decision, clicked)};
    choice.items = decision.items;
    if (!choice.context.empty()) {
      choice.factor = context_factor(kFeatureBound);
    }
    return choice;
  }

 protected:
  Result<FeatureRows> collect_features(const Request& request) const override {
    HINDSIGHT_RETURN_IF_ERROR(check_context_key(request, sight_.context_terms));
    return request.features == nullptr ? features_.rows_of(request.candidates) : *request.features;
  }

  /// ln of the mixture's probability of standing first, less the prior, which is added again.
  void score(const Request& request, const Signals& signals, const FeatureRows& features,
             std::span<double> out) const override {
    const SignalView seen = view_of(request, signals, sight_, features);
    std::vector<double> law(out.size());
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t k = 0; k < experts_.size(); ++k) {
      const double weight = mixture_.weight(k);
      if (weight >= kNegligible) {
        const double sum = law_of(*experts_[k], seen, request.prior, law);
        for (std::size_t i = 0; i < out.size(); ++i) {
          out[i] += law[i] * (weight / sum);
        }
      }
    }
    if (all_within(out, kTiny, 2.0)) {
      log_of(out, out);
    } else {
      log_law(seen, request.prior, out);
    }
    for (std::size_t i = 0; i < request.prior.size(); ++i) {
      out[i] -= request.prior[i];
    }
  }

  Result<Explanation> do_explain(const Request& request, const Signals& signals,
                                 std::size_t at) const override {
    HINDSIGHT_ASSIGN_OR_RETURN(Explanation explanation,
                               ScoredRanker::do_explain(request, signals, at));
    HINDSIGHT_ASSIGN_OR_RETURN(const FeatureRows features, collect_features(request));
    const SignalView seen = view_of(request, signals, sight_, features);
    std::vector<double> law(request.candidates.size());
    explanation.parts.clear();
    double prob = 0.0;
    double listened = 0.0;
    for (std::size_t k = 0; k < experts_.size(); ++k) {
      listened += experts_[k]->learner() == nullptr ? 0.0 : mixture_.weight(k);
    }
    for (std::size_t k = 0; k < experts_.size(); ++k) {
      const double sum = law_of(*experts_[k], seen, request.prior, law);
      const double weight = mixture_.weight(k);
      explanation.experts.push_back({.name = experts_[k]->name(),
                                     .weight = weight,
                                     .prob_first = law[at] / sum,
                                     .cost = mixture_.expert_cost(k)});
      prob += weight * law[at] / sum;
      if (const FeatureLearner* learner = experts_[k]->learner()) {
        // The mean over the experts that have features, by their weights.
        const double share = listened > 0.0 ? weight / listened : 0.0;
        add_parts(*learner, seen, at, share, explanation.parts);
      }
    }
    explanation.score = prob > kTiny ? det_log(prob) : det_log(kTiny);
    return explanation;
  }

  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& signals) override {
    LearnReport report;
    if (!feedback.clicked.empty()) {
      const SignalView seen = view_of(decision, signals, sight_);
      for (const ItemIndex item : feedback.clicked) {
        learn_click(decision, seen, place_of(decision, item));
        ++report.learned;
      }
    }
    return report;
  }

  void do_add_items(std::span<const Item> items) override {
    for (const auto& expert : experts_) {
      expert->grow_items(items_added());
    }
    for (const Item& item : items) {
      features_.put(item);
    }
  }
  void do_save(ByteWriter& out) const override {
    mixture_.save(out);
    account_.save(out);
    features_.save(out);
    for (const auto& expert : experts_) {
      expert->save(out);
    }
  }
  Result<void> do_load(ByteReader& in) override {
    HINDSIGHT_RETURN_IF_ERROR(mixture_.load(in));
    HINDSIGHT_RETURN_IF_ERROR(account_.load(in));
    HINDSIGHT_RETURN_IF_ERROR(features_.load(in));
    for (const auto& expert : experts_) {
      HINDSIGHT_RETURN_IF_ERROR(expert->load(in, items_added()));
    }
    if (features_.size() != items_added() || account_.clicks() != mixture_.rounds()) {
      return Error{ErrorCode::kCorrupt, "the saved model's parts do not fit together", ""};
    }
    return {};
  }

 private:
  /// law = what the expert's probabilities are proportional to. RETURNS: the sum
  static double law_of(const Expert& expert, const SignalView& seen, std::span<const double> prior,
                       std::span<double> law) {
    expert.scores(seen.view(), law);
    add_prior(prior, law);
    return exp_shifted(law, max_of(law), law);
  }

  /// out = ln of the mixture's law, where its probabilities are too small for numbers.
  void log_law(const SignalView& seen, std::span<const double> prior, std::span<double> out) const {
    const std::size_t n = out.size();
    std::vector<double> scores(n);
    std::vector<double> scratch(n);
    bool first = true;
    for (std::size_t k = 0; k < experts_.size(); ++k) {
      if (mixture_.weight(k) < kNegligible) {
        continue;
      }
      experts_[k]->scores(seen.view(), scores);
      add_prior(prior, scores);
      const double shift = log_sum_exp(scores, scratch) - mixture_.log_weight(k);
      for (std::size_t i = 0; i < n; ++i) {
        const double term = scores[i] - shift;
        out[i] = first ? term : std::max(out[i], term) + det_log1p_exp(-std::abs(out[i] - term));
      }
      first = false;
    }
  }

  void learn_click(const Decision& decision, const SignalView& seen, std::size_t picked) {
    const std::size_t n = decision.items.size();
    const Step step = account_.next_step();
    scores_.resize(n);
    law_.resize(n);
    costs_.resize(experts_.size());
    const double served = kl_cost_value(decision.score, picked, law_);
    double gradient_norm2 = 0.0;
    for (std::size_t k = 0; k < experts_.size(); ++k) {
      experts_[k]->scores(seen.view(), scores_);
      add_prior(decision.prior, scores_);
      const LossSlope slope = kl_cost(scores_, max_of(scores_), picked, law_);
      for (double& prob : law_) {
        prob *= slope.factor;
      }
      costs_[k] = slope.loss;
      const double norm2 = experts_[k]->learn(
          seen.view(), {.probs = law_, .picked = picked, .click = account_.clicks() + 1});
      gradient_norm2 = k == 0 ? norm2 : gradient_norm2;
    }
    account_.book(step, mixture_.learn(costs_), served, gradient_norm2);
  }

  Sight sight_;
  Experts experts_;
  ExpertMixture mixture_;
  RegretAccount account_;
  FeatureStore features_;
  std::vector<double> scores_;  // scratch of learn
  std::vector<double> law_;
  std::vector<double> costs_;
};

std::vector<ParamSpec> params() {
  return signal_params(
      {{.name = "share",
        .default_value = 0.0,
        .help = "fixed share: the part of its weight that each expert gives to the others after "
                "every click, for streams whose best expert changes; 0: none",
        .minimum = 0.0,
        .maximum = 0.5}});
}

}  // namespace

RankerInfo auto_info() {
  return {
      .name = kName,
      .summary =
          "Needs no tuning: mixes klrank, counts and learners of features that it computes "
          "from the log; the first item drawn, the rest sorted",
      .paper = "[Delage09] 4.2; [Vovk90]; [Herbster98]",
      .guarantee =
          "K-L cost at most ln N above the best of its N = 13 experts, for any sequence of "
          "users; so at most 10K(T^(3/4) + 1) + ln N, K = 6, above the best fixed policy in the "
          "growing balls; with a share s, (T - 1) ln(1/(1 - s)) is added to both",
      .assumptions =
          "costs are those at the moment of learning, of the choice among the shown items; a "
          "feature "
          "row longer than 4 is scaled to 4; gives up Proposition "
          "A.1 and "
          "Remark 3.1 below the first slot",
      .law = ListLaw::kFirstSlot,
      .params = params(),
      .make = [](const ParamMap& params) -> Result<std::unique_ptr<Ranker>> {
        return std::unique_ptr<Ranker>(std::make_unique<AutoRanker>(
            ListOptions{
                .name = kName, .law = first_law(params), .choice_set = choice_set_of(params)},
            sight_of(params), number(params, "share")));
      }};
}

}  // namespace hindsight
