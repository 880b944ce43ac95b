#include "src/core/feature_learner.h"

#include <algorithm>
#include <cmath>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

// Before the first gradients: the step of a coordinate never exceeds rate * |g| / sqrt(this).
constexpr double kColumnSquares = 1e-3;
constexpr double kTermSquares = 1.0;
constexpr double kRidge = 1.0;
// The highest bit of the number of items' own terms: learners without context terms have the bytes
// that they had before there were any.
constexpr std::uint64_t kContextFollows = std::uint64_t{1} << 63;

std::size_t packed(std::size_t row, std::size_t column) { return row * (row + 1) / 2 + column; }

double bounded(double weight) {
  return std::clamp(weight, -FeatureLearner::kMaxWeight, FeatureLearner::kMaxWeight);
}

}  // namespace

FeatureLearner::FeatureLearner(const FeatureLearnerParams& params) : params_(params) {}

void FeatureLearner::grow_items(std::size_t count) {
  if (params_.item_rate > 0.0) {
    items_.resize(std::max(items_.size(), count));
  }
}

bool FeatureLearner::uses(std::size_t column) const {
  switch (signal_columns()[column].kind) {
    case SignalKind::kPicks:
      return true;
    case SignalKind::kSession:
      return params_.use.session;
    case SignalKind::kGroup:
      return params_.use.group;
    case SignalKind::kLinks:
      return params_.use.links;
  }
  return false;
}

void FeatureLearner::scores(const LearnerView& view, std::span<double> out) const {
  const std::size_t n = out.size();
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = items_.empty() ? 0.0 : static_cast<double>(items_[view.items[i]].weight);
  }
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    if (const double weight = weights_[j]; weight != 0.0) {
      const double* column = view.signals.data() + j * n;
      for (std::size_t i = 0; i < n; ++i) {
        out[i] += weight * column[i];
      }
    }
  }
  for (std::size_t i = 0; !view.terms.empty() && i < n; ++i) {
    for (const TermRows::Entry& entry : view.terms.row(i)) {
      out[i] += term(entry.slot) * entry.value;
    }
  }
  for (std::size_t i = 0; !context_.empty() && i < view.context.size(); ++i) {
    out[i] += static_cast<double>(context_[view.context[i]].weight);
  }
}

FeatureLearner::Columns FeatureLearner::column_step(const LearnerView& view,
                                                    std::span<const double> probs,
                                                    const Columns& gradient) {
  if (params_.newton) {
    return newton_step(view, probs, gradient);
  }
  Columns step{};
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    squares_[j] += gradient[j] * gradient[j];
    step[j] = -params_.rate * gradient[j] / std::sqrt(kColumnSquares + squares_[j]);
  }
  return step;
}

// The Hessian is the covariance of the features under the law ([Delage09] 3.2); the step solves
// (ridge + sum of Hessians) x = -gradient by Cholesky's method.
FeatureLearner::Columns FeatureLearner::newton_step(const LearnerView& view,
                                                    std::span<const double> probs,
                                                    const Columns& gradient) {
  const std::size_t n = probs.size();
  Columns mean{};
  for (std::size_t a = 0; a < kSignalColumns; ++a) {
    if (!uses(a)) {
      continue;
    }
    const auto column = view.signals.subspan(a * n, n);
    for (std::size_t i = 0; i < n; ++i) {
      slope_[i] = probs[i] * column[i];
    }
    mean[a] = sum_of(std::span<const double>(slope_).first(n));
    for (std::size_t b = 0; b <= a; ++b) {
      if (uses(b)) {
        const double moment =
            dot(std::span<const double>(slope_).first(n), view.signals.subspan(b * n, n));
        const double covariance = moment - mean[a] * mean[b];
        hessian_[packed(a, b)] += a == b ? std::max(covariance, 0.0) : covariance;
      }
    }
  }
  Packed root{};
  Columns step{};
  for (std::size_t a = 0; a < kSignalColumns; ++a) {
    for (std::size_t b = 0; b <= a; ++b) {
      double x = hessian_[packed(a, b)] + (a == b ? kRidge : 0.0);
      for (std::size_t c = 0; c < b; ++c) {
        x -= root[packed(a, c)] * root[packed(b, c)];
      }
      root[packed(a, b)] = a == b ? std::sqrt(std::max(x, kRidge / 2)) : x / root[packed(b, b)];
    }
  }
  for (std::size_t a = 0; a < kSignalColumns; ++a) {
    double x = -gradient[a];
    for (std::size_t b = 0; b < a; ++b) {
      x -= root[packed(a, b)] * step[b];
    }
    step[a] = x / root[packed(a, a)];
  }
  for (std::size_t a = kSignalColumns; a-- > 0;) {
    for (std::size_t b = a + 1; b < kSignalColumns; ++b) {
      step[a] -= root[packed(b, a)] * step[b];
    }
    step[a] /= root[packed(a, a)];
  }
  // A damaged matrix that could be loaded may have no such solution; then nothing moves.
  return all_finite(step) ? step : Columns{};
}

void FeatureLearner::learn(const LearnerView& view, std::span<const double> probs,
                           std::size_t picked) {
  const std::size_t n = probs.size();
  HINDSIGHT_CHECK(view.items.size() == n && picked < n &&
                  view.signals.size() == n * kSignalColumns);
  const auto slope_at = [&](std::size_t i) { return probs[i] - (i == picked ? 1.0 : 0.0); };
  slope_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    slope_[i] = slope_at(i);
  }
  Columns gradient{};
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    gradient[j] = uses(j) ? dot(slope_, view.signals.subspan(j * n, n)) : 0.0;
  }
  const Columns step = column_step(view, probs, gradient);
  double move = 0.0;
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    move += std::abs(step[j]) * signal_columns()[j].bound;
  }

  // The caller's columns: steps first, to know how far they go.
  std::size_t slots = 0;
  if (!view.terms.empty()) {
    slots = view.terms.slots();
    terms_.resize(std::max(terms_.size(), slots));
    term_gradient_.assign(slots, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (const TermRows::Entry& entry : view.terms.row(i)) {
        term_gradient_[entry.slot] += slope_at(i) * entry.value;
      }
    }
    double squared = 0.0;
    for (std::size_t j = 0; j < slots; ++j) {
      const double g = term_gradient_[j];
      terms_[j].squares += static_cast<float>(g * g);
      term_gradient_[j] =
          -params_.rate * g / std::sqrt(kTermSquares + static_cast<double>(terms_[j].squares));
      squared += term_gradient_[j] * term_gradient_[j];
    }
    move += kMaxRowLength * std::sqrt(squared);
  }
  // An item's own term: |slope| / sqrt(1 + ...) <= 1. Items that share the slot of a key move it
  // together, but all slopes together are at most 2.
  const bool keyed = !view.context.empty() && params_.item_rate > 0.0;
  if (keyed) {
    context_.resize(params_.context_terms);
  }
  const double own = params_.item_rate * ((items_.empty() ? 0.0 : 1.0) + (keyed ? 2.0 : 0.0));
  const double shortened = std::min(1.0, params_.max_move / std::max(move + own, 1e-300));
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    weights_[j] = bounded(weights_[j] + shortened * step[j]);
  }
  for (std::size_t j = 0; j < slots; ++j) {
    terms_[j].weight =
        static_cast<float>(bounded(terms_[j].weight + shortened * term_gradient_[j]));
  }
  for (std::size_t i = 0; !items_.empty() && i < n; ++i) {
    step_own(items_[view.items[i]], slope_at(i), shortened);
  }
  for (std::size_t i = 0; keyed && i < n; ++i) {
    step_own(context_[view.context[i]], slope_at(i), shortened);
  }
}

void FeatureLearner::step_own(Term& term, double gradient, double shortened) const {
  term.squares += static_cast<float>(gradient * gradient);
  const double change =
      params_.item_rate * gradient / std::sqrt(kTermSquares + static_cast<double>(term.squares));
  term.weight = static_cast<float>(bounded(term.weight - shortened * change));
}

std::size_t FeatureLearner::memory_bytes() const {
  return sizeof(*this) +
         (terms_.capacity() + items_.capacity() + context_.capacity()) * sizeof(Term) +
         (slope_.capacity() + term_gradient_.capacity()) * sizeof(double);
}

void FeatureLearner::put_terms(ByteWriter& out, const std::vector<Term>& terms,
                               std::uint64_t flags) {
  out.put(static_cast<std::uint64_t>(terms.size()) | flags);
  for (const Term& term : terms) {
    out.put(term.weight);
    out.put(term.squares);
  }
}

bool FeatureLearner::get_terms(ByteReader& in, std::vector<Term>& terms, std::uint64_t* flags) {
  std::uint64_t size = 0;
  in.get(size);
  if (flags != nullptr) {
    *flags = size & kContextFollows;
    size -= *flags;
  }
  if (!in.ok() || size > in.left() / sizeof(Term)) {
    return false;
  }
  terms.resize(size);
  for (Term& term : terms) {
    in.get(term.weight);
    in.get(term.squares);
    if (!(std::abs(term.weight) <= kMaxWeight && term.squares >= 0.0F &&
          std::isfinite(term.squares))) {
      return false;
    }
  }
  return in.ok();
}

void FeatureLearner::save(ByteWriter& out) const {
  out.put(std::span<const double>(weights_));
  out.put(params_.newton ? std::span<const double>(hessian_) : std::span<const double>(squares_));
  put_terms(out, terms_);
  put_terms(out, items_, context_.empty() ? 0 : kContextFollows);
  if (!context_.empty()) {
    put_terms(out, context_);
  }
}

Result<void> FeatureLearner::load(ByteReader& in, std::size_t item_count) {
  const Error corrupt{ErrorCode::kCorrupt, "the saved weights of features are damaged", "weights"};
  std::vector<double> weights;
  std::vector<double> sums;
  std::uint64_t context_follows = 0;
  context_.clear();
  in.get(weights);
  in.get(sums);
  const std::size_t length = params_.newton ? hessian_.size() : squares_.size();
  if (!in.ok() || weights.size() != kSignalColumns || sums.size() != length ||
      !all_within(weights, -kMaxWeight, kMaxWeight) || !all_finite(sums) ||
      !get_terms(in, terms_) || !get_terms(in, items_, &context_follows) ||
      (context_follows != 0 && !get_terms(in, context_)) || terms_.size() > kTerms ||
      items_.size() != (params_.item_rate > 0.0 ? item_count : 0) ||
      (context_follows != 0 && (context_.empty() || context_.size() != params_.context_terms ||
                                params_.item_rate == 0.0))) {
    return corrupt;
  }
  for (std::size_t j = 0; j < kSignalColumns; ++j) {
    if (sums[params_.newton ? packed(j, j) : j] < 0.0) {
      return corrupt;
    }
  }
  std::copy(weights.begin(), weights.end(), weights_.begin());
  std::copy(sums.begin(), sums.end(), params_.newton ? hessian_.begin() : squares_.begin());
  return {};
}

}  // namespace hindsight
