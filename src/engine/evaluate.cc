#include "src/engine/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/core/check.h"
#include "src/core/metrics.h"
#include "src/core/off_policy.h"
#include "src/engine/decision_table.h"
#include "src/engine/fold_observer.h"

namespace hindsight {
namespace {

/// Why a decision cannot be used.
enum class Reason : std::uint8_t {
  kControl,
  kNothingShown,
  kCandidatesNotLogged,
  kCandidatesChanged,
  kUnknownRanker,
  kDeterministicLog,
  kFirstSlotLog,
  kNoLoggedLaw,
  kTargetRefuses,
  kTargetHasNoLaw,
  kWeightOutOfRange,
};

constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::kWeightOutOfRange) + 1;

struct ReasonText {
  std::string_view name;
  std::string_view sentence;
};

// In the order of Reason.
constexpr std::array<ReasonText, kReasons> kReasonTexts = {{
    {"control", "the decisions kept the caller's own order"},
    {"nothing_shown", "the decisions showed no item of the library"},
    {"candidates_not_logged",
     "the log does not say what the lists were chosen from; set log_candidates"},
    {"candidates_changed", "items came or went between the decisions and their entry in the log"},
    {"unknown_ranker", "the lists were made by a ranker that this program does not know"},
    {"deterministic_log",
     "the lists were sorted, not drawn: what another ranker would have put first was never "
     "tried"},
    {"first_slot_log",
     "only the first item of the lists was drawn and the rest sorted: other lists were never "
     "tried; a ranker that draws whole lists (noregret-klrank, random) has to log"},
    {"no_logged_propensity",
     "the lists were drawn in a way that leaves no probability to divide by (redraw, "
     "sort=quicksort, fpl)"},
    {"ranker_refuses", "the ranker refuses these requests"},
    {"ranker_has_no_law", "the ranker cannot say how likely it would have been to show the lists"},
    {"weight_out_of_range",
     "what was shown had no probability to speak of when it was drawn; such weights say nothing"},
}};

/// The weight of a decision, or why it has none.
struct Weight {
  std::optional<double> value = {};
  Reason reason = Reason::kControl;  // where there is no value
};

struct Weights {
  Weight first;
  Weight list;
};

/// A decision whose clicks may still come.
struct Open {
  std::uint64_t number = 0;  // among the decisions
  std::optional<double> first = {};
  std::optional<double> list = {};
  std::vector<std::uint32_t> places = {};  // distinct, that were clicked
};

/// One estimate on its way.
struct Tally {
  OffPolicyEstimator estimator;
  std::array<std::uint64_t, kReasons> left_out = {};

  void count(const Weight& weight) {
    left_out[static_cast<std::size_t>(weight.reason)] += weight.value ? 0 : 1;
  }
};

// Likewise (src/core/off_policy.h) with fewer rewards than these.
constexpr std::uint64_t kFewRewarded = 10;

double log_of(double prob) {
  return prob > 0.0 ? std::log(prob) : -std::numeric_limits<double>::infinity();
}

/// The request that led to the decision. REQUIRES: its candidates were logged; both outlive it
Request request_of(const DecisionEvent& event, const Model& model) {
  const Decision& decision = event.decision;
  const CandidateSet& set = event.candidates;
  Request request{.decision = decision.id,
                  .time_ms = decision.time_ms,
                  .candidates = {},
                  .whole_library = set.kind == CandidateSet::Kind::kLibrary,
                  .max_scan = model.config().max_scan,
                  .features = set.features.empty() ? nullptr : &set.features,
                  .prior = set.prior,
                  .k = decision.shown_count,
                  .user = decision.user,
                  .session = decision.session,
                  .group = decision.group,
                  .context_key = decision.context_key};
  if (set.kind == CandidateSet::Kind::kShown) {
    request.candidates = decision.shown();
  } else if (set.kind == CandidateSet::Kind::kListed) {
    request.candidates = set.items;
  } else if (set.kind == CandidateSet::Kind::kTopic) {
    request.candidates = model.topic(set.topic);
  }
  return request;
}

/// NDCG of a list whose items at these places, from 0, are the relevant ones; 0 for none.
double ndcg_of(const std::vector<std::uint32_t>& places) {
  double gain = 0.0;
  double ideal = 0.0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    gain += click_ndcg(std::size_t{places[i]} + 1);
    ideal += click_ndcg(i + 1);
  }
  return places.empty() ? 0.0 : gain / ideal;
}

Error cancelled_error() { return {ErrorCode::kConflict, "the evaluation was cancelled", ""}; }

/// Collects an evaluation from a fold that it observes.
class Evaluator final : public FoldObserver {
 public:
  /// `cancelled` is asked at every decision, and ends the fold. REQUIRES: the options outlive it
  explicit Evaluator(const EvaluateOptions& options) : options_(options) {}

  Result<void> decided(const DecisionEvent& event, const Model& model) override;
  void clicked(const DecisionId& id, std::size_t place) override;
  void learning(const DecisionEvent& event, std::span<const ItemIndex> clicked,
                const Model& model) override;
  void closed(const DecisionId& id) override;
  void items_changed(Position position) override { items_changed_ = position; }

  /// What came of it, decisions that are still open included. Call it once, at the end.
  Evaluation finish(const Folded& folded);

 private:
  Weights weigh(const DecisionEvent& event, const Model& model) const;
  void settle(const Open& open);

  const EvaluateOptions& options_;
  Position items_changed_ = 0;
  std::uint64_t decisions_ = 0;
  std::uint64_t clicks_ = 0;
  ReplayCost cost_;
  double cost_sum_ = 0.0;
  Tally first_click_;
  Tally ndcg_;
  std::unordered_map<DecisionId, Open, DecisionIdHash> open_;
};

Weights Evaluator::weigh(const DecisionEvent& event, const Model& model) const {
  const auto without = [](Reason reason) { return Weight{.value = {}, .reason = reason}; };
  const auto neither = [&](Reason reason) { return Weights{without(reason), without(reason)}; };
  const Decision& decision = event.decision;
  if (event.control) {
    return neither(Reason::kControl);
  }
  if (decision.shown_count == 0) {
    return neither(Reason::kNothingShown);
  }
  if (event.candidates.kind == CandidateSet::Kind::kNotLogged) {
    return neither(Reason::kCandidatesNotLogged);
  }
  // The reference is to the items as the decision's model had them.
  if (event.candidates.by_reference() && decision.model_version < items_changed_) {
    return neither(Reason::kCandidatesChanged);
  }
  const auto row = find_ranker(decision.ranker);
  if (!row.ok()) {
    return neither(Reason::kUnknownRanker);
  }
  // Some rankers draw the first item, or sort it, too (first=sorted).
  const bool may_sort = std::any_of((*row)->params.begin(), (*row)->params.end(),
                                    [](const ParamSpec& spec) { return spec.name == "first"; });
  const bool sorted_first = may_sort && !decision.prob_first.empty() && decision.items.size() > 1 &&
                            decision.prob_first[0] >= 1.0;
  if ((*row)->law == ListLaw::kDeterministic || sorted_first) {
    return neither(Reason::kDeterministicLog);
  }
  if (!decision.log_propensity) {
    return neither(Reason::kNoLoggedLaw);
  }
  const auto said =
      model.ranker().list_probability(request_of(event, model), model.signals(), decision.shown());
  if (!said.ok()) {
    return neither(said.error().code == ErrorCode::kUnknownItem ? Reason::kCandidatesChanged
                                                                : Reason::kTargetRefuses);
  }
  const auto weight = [&](std::optional<double> log_target, double log_logged) {
    if (!log_target) {
      return without(Reason::kTargetHasNoLaw);
    }
    return Weight{.value = importance_weight(*log_target, log_logged),
                  .reason = Reason::kWeightOutOfRange};
  };
  const std::optional<double> log_first =
      said->first ? std::optional(log_of(*said->first)) : std::nullopt;
  return {decision.prob_first.empty() ? without(Reason::kNoLoggedLaw)
                                      : weight(log_first, log_of(decision.prob_first[0])),
          (*row)->law == ListLaw::kFirstSlot ? without(Reason::kFirstSlotLog)
                                             : weight(said->log_list, *decision.log_propensity)};
}

Result<void> Evaluator::decided(const DecisionEvent& event, const Model& model) {
  if (options_.cancelled && options_.cancelled()) {
    return cancelled_error();
  }
  const Weights weights = weigh(event, model);
  first_click_.count(weights.first);
  ndcg_.count(weights.list);
  open_.insert_or_assign(
      event.decision.id,
      Open{.number = decisions_, .first = weights.first.value, .list = weights.list.value});
  ++decisions_;
  return {};
}

void Evaluator::clicked(const DecisionId& id, std::size_t place) {
  const auto found = open_.find(id);
  if (found == open_.end()) {
    return;
  }
  std::vector<std::uint32_t>& places = found->second.places;
  if (std::find(places.begin(), places.end(), place) == places.end()) {
    places.push_back(static_cast<std::uint32_t>(place));
    ++clicks_;
  }
}

void Evaluator::learning(const DecisionEvent& event, std::span<const ItemIndex> clicked,
                         const Model& model) {
  const Decision& decision = event.decision;
  const Request request{.decision = decision.id,
                        .time_ms = decision.time_ms,
                        .candidates = decision.items,
                        .features = decision.features.empty() ? nullptr : &decision.features,
                        .prior = decision.prior,
                        .k = decision.items.size(),
                        .user = decision.user,
                        .session = decision.session,
                        .group = decision.group,
                        .context_key = decision.context_key};
  for (const ItemIndex item : clicked) {
    const auto said =
        model.ranker().list_probability(request, model.signals(), std::span(&item, 1));
    if (!said.ok() || !said->first) {
      ++cost_.unpriced;
      continue;
    }
    ++cost_.clicks;
    if (*said->first > 0.0) {
      cost_sum_ += kl_cost(std::min(*said->first, 1.0));
    } else {
      ++cost_.impossible;
    }
  }
}

void Evaluator::closed(const DecisionId& id) {
  const auto found = open_.find(id);
  if (found != open_.end()) {
    settle(found->second);
    open_.erase(found);
  }
}

void Evaluator::settle(const Open& open) {
  if (open.first) {
    const bool first = std::find(open.places.begin(), open.places.end(), 0U) != open.places.end();
    first_click_.estimator.add(*open.first, first ? 1.0 : 0.0);
  }
  if (open.list) {
    ndcg_.estimator.add(*open.list, ndcg_of(open.places));
  }
}

PolicyEstimate conclude(const Tally& tally) {
  const OffPolicyEstimator& estimator = tally.estimator;
  PolicyEstimate out;
  out.decisions = estimator.count();
  out.rewarded = estimator.rewarded();
  out.effective_sample_size = estimator.effective_sample_size();
  out.mean_weight = estimator.mean_weight();
  out.max_weight = estimator.max_weight();
  for (std::size_t i = 0; i < kReasons; ++i) {
    if (tally.left_out[i] > 0) {
      out.left_out.emplace_back(kReasonTexts[i].name, tally.left_out[i]);
    }
  }
  if (out.decisions == 0) {
    const auto most = std::max_element(tally.left_out.begin(), tally.left_out.end());
    out.reason =
        *most == 0 ? "there are no decisions in the log"
                   : kReasonTexts[static_cast<std::size_t>(most - tally.left_out.begin())].sentence;
    return out;
  }
  if (out.max_weight == 0.0) {
    out.reason = "the ranker would never have shown what was shown";
    return out;
  }
  out.logged = estimator.logged();
  out.inverse_propensity = estimator.inverse_propensity();
  out.self_normalised = estimator.self_normalised();
  out.support = Support::kEnough;
  if (out.effective_sample_size < kFewEffective) {
    out.support = Support::kWeak;
    out.reason = "the weights are so uneven that the decisions tell as much as fewer than 30 would";
  } else if (estimator.misses_choices()) {
    out.support = Support::kWeak;
    out.reason =
        "the mean weight is clearly below 1: the ranker would often have chosen what the decisions "
        "never tried, and what that would have earned is in no estimate or interval";
  } else if (out.rewarded < kFewRewarded) {
    out.support = Support::kWeak;
    out.reason = "fewer than 10 of the decisions earned anything";
  }
  return out;
}

Evaluation Evaluator::finish(const Folded& folded) {
  Evaluation evaluation;
  evaluation.through = folded.fold->position();
  evaluation.decisions = decisions_;
  evaluation.open_decisions = open_.size();
  evaluation.clicks = clicks_;
  // In the order of the log, so that equal logs give equal sums.
  std::vector<const Open*> rest;
  rest.reserve(open_.size());
  for (const auto& [id, open] : open_) {
    rest.push_back(&open);
  }
  std::sort(rest.begin(), rest.end(),
            [](const Open* a, const Open* b) { return a->number < b->number; });
  for (const Open* open : rest) {
    settle(*open);
  }
  open_.clear();
  evaluation.replay_cost = cost_;
  if (cost_.impossible == 0) {
    evaluation.replay_cost.total = cost_sum_;
    if (cost_.clicks > 0) {
      evaluation.replay_cost.mean = cost_sum_ / static_cast<double>(cost_.clicks);
    }
  }
  evaluation.regret = folded.model->ranker().regret_summary();
  evaluation.first_click = conclude(first_click_);
  evaluation.ndcg = conclude(ndcg_);
  return evaluation;
}

}  // namespace

Result<Evaluated> evaluate(const LogView& store, LogId log, const RankerChoice& choice,
                           const EvaluateOptions& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(const RankerChoice complete, complete_choice(choice));
  Evaluator evaluator(options);
  const FoldOptions fold_options{.cache_bytes = options.cache_bytes,
                                 .cancelled = options.cancelled,
                                 .warn = {},
                                 .progress = options.progress,
                                 .memory_budget = options.memory_budget,
                                 .observer = &evaluator};
  HINDSIGHT_ASSIGN_OR_RETURN(const Position from, store.first(log));
  HINDSIGHT_ASSIGN_OR_RETURN(Folded folded,
                             fold_log(store, log, &complete, options.through, fold_options));
  folded.fold->observe(nullptr);
  Evaluated evaluated{.folded = std::move(folded), .evaluation = {}};
  evaluated.evaluation = evaluator.finish(evaluated.folded);
  evaluated.evaluation.from = from;
  return evaluated;
}

}  // namespace hindsight
