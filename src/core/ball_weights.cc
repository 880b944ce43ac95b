#include "src/core/ball_weights.h"

#include <algorithm>
#include <cmath>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

void grow(std::vector<double>& block, std::size_t count) {
  if (count > block.size()) {
    block.resize(count, 0.0);
  }
}

// Beyond what any run of steps reaches, and far enough from overflow that steps and squares of a
// loaded model stay finite.
constexpr double kLargestWeight = 0x1p300;
// Outside of this the scale is folded in.
constexpr double kLargestScale = 0x1p40;
// In a save, beside the number of touched coordinates: models that never saw a context have the
// bytes that they had before there were any.
constexpr std::uint64_t kContextFollows = std::uint64_t{1} << 63;

bool within(std::span<const double> values, double limit) {
  return std::all_of(values.begin(), values.end(),
                     [limit](double value) { return std::abs(value) <= limit; });
}

double slope_at(std::span<const double> raw, std::size_t picked, const LossSlope& slope,
                std::size_t i) {
  return slope.factor * raw[i] + (i == picked ? slope.picked_extra : 0.0);
}

}  // namespace

void BallWeights::grow_items(std::size_t count) { grow(items_, count); }
void BallWeights::grow_dense(std::size_t count) { grow(dense_, count); }
void BallWeights::grow_sparse(std::size_t count) { grow(sparse_, count); }
void BallWeights::grow_context(std::size_t count) { grow(context_, count); }

double BallWeights::norm() const { return scale_ * std::sqrt(squared_norm_); }

double BallWeights::scores(const ChoiceFeatures& features, std::span<double> out) const {
  HINDSIGHT_CHECK(features.n == out.size() && features.n > 0);
  double top = 0.0;
  if (!features.items.empty()) {
    top = gather_scaled(items_, features.items, scale_, out);
  } else {
    std::fill(out.begin(), out.end(), 0.0);
  }
  const bool has_rows = features.rows != nullptr && !features.rows->empty();
  if (has_rows) {
    score_rows(*features.rows, out);
  }
  if (!features.context.empty()) {
    HINDSIGHT_CHECK(features.context.size() == features.n);
    for (std::size_t i = 0; i < features.n; ++i) {
      const std::uint32_t slot = features.context[i];
      const double term = slot < context_.size() ? scale_ * context_[slot] : 0.0;
      out[i] = features.context_factor * (out[i] + term);
    }
  }
  return has_rows || !features.context.empty() ? max_of(out) : top;
}

void BallWeights::score_rows(const FeatureRows& rows, std::span<double> out) const {
  const std::size_t dense = std::min(rows.dense_dim, dense_.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    double sum = dot(std::span(rows.dense).subspan(i * rows.dense_dim, dense),
                     std::span(dense_).first(dense));
    if (!rows.row_begin.empty()) {
      for (std::uint32_t e = rows.row_begin[i]; e < rows.row_begin[i + 1]; ++e) {
        if (rows.sparse_index[e] < sparse_.size()) {
          sum += rows.sparse_value[e] * sparse_[rows.sparse_index[e]];
        }
      }
    }
    out[i] += scale_ * sum;
  }
}

double BallWeights::change_squared_norm(double& slot, double change) {
  const double after = slot + change;
  const double difference = (after - slot) * (after + slot);
  slot = after;
  return difference;
}

double BallWeights::step(const ChoiceFeatures& features, std::span<const double> raw,
                         std::size_t picked, const LossSlope& given, double eta, double radius) {
  HINDSIGHT_CHECK(features.n == raw.size() && picked < features.n);
  const bool has_context = !features.context.empty();
  LossSlope slope = given;
  if (has_context) {  // all of Phi is multiplied by it, and so is the gradient
    slope.factor *= features.context_factor;
    slope.picked_extra *= features.context_factor;
  }
  const double factor = -eta / scale_;  // of the change of v
  double gradient_norm = 0.0;
  if (!features.items.empty()) {
    const double old_picked = slope.factor * raw[picked];
    gradient_norm = slope.factor * slope.factor * dot(raw, raw) +
                    slope.picked_extra * (slope.picked_extra + 2.0 * old_picked);
    squared_norm_ += scatter_add(items_, features.items, factor * slope.factor, raw);
    squared_norm_ +=
        change_squared_norm(items_[features.items[picked]], factor * slope.picked_extra);
    touched_ += features.n + 1;
  }
  if (features.rows != nullptr && !features.rows->empty()) {
    gradient_norm += step_rows(*features.rows, features.n, raw, picked, slope, factor);
  }
  if (has_context) {
    std::vector<Entry> entries(features.n);
    for (std::size_t i = 0; i < features.n; ++i) {
      HINDSIGHT_CHECK(features.context[i] < context_.size());
      entries[i] = {features.context[i], slope_at(raw, picked, slope, i)};
    }
    gradient_norm += step_entries(entries, context_, factor);
  }
  project(radius);
  const std::size_t size = items_.size() + dense_.size() + sparse_.size() + context_.size();
  if (touched_ > 16 * size + 4096) {
    refresh();
  }
  return std::max(gradient_norm, 0.0);
}

double BallWeights::step_rows(const FeatureRows& rows, std::size_t n, std::span<const double> raw,
                              std::size_t picked, const LossSlope& slope, double factor) {
  double gradient_norm = 0.0;
  grow_dense(rows.dense_dim);
  std::vector<double> gradient(rows.dense_dim, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const double c = slope_at(raw, picked, slope, i);
    for (std::size_t j = 0; j < rows.dense_dim; ++j) {
      gradient[j] += c * rows.dense[i * rows.dense_dim + j];
    }
  }
  for (std::size_t j = 0; j < rows.dense_dim; ++j) {
    gradient_norm += gradient[j] * gradient[j];
    squared_norm_ += change_squared_norm(dense_[j], factor * gradient[j]);
  }
  touched_ += rows.dense_dim;
  if (rows.row_begin.empty()) {
    return gradient_norm;
  }
  std::vector<Entry> entries;
  entries.reserve(rows.sparse_index.size());
  for (std::size_t i = 0; i < n; ++i) {
    const double c = slope_at(raw, picked, slope, i);
    for (std::uint32_t e = rows.row_begin[i]; e < rows.row_begin[i + 1]; ++e) {
      entries.push_back({rows.sparse_index[e], c * rows.sparse_value[e]});
      grow_sparse(std::size_t{rows.sparse_index[e]} + 1);
    }
  }
  return gradient_norm + step_entries(entries, sparse_, factor);
}

// The same column may stand in many rows: add up first, in the order of columns, then of rows.
double BallWeights::step_entries(std::vector<Entry>& entries, std::vector<double>& block,
                                 double factor) {
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.column < b.column; });
  double gradient_norm = 0.0;
  for (std::size_t begin = 0; begin < entries.size();) {
    const std::uint32_t column = entries[begin].column;
    double sum = 0.0;
    for (; begin < entries.size() && entries[begin].column == column; ++begin) {
      sum += entries[begin].value;
    }
    gradient_norm += sum * sum;
    squared_norm_ += change_squared_norm(block[column], factor * sum);
    ++touched_;
  }
  return gradient_norm;
}

void BallWeights::project(double radius) {
  squared_norm_ = std::max(squared_norm_, 0.0);
  const double length = norm();
  if (length > radius) {
    scale_ *= radius / length;
  }
  // Far from 1 the representation would lose range; fold it in long before.
  if (scale_ < 1.0 / kLargestScale || scale_ > kLargestScale) {
    refresh();
  }
}

void BallWeights::refresh() {
  squared_norm_ = 0.0;
  for (std::vector<double>* block : {&items_, &dense_, &sparse_, &context_}) {
    for (double& v : *block) {
      v *= scale_;
    }
    squared_norm_ += dot(*block, *block);
  }
  scale_ = 1.0;
  touched_ = 0;
  ++folds_;
}

void BallWeights::clear() {
  for (std::vector<double>* block : {&items_, &dense_, &sparse_, &context_}) {
    std::fill(block->begin(), block->end(), 0.0);
  }
  scale_ = 1.0;
  squared_norm_ = 0.0;
  touched_ = 0;
  ++folds_;
}

void BallWeights::save(ByteWriter& out) const {
  out.put(items_);
  out.put(dense_);
  out.put(sparse_);
  out.put(scale_);
  out.put(squared_norm_);
  out.put(context_.empty() ? touched_ : touched_ | kContextFollows);
  if (!context_.empty()) {
    out.put(context_);
  }
}

Result<void> BallWeights::load(ByteReader& in) {
  in.get(items_);
  in.get(dense_);
  in.get(sparse_);
  in.get(scale_);
  in.get(squared_norm_);
  in.get(touched_);
  context_.clear();
  const bool has_context = (touched_ & kContextFollows) != 0;
  if (has_context) {
    touched_ &= ~kContextFollows;
    in.get(context_);
  }
  HINDSIGHT_RETURN_IF_ERROR(in.check("weights"));
  const bool sane = scale_ >= 1.0 / kLargestScale && scale_ <= kLargestScale &&
                    squared_norm_ >= 0.0 && squared_norm_ <= kLargestWeight * kLargestWeight &&
                    within(items_, kLargestWeight) && within(dense_, kLargestWeight) &&
                    within(sparse_, kLargestWeight) && within(context_, kLargestWeight) &&
                    has_context == !context_.empty();
  if (!sane) {
    return Error{ErrorCode::kCorrupt, "the saved weights are not finite or out of range",
                 "weights"};
  }
  return {};
}

}  // namespace hindsight
