#include "src/core/sampled_regret.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>

#include "src/core/check.h"
#include "src/core/intervals.h"
#include "src/core/kernels.h"
#include "src/core/metrics.h"
#include "src/core/regret_meter.h"

namespace hindsight {
namespace {

/// Gives each number that occurs the next free one.
class Renumbering {
 public:
  void apply(std::vector<std::uint32_t>& numbers) {
    for (std::uint32_t& number : numbers) {
      number =
          places_.try_emplace(number, static_cast<std::uint32_t>(places_.size())).first->second;
    }
  }
  std::size_t size() const { return places_.size(); }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> places_;
};

/// Stops where it is told to: a function that is flat and at its minimum ends every search at once.
class StoppableObjective final : public ConvexObjective {
 public:
  StoppableObjective(std::span<const Choice> choices, const ChoiceObjective::Sizes& sizes,
                     double weight, const std::function<bool()>& go_on)
      : objective_(choices, sizes, weight), go_on_(go_on) {}

  std::size_t dim() const override { return objective_.dim(); }
  double evaluate(std::span<const double> theta, std::span<double> gradient) override {
    if (!go_on_()) {
      std::fill(gradient.begin(), gradient.end(), 0.0);
      return 0.0;
    }
    return objective_.evaluate(theta, gradient);
  }
  void hessian_times(std::span<const double> v, std::span<double> out) const override {
    if (!go_on_()) {
      std::fill(out.begin(), out.end(), 0.0);
      return;
    }
    objective_.hessian_times(v, out);
  }

 private:
  ChoiceObjective objective_;
  const std::function<bool()>& go_on_;
};

class Estimator {
 public:
  Estimator(const RegretAccount& account, ChoiceObjective::Sizes sizes,
            const std::function<bool()>& go_on)
      : account_(account), sizes_(sizes), go_on_(go_on) {}

  /// `theta` gets the weights that were compared with.
  RegretBracket measure(const LearnedChoices& choices, std::vector<double>& theta) const {
    RegretMeter meter([&](std::uint64_t first, std::uint64_t last) {
      const auto begin = std::lower_bound(choices.click.begin(), choices.click.end(), first);
      const auto end = std::upper_bound(begin, choices.click.end(), last);
      const auto at = static_cast<std::size_t>(begin - choices.click.begin());
      const auto count = static_cast<std::size_t>(end - begin);
      // The range as a whole counts as much as all of its clicks. A range without any costs
      // nothing, which is the least that it can.
      const double weight =
          count == 0 ? 0.0 : static_cast<double>(last - first + 1) / static_cast<double>(count);
      return objective(std::span(choices.choice).subspan(at, count), weight);
    });
    const RegretBracket bracket = meter.measure(account_);
    theta = meter.best_theta();
    return bracket;
  }

  /// The best weights for some clicks.
  std::vector<double> best(const LearnedChoices& choices) const {
    const auto whole = objective(choices.choice, 1.0);
    return minimize_in_ball(*whole, {.radius = account_.cycles().back().radius}).theta;
  }

  /// Adds what was booked minus what `share` of the weights, projected on each cycle's ball, would
  /// have paid.
  void add_differences(const LearnedChoices& choices, const std::vector<double>& theta,
                       double share, Mean& differences) const {
    const double norm = share * std::sqrt(dot(theta, theta));
    std::vector<double> projected(theta.size());
    std::vector<double> costs;
    std::size_t at = 0;
    std::uint64_t through = 0;
    for (const CycleAccount& cycle : account_.cycles()) {
      through += cycle.clicks;
      const std::size_t begin = at;
      while (at < choices.size() && choices.click[at] <= through) {
        ++at;
      }
      if (at == begin || !go_on_()) {
        continue;
      }
      const double factor = norm > cycle.radius ? cycle.radius / norm : 1.0;
      for (std::size_t i = 0; i < theta.size(); ++i) {
        projected[i] = share * factor * theta[i];
      }
      const auto of_cycle = std::span(choices.choice).subspan(begin, at - begin);
      costs.resize(of_cycle.size());
      ChoiceObjective(of_cycle, sizes_).costs(projected, costs);
      for (std::size_t i = 0; i < costs.size(); ++i) {
        differences.add(choices.learned_cost[begin + i] - costs[i]);
      }
    }
  }

 private:
  std::unique_ptr<ConvexObjective> objective(std::span<const Choice> choices, double weight) const {
    return std::make_unique<StoppableObjective>(choices, sizes_, weight, go_on_);
  }

  const RegretAccount& account_;
  ChoiceObjective::Sizes sizes_;
  const std::function<bool()>& go_on_;
};

/// Every second click, from the first or the second on.
LearnedChoices take_half(LearnedChoices& choices, std::size_t from) {
  LearnedChoices half;
  for (std::size_t i = from; i < choices.size(); i += 2) {
    half.click.push_back(choices.click[i]);
    half.learned_cost.push_back(choices.learned_cost[i]);
    half.choice.push_back(std::move(choices.choice[i]));
  }
  return half;
}

/// Each half judged by the best weights of the other.
Mean judge_across(const LearnedChoices& even, const LearnedChoices& odd,
                  const Estimator& estimator) {
  const std::vector<double> best_even = estimator.best(even);
  const std::vector<double> best_odd = estimator.best(odd);
  std::optional<Mean> chosen;
  for (const double share : {1.0, 0.75, 0.5, 0.25, 0.1, 0.0}) {
    Mean across;
    estimator.add_differences(odd, best_even, share, across);
    estimator.add_differences(even, best_odd, share, across);
    if (!chosen || across.value() > chosen->value()) {
      chosen = across;
    }
  }
  return *chosen;
}

HindsightEstimate from_sample(const RegretAccount& account, LearnedChoices choices,
                              const Estimator& estimator, const RegretBracket& bracket,
                              const std::vector<double>& theta) {
  const auto all = static_cast<double>(account.clicks());
  const auto size = static_cast<double>(choices.size());
  Mean inside;
  estimator.add_differences(choices, theta, 1.0, inside);
  const LearnedChoices even = take_half(choices, 0);
  const LearnedChoices odd = take_half(choices, 1);
  const Mean across = judge_across(even, odd, estimator);
  // Of a finite number of clicks without replacement.
  const double reach = kNormal95 * all * across.standard_error().value_or(0.0) *
                       std::sqrt(std::max(0.0, 1.0 - size / all));
  const double optimism = all * std::max(0.0, inside.value() - across.value());
  return {.cost = account.learned_cost() - all * across.value(),
          .error = optimism + reach + bracket.gap,
          // A sample of few clicks on many items would have it above what is proven.
          .regret_upper = std::min(bracket.upper + reach, account.data_bound())};
}

}  // namespace

ChoiceObjective::Sizes renumber(std::vector<Choice>& choices) {
  Renumbering items;
  Renumbering sparse;
  Renumbering context;
  ChoiceObjective::Sizes sizes;
  for (Choice& choice : choices) {
    items.apply(choice.items);
    sparse.apply(choice.rows.sparse_index);
    context.apply(choice.context);
    sizes.dense = std::max(sizes.dense, choice.rows.dense_dim);
  }
  sizes.items = items.size();
  sizes.sparse = sparse.size();
  sizes.context = context.size();
  return sizes;
}

std::optional<HindsightEstimate> estimate_hindsight(const RegretAccount& account,
                                                    LearnedChoices choices,
                                                    const std::function<bool()>& go_on) {
  HINDSIGHT_CHECK(account.clicks() > 0 && choices.size() > 0);
  HINDSIGHT_CHECK(choices.click.back() <= account.clicks());
  bool ended = false;
  const std::function<bool()> ask = [&] { return !ended && !(ended = !go_on()); };
  const Estimator estimator(account, renumber(choices.choice), ask);
  std::vector<double> theta;
  const RegretBracket bracket = estimator.measure(choices, theta);
  HindsightEstimate estimate{
      .cost = bracket.hindsight_cost, .error = bracket.gap, .regret_upper = bracket.upper};
  if (choices.size() < account.clicks()) {
    estimate = from_sample(account, std::move(choices), estimator, bracket, theta);
  }
  return ended ? std::nullopt : std::optional(estimate);
}

}  // namespace hindsight
