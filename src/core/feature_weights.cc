#include "src/core/feature_weights.h"

#include <algorithm>
#include <cmath>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/kernels.h"
#include "src/core/row_kernels.h"

namespace hindsight {

ColumnCounts columns_of(const FeatureRows& rows) {
  const auto highest = std::max_element(rows.sparse_index.begin(), rows.sparse_index.end());
  return {rows.dense_dim,
          highest == rows.sparse_index.end() ? 0 : static_cast<std::size_t>(*highest) + 1};
}

double FeatureWeights::norm() const { return std::sqrt(dot(weights_, weights_)); }

void FeatureWeights::grow(const ColumnCounts& columns) {
  if (columns.dense > dense_) {
    weights_.insert(weights_.begin() + static_cast<std::ptrdiff_t>(dense_), columns.dense - dense_,
                    0.0);
    dense_ = columns.dense;
  }
  weights_.resize(std::max(weights_.size(), dense_ + columns.sparse), 0.0);
}

void FeatureWeights::scores(const FeatureRows& rows, std::span<double> out) const {
  const std::size_t dense = std::min(rows.dense_dim, dense_);
  const std::span<const double> weights = weights_;
  const std::span<const double> sparse = weights.subspan(dense_);
  dot_rows(rows.dense, rows.dense_dim, weights.first(dense), out);
  if (rows.row_begin.empty()) {
    return;
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::uint32_t e = rows.row_begin[i]; e < rows.row_begin[i + 1]; ++e) {
      const std::uint32_t column = rows.sparse_index[e];
      out[i] += column < sparse.size() ? sparse[column] * rows.sparse_value[e] : 0.0;
    }
  }
}

void FeatureWeights::add_rows(const FeatureRows& rows, std::span<const double> factor,
                              const WeightSpace& space) {
  for (std::size_t i = 0; i < factor.size(); ++i) {
    if (factor[i] == 0.0) {
      continue;
    }
    for (std::size_t j = 0; j < rows.dense_dim; ++j) {
      weights_[j] += factor[i] * rows.dense[i * rows.dense_dim + j];
    }
    if (!rows.row_begin.empty()) {
      for (std::uint32_t e = rows.row_begin[i]; e < rows.row_begin[i + 1]; ++e) {
        weights_[dense_ + rows.sparse_index[e]] += factor[i] * rows.sparse_value[e];
      }
    }
  }
  project(space, weights_);
}

void FeatureWeights::move(const WeightSpace& space, std::span<const double> u, double length) {
  move_along(space, weights_, u, length, weights_);
}

void FeatureWeights::save(ByteWriter& out) const {
  out.put(static_cast<std::uint64_t>(dense_));
  out.put(weights_);
}

Result<void> FeatureWeights::load(ByteReader& in) {
  std::uint64_t dense = 0;
  in.get(dense);
  in.get(weights_);
  HINDSIGHT_RETURN_IF_ERROR(in.check("weights"));
  if (dense > weights_.size() || dense > kMaxDenseColumns ||
      weights_.size() - dense > kMaxSparseColumns || !all_finite(weights_)) {
    return Error{ErrorCode::kCorrupt, "the saved weights do not fit together", "weights"};
  }
  dense_ = dense;
  return {};
}

}  // namespace hindsight
