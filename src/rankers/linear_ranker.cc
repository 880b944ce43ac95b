#include "src/rankers/linear_ranker.h"

#include <cmath>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/context_terms.h"
#include "src/core/det_math.h"
#include "src/core/kernels.h"

namespace hindsight {

LinearRanker::LinearRanker(ListOptions options, Loss loss, const LinearParams& params,
                           const StepSchedule& schedule)
    : ScoredRanker(std::move(options)), loss_(loss), params_(params), account_(schedule) {
  if (params_.library) {
    library_.emplace();
  }
}

Result<std::unique_ptr<Ranker>> LinearRanker::make(ListOptions options, Loss loss,
                                                   const ParamMap& params) {
  LinearParams linear;
  const std::string& phi = word(params, "phi");
  linear.per_item = phi != "features";
  linear.features = phi != "items";
  const std::string& optimiser = word(params, "optimiser");
  linear.steps.method = optimiser == "gper" ? StepMethod::kGper
                        : optimiser == "gp" ? StepMethod::kGp
                                            : StepMethod::kOgd;
  linear.steps.alpha = number(params, "alpha");
  linear.steps.feature_bound = number(params, "feature_bound");
  linear.steps.warm_restart = word(params, "restart") == "warm";
  linear.steps.horizon = static_cast<std::uint64_t>(number(params, "horizon"));
  linear.steps.curvature = number(params, "curvature");
  if (linear.per_item && linear.steps.feature_bound < 1.0) {
    return Error{ErrorCode::kInvalidArgument,
                 "must be at least 1 with per-item weights, whose e_i has length 1",
                 "feature_bound"};
  }
  if (options.redraw && options.choice_set == ChoiceSet::kCandidates) {
    return Error{ErrorCode::kUnsupported,
                 "redraw is for the choice among shown items; use choice_set=shown", "redraw"};
  }
  // Terms that most requests do not have leave the cost without curvature, as weights of items do.
  linear.context_terms = linear.steps.method == StepMethod::kOgd ? 0 : context_terms_of(params);
  const auto library = params.find("library");
  linear.library = library != params.end() && std::get<bool>(library->second);
  if (linear.library && (linear.features || options.choice_set != ChoiceSet::kShown)) {
    return Error{ErrorCode::kUnsupported,
                 "only for weights of items and the choice among shown ones; use phi=items and "
                 "choice_set=shown",
                 "library"};
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const StepSchedule schedule,
                             StepSchedule::make(linear.steps, linear.per_item));
  return std::unique_ptr<Ranker>(new LinearRanker(std::move(options), loss, linear, schedule));
}

ChoiceFeatures LinearRanker::view(std::span<const ItemIndex> items, const FeatureRows& rows,
                                  std::span<const std::uint32_t> slots) const {
  return {.items = params_.per_item ? items : std::span<const ItemIndex>(),
          .rows = params_.features ? &rows : nullptr,
          .n = items.size(),
          .context = slots,
          .context_factor = slots.empty() ? 1.0 : context_factor(params_.steps.feature_bound)};
}

Result<void> LinearRanker::check_length(double squared_features, const std::string& field) const {
  const double squared = squared_features + (params_.per_item ? 1.0 : 0.0);
  const double bound = params_.steps.feature_bound;
  constexpr double kRounding = 1e-12;
  if (squared > bound * bound * (1.0 + kRounding)) {
    return Error{ErrorCode::kFeatureTooLong,
                 "the feature vector has length " + pretty(std::sqrt(squared)) +
                     ", beyond the declared feature_bound " + pretty(bound) +
                     "; scale the features or declare a larger bound",
                 field};
  }
  return {};
}

Result<FeatureRows> LinearRanker::collect_features(const Request& request) const {
  HINDSIGHT_RETURN_IF_ERROR(
      check_context_key(request, params_.context_terms, "context_terms and optimiser"));
  if (!params_.features) {
    return FeatureRows{};
  }
  if (request.features == nullptr) {
    return features_.rows_of(request.candidates);
  }
  for (std::size_t i = 0; i < request.candidates.size(); ++i) {
    HINDSIGHT_RETURN_IF_ERROR(check_length(squared_row_norm(*request.features, i),
                                           "candidates[" + std::to_string(i) + "].features"));
  }
  return *request.features;
}

void LinearRanker::score(const Request& request, const Signals& /*signals*/,
                         const FeatureRows& features, std::span<double> out) const {
  const std::vector<std::uint32_t> slots =
      context_slots(request.context_key, request.candidates, params_.context_terms);
  weights_.scores(view(request.candidates, features, slots), out);
}

Result<Decision> LinearRanker::do_rank_library(const Request& request, const Signals& signals,
                                               Rng& rng) const {
  return uses_tree(request) ? rank_by_tree(library_->tree(), library_->shift(), request, rng)
                            : ScoredRanker::do_rank_library(request, signals, rng);
}

Result<ListProbability> LinearRanker::do_library_probability(
    const Request& request, const Signals& signals, std::span<const ItemIndex> list) const {
  return uses_tree(request) ? probability_by_tree(library_->tree(), request, list)
                            : ScoredRanker::do_library_probability(request, signals, list);
}

Result<LearnReport> LinearRanker::do_learn(const Decision& decision, const Feedback& feedback,
                                           const Signals& /*signals*/) {
  if (params_.features && !decision.features.empty()) {
    for (std::size_t i = 0; i < decision.items.size(); ++i) {
      HINDSIGHT_RETURN_IF_ERROR(
          check_length(squared_row_norm(decision.features, i), "decision.features"));
    }
  }
  LearnReport report;
  for (const ItemIndex item : feedback.clicked) {
    learn_click(decision, place_of(decision, item));
    ++report.learned;
  }
  return report;
}

void LinearRanker::learn_click(const Decision& decision, std::size_t picked) {
  const std::size_t n = decision.items.size();
  const std::vector<std::uint32_t> slots =
      context_slots(decision.context_key, decision.items, params_.context_terms);
  if (!slots.empty()) {
    weights_.grow_context(params_.context_terms);
  }
  const ChoiceFeatures features = view(decision.items, decision.features, slots);
  const Step step = account_.next_step();
  if (step.clear_first) {
    weights_.clear();
  }
  scores_.resize(n);
  raw_.resize(n);
  double top = weights_.scores(features, scores_);
  if (!decision.prior.empty()) {
    add_prior(decision.prior, scores_);
    top = max_of(scores_);
  }
  const double served = served_loss(decision, picked);
  const LossSlope slope = loss_ == Loss::kKl ? kl_cost(scores_, top, picked, raw_)
                                             : pairwise_cost(scores_, picked, raw_);
  const double gradient_norm2 = weights_.step(features, raw_, picked, slope, step.eta, step.radius);
  account_.book(step, slope.loss, served, gradient_norm2);
  if (library_) {
    library_->follow(weights_, decision.items);
  }
}

double LinearRanker::served_loss(const Decision& decision, std::size_t picked) {
  // Over all candidates the served law stands in the decision already.
  constexpr double kSmallest = 0x1p-1000;
  if (loss_ == Loss::kKl && options().law != ListLaw::kDeterministic &&
      decision.choice_set == ChoiceSet::kCandidates &&
      decision.first_prob(picked).value_or(0.0) >= kSmallest) {
    return -det_log(decision.prob_first[picked]);
  }
  return loss_ == Loss::kKl ? kl_cost_value(decision.score, picked, raw_)
                            : pairwise_cost(decision.score, picked, raw_).loss;
}

std::optional<Choice> LinearRanker::choice_of(const Decision& decision, ItemIndex clicked) const {
  if (!books_kl_cost()) {
    return std::nullopt;
  }
  Choice choice{
      .prior = decision.prior,
      .context = context_slots(decision.context_key, decision.items, params_.context_terms),
      .n = decision.items.size(),
      .picked = place_of(decision, clicked)};
  if (params_.per_item) {
    choice.items = decision.items;
  }
  if (params_.features) {
    choice.rows = decision.features;
  }
  if (!choice.context.empty()) {
    choice.factor = context_factor(params_.steps.feature_bound);
  }
  return choice;
}

Result<void> LinearRanker::check_items(std::span<const Item> items) const {
  if (!params_.features) {
    return {};
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const double squared =
        dot(items[i].dense, items[i].dense) + dot(items[i].sparse_value, items[i].sparse_value);
    HINDSIGHT_RETURN_IF_ERROR(check_length(squared, "items[" + std::to_string(i) + "].features"));
  }
  return {};
}

void LinearRanker::do_add_items(std::span<const Item> items) {
  if (params_.per_item) {
    weights_.grow_items(items_added());
  }
  if (library_) {
    library_->grow(items_added());
  }
  if (params_.features) {
    for (const Item& item : items) {
      features_.put(item);
    }
  }
}

void LinearRanker::do_remove_items(std::span<const ItemIndex> items) {
  if (library_) {
    for (const ItemIndex item : items) {
      library_->remove(item, weights_);
    }
  }
}

double LinearRanker::item_score(ItemIndex item) const {
  const std::span<const ItemIndex> one(&item, 1);
  const FeatureRows rows = params_.features ? features_.rows_of(one) : FeatureRows{};
  double out = 0.0;
  weights_.scores(view(one, rows, {}), std::span(&out, 1));
  return out;
}

std::size_t LinearRanker::memory_bytes() const {
  constexpr std::size_t kTree = 10;  // bytes an item, once it was shown
  return items_added() * (1 + (library_ ? kTree : 0)) + weights_.memory_bytes() +
         features_.memory_bytes();
}

Description LinearRanker::describe() const {
  const Step step = account_.next_step();
  return {{"items", std::to_string(items_live())},
          {"clicks learned", std::to_string(account_.clicks())},
          {"cycle", std::to_string(step.cycle)},
          {"radius of the ball", pretty(step.radius)},
          {"length of the weights", pretty(weights_.norm())},
          {"next step size", pretty(step.eta)},
          {"cost when learned", pretty(account_.learned_cost())},
          {"cost as served", pretty(account_.served_cost())},
          {"regret bound", pretty(account_.theorem_bound())},
          {"data-dependent regret bound", pretty(account_.data_bound())}};
}

void LinearRanker::do_save(ByteWriter& out) const {
  weights_.save(out);
  features_.save(out);
  account_.save(out);
  if (library_) {
    library_->save(out);
  }
}

Result<void> LinearRanker::do_load(ByteReader& in) {
  HINDSIGHT_RETURN_IF_ERROR(weights_.load(in));
  HINDSIGHT_RETURN_IF_ERROR(features_.load(in));
  HINDSIGHT_RETURN_IF_ERROR(account_.load(in));
  const bool fits =
      weights_.item_count() == (params_.per_item ? items_added() : 0) &&
      features_.size() == (params_.features ? items_added() : 0) &&
      weights_.dense_count() <= kMaxDenseColumns && weights_.sparse_count() <= kMaxSparseColumns &&
      (weights_.context_count() == 0 || weights_.context_count() == params_.context_terms);
  if (!fits) {
    return Error{ErrorCode::kCorrupt, "the saved model's parts do not fit together", ""};
  }
  if (library_) {
    return library_->load(in, weights_, [this](ItemIndex item) { return is_live(item); });
  }
  return {};
}

std::vector<ParamSpec> linear_params(double default_alpha) {
  return {
      {.name = "alpha",
       .default_value = default_alpha,
       .help = "size of the balls that the weights live in: radius alpha 2^(m/4) / F in cycle m",
       .minimum = 0.0,
       .minimum_excluded = true,
       .maximum = 1e6},
      {.name = "restart",
       .default_value = std::string("warm"),
       .help = "weights at the start of a cycle: kept (warm), or set to 0 (cold)",
       .words = {"warm", "cold"}},
      choice_set_spec(),
      {.name = "phi",
       .default_value = std::string("items"),
       .help = "what is weighted: each item on its own, the items' features, or both",
       .words = {"items", "features", "items+features"}},
      {.name = "feature_bound",
       .default_value = 1.0,
       .help = "F: no feature vector may be longer (an item's own weight counts 1)",
       .minimum = 0.0,
       .minimum_excluded = true,
       .maximum = 1e6},
      {.name = "optimiser",
       .default_value = std::string("gper"),
       .help = "gper: unknown horizon; gp: known horizon; ogd: known horizon and curvature",
       .words = {"gper", "gp", "ogd"}},
      horizon_spec("number of clicks to come, for gp and ogd"),
      {.name = "curvature",
       .default_value = 0.0,
       .help = "H: least curvature of the cost, for ogd",
       .minimum = 0.0,
       .maximum = 1e6},
      context_terms_spec(),
  };
}

ParamSpec library_spec() {
  return {.name = "library",
          .default_value = false,
          .help =
              "keep the weights in a tree, so that lists from the whole library are drawn "
              "without touching every item; a click then costs about twice as much"};
}

ParamSpec redraw_spec() {
  return {
      .name = "redraw",
      .default_value = false,
      .help =
          "with k below the number of candidates, draw the order of the shown items again from the "
          "softmax over them, so that the K-L cost is that of the choice among them"};
}

}  // namespace hindsight
