// FeatureWeights: one weight per feature column, dense and sparse, as one vector that can be moved.
//
// The weights of BallWeights are stepped along the rows of a choice set. Duels move all of them
// along a random direction, and so need them as plain numbers: first the dense columns, then the
// sparse ones. New columns have weight zero.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "hindsight/result.h"
#include "hindsight/types.h"
#include "src/core/duel_step.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

/// How many columns of each kind.
struct ColumnCounts {
  std::size_t dense = 0;
  std::size_t sparse = 0;

  std::size_t total() const { return dense + sparse; }
};

/// The columns that rows use: all dense ones, and the sparse ones up to the highest.
ColumnCounts columns_of(const FeatureRows& rows);

class FeatureWeights {
 public:
  ColumnCounts columns() const { return {dense_, weights_.size() - dense_}; }
  std::span<const double> values() const { return weights_; }
  double norm() const;

  /// Whether every one of these columns has a weight.
  bool holds(const ColumnCounts& columns) const {
    return columns.dense <= dense_ && columns.sparse <= weights_.size() - dense_;
  }
  /// Makes room; never shrinks.
  void grow(const ColumnCounts& columns);

  /// out[i] = row i times the weights; columns beyond them count nothing. REQUIRES: rows passed
  /// check_feature_rows for out.size()
  void scores(const FeatureRows& rows, std::span<double> out) const;

  /// weights += sum_i factor[i] * row i, then P_W. REQUIRES: columns() holds columns_of(rows)
  void add_rows(const FeatureRows& rows, std::span<const double> factor, const WeightSpace& space);

  /// weights = P_W(weights + length * u). REQUIRES: u has columns().total() numbers
  void move(const WeightSpace& space, std::span<const double> u, double length);

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt
  Result<void> load(ByteReader& in);

 private:
  std::size_t dense_ = 0;
  std::vector<double> weights_;  // dense columns, then sparse ones
};

}  // namespace hindsight
