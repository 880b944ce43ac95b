#include "src/core/choice_objective.h"

#include <algorithm>

#include "src/core/check.h"
#include "src/core/kernels.h"
#include "src/core/losses.h"

namespace hindsight {

ChoiceObjective::ChoiceObjective(std::span<const Choice> choices, const Sizes& sizes, double weight)
    : choices_(choices), sizes_(sizes), weight_(weight) {
  std::size_t total = 0;
  for (const Choice& choice : choices) {
    HINDSIGHT_CHECK(choice.picked < choice.n);
    largest_ = std::max(largest_, choice.n);
    total += choice.n;
  }
  probs_.resize(total);
}

void ChoiceObjective::apply(const Choice& choice, std::span<const double> x,
                            std::span<double> out) const {
  const auto dense = x.subspan(sizes_.items, sizes_.dense);
  const auto sparse = x.subspan(sizes_.items + sizes_.dense, sizes_.sparse);
  const auto context = x.subspan(sizes_.items + sizes_.dense + sizes_.sparse);
  const FeatureRows& rows = choice.rows;
  for (std::size_t i = 0; i < choice.n; ++i) {
    double sum = choice.items.empty() ? 0.0 : x[choice.items[i]];
    for (std::size_t j = 0; j < rows.dense_dim; ++j) {
      sum += rows.dense[i * rows.dense_dim + j] * dense[j];
    }
    if (!rows.row_begin.empty()) {
      for (std::uint32_t e = rows.row_begin[i]; e < rows.row_begin[i + 1]; ++e) {
        sum += rows.sparse_value[e] * sparse[rows.sparse_index[e]];
      }
    }
    if (!choice.context.empty()) {
      sum += context[choice.context[i]];
    }
    out[i] = choice.factor * sum;
  }
}

void ChoiceObjective::apply_transposed(const Choice& choice, std::span<const double> c,
                                       std::span<double> out) const {
  const auto dense = out.subspan(sizes_.items, sizes_.dense);
  const auto sparse = out.subspan(sizes_.items + sizes_.dense, sizes_.sparse);
  const auto context = out.subspan(sizes_.items + sizes_.dense + sizes_.sparse);
  const FeatureRows& rows = choice.rows;
  for (std::size_t i = 0; i < choice.n; ++i) {
    const double slope = weight_ * choice.factor * c[i];
    if (!choice.items.empty()) {
      out[choice.items[i]] += slope;
    }
    for (std::size_t j = 0; j < rows.dense_dim; ++j) {
      dense[j] += slope * rows.dense[i * rows.dense_dim + j];
    }
    if (!rows.row_begin.empty()) {
      for (std::uint32_t e = rows.row_begin[i]; e < rows.row_begin[i + 1]; ++e) {
        sparse[rows.sparse_index[e]] += slope * rows.sparse_value[e];
      }
    }
    if (!choice.context.empty()) {
      context[choice.context[i]] += slope;
    }
  }
}

void ChoiceObjective::scores_of(const Choice& choice, std::span<const double> theta,
                                std::span<double> out) const {
  apply(choice, theta, out);
  for (std::size_t i = 0; i < choice.prior.size(); ++i) {
    out[i] += choice.prior[i];
  }
}

void ChoiceObjective::costs(std::span<const double> theta, std::span<double> out) const {
  HINDSIGHT_CHECK(theta.size() == dim() && out.size() == choices_.size());
  std::vector<double> score(largest_);
  std::vector<double> scratch(largest_);
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const auto s = std::span(score).first(choices_[i].n);
    scores_of(choices_[i], theta, s);
    out[i] = kl_cost_value(s, choices_[i].picked, std::span(scratch).first(choices_[i].n));
  }
}

double ChoiceObjective::evaluate(std::span<const double> theta, std::span<double> gradient) {
  HINDSIGHT_CHECK(theta.size() == dim() && gradient.size() == dim());
  std::fill(gradient.begin(), gradient.end(), 0.0);
  std::vector<double> scores(largest_);
  double total = 0.0;
  std::size_t begin = 0;
  for (const Choice& choice : choices_) {
    const auto s = std::span(scores).first(choice.n);
    const auto probs = std::span(probs_).subspan(begin, choice.n);
    scores_of(choice, theta, s);
    const LossSlope slope = kl_cost(s, max_of(s), choice.picked, probs);
    total += weight_ * slope.loss;
    for (std::size_t i = 0; i < choice.n; ++i) {
      probs[i] *= slope.factor;
      s[i] = probs[i];
    }
    s[choice.picked] += slope.picked_extra;
    apply_transposed(choice, s, gradient);
    begin += choice.n;
  }
  return total;
}

void ChoiceObjective::hessian_times(std::span<const double> v, std::span<double> out) const {
  HINDSIGHT_CHECK(v.size() == dim() && out.size() == dim());
  std::fill(out.begin(), out.end(), 0.0);
  std::vector<double> scratch(largest_);
  std::size_t begin = 0;
  for (const Choice& choice : choices_) {
    const auto u = std::span(scratch).first(choice.n);
    apply(choice, v, u);
    kl_hessian_slope(std::span(probs_).subspan(begin, choice.n), u, u);
    apply_transposed(choice, u, out);
    begin += choice.n;
  }
}

}  // namespace hindsight
