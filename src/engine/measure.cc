#include "src/engine/measure.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "hindsight/registry.h"
#include "src/core/check.h"
#include "src/core/sampled_regret.h"
#include "src/engine/decision_cache.h"

namespace hindsight {
namespace {

std::size_t numbers_of(const Choice& choice) {
  return choice.n + choice.prior.size() + choice.rows.dense.size() +
         choice.rows.sparse_value.size() + choice.context.size();
}

/// The clicks that are looked at: those with the smallest keys, in the order of learning.
class Selection {
 public:
  Selection(std::vector<SampledClick> clicks, std::size_t limit) : clicks_(std::move(clicks)) {
    std::sort(clicks_.begin(), clicks_.end(), smaller_key);
    clicks_.resize(std::min(limit, clicks_.size()));
    last_ = clicks_.back();
    std::sort(clicks_.begin(), clicks_.end(),
              [](const SampledClick& a, const SampledClick& b) { return a.click < b.click; });
  }

  const std::vector<SampledClick>& clicks() const { return clicks_; }
  bool has(const SampledClick& click) const { return !smaller_key(last_, click); }

  /// Leaves the half with the smaller keys, which is as uniform a sample as the whole.
  void halve() {
    std::vector<SampledClick> left;
    std::copy_if(clicks_.begin(), clicks_.end(), std::back_inserter(left),
                 [this](const SampledClick& click) { return has(click); });
    const auto middle = left.begin() + static_cast<std::ptrdiff_t>((left.size() - 1) / 2);
    std::nth_element(left.begin(), middle, left.end(), smaller_key);
    last_ = *middle;
  }

 private:
  std::vector<SampledClick> clicks_;
  SampledClick last_;  // the greatest key that is in
};

/// Choices read so far, with their clicks.
struct Reading {
  std::vector<SampledClick> clicks;
  std::vector<Choice> choices;
  std::size_t numbers = 0;

  void drop_those_not_in(const Selection& selection) {
    std::size_t kept = 0;
    numbers = 0;
    for (std::size_t i = 0; i < clicks.size(); ++i) {
      if (selection.has(clicks[i])) {
        numbers += numbers_of(choices[i]);
        clicks[kept] = clicks[i];
        choices[kept] = std::move(choices[i]);
        ++kept;
      }
    }
    clicks.resize(kept);
    choices.resize(kept);
  }
};

Result<Choice> read_choice(const DecisionCache::Loader& load, const Ranker& ranker,
                           const SampledClick& click) {
  HINDSIGHT_ASSIGN_OR_RETURN(const DecisionCache::Shared event, load(click.decision));
  const auto shown = event->decision.shown();
  if (std::find(shown.begin(), shown.end(), click.item) == shown.end()) {
    return Error{ErrorCode::kCorrupt, "the log's decision did not show what was clicked", "log"};
  }
  std::optional<Choice> choice = ranker.choice_of(event->decision, click.item);
  if (!choice) {
    return Error{ErrorCode::kUnsupported, "the ranker books no K-L cost", "ranker"};
  }
  return *std::move(choice);
}

}  // namespace

Result<std::optional<Hindsight>> measure_hindsight(const LogView& store, LogId log,
                                                   MeasureInput input, const MeasureLimits& limits,
                                                   const std::function<bool()>& go_on) {
  HINDSIGHT_CHECK(!input.clicks.empty() && limits.clicks > 0);
  HINDSIGHT_ASSIGN_OR_RETURN(const std::unique_ptr<Ranker> ranker,
                             make_ranker(input.ranker, input.params));
  const DecisionCache::Loader load = decision_loader(store, log);
  Selection selection(std::move(input.clicks), limits.clicks);
  Reading reading;
  for (const SampledClick& click : selection.clicks()) {
    if (!go_on()) {
      return std::optional<Hindsight>();
    }
    if (!selection.has(click)) {
      continue;
    }
    HINDSIGHT_ASSIGN_OR_RETURN(Choice choice, read_choice(load, *ranker, click));
    reading.numbers += numbers_of(choice);
    reading.clicks.push_back(click);
    reading.choices.push_back(std::move(choice));
    while (reading.numbers > limits.numbers && reading.clicks.size() > 1) {
      selection.halve();
      reading.drop_those_not_in(selection);
    }
  }
  LearnedChoices learned;
  for (const SampledClick& click : reading.clicks) {
    learned.click.push_back(click.click);
    learned.learned_cost.push_back(click.learned_cost);
  }
  learned.choice = std::move(reading.choices);
  const std::uint64_t sample = learned.size();
  const std::optional<HindsightEstimate> estimate =
      estimate_hindsight(input.account, std::move(learned), go_on);
  if (!estimate) {
    return std::optional<Hindsight>();
  }
  return std::optional(Hindsight{.cost = estimate->cost,
                                 .error = estimate->error,
                                 .regret_upper = estimate->regret_upper,
                                 .sample = sample});
}

}  // namespace hindsight
