// BallWeights: the weights theta of a linear ranking policy, kept inside a ball that may grow.
//
// Four blocks that grow on their own: one weight per item (Phi = e_i, [Delage09] Practical
// Example), dense columns, sparse columns, and context terms (src/core/context_terms.h). A choice
// set may use any mix of them.
//
// theta is held as scale * v, and its squared norm is kept up to date, so that a gradient step and
// the projection on the ball touch only the coordinates of the choice set. Now and then (amortised
// O(1) per touched coordinate) the scale is folded in and the norm summed afresh, so that rounding
// does not build up.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/result.h"
#include "hindsight/types.h"
#include "src/core/losses.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

/// Phi of a choice set of n items: a view.
struct ChoiceFeatures {
  std::span<const ItemIndex> items;   // weights of their own (e_i); empty: not used
  const FeatureRows* rows = nullptr;  // n rows; null: not used
  std::size_t n = 0;
  std::span<const std::uint32_t> context = {};  // a slot for each, perhaps shared; empty: not used
  double context_factor = 1.0;                  // with context, what all of Phi is multiplied by
};

class BallWeights {
 public:
  // New weights are zero. Blocks never shrink.
  void grow_items(std::size_t count);
  void grow_dense(std::size_t count);
  void grow_sparse(std::size_t count);
  void grow_context(std::size_t count);

  std::size_t item_count() const { return items_.size(); }
  std::size_t dense_count() const { return dense_.size(); }
  std::size_t sparse_count() const { return sparse_.size(); }
  std::size_t context_count() const { return context_.size(); }

  double item(ItemIndex i) const { return scale_ * items_[i]; }
  double dense(std::size_t j) const { return scale_ * dense_[j]; }
  double sparse(std::size_t j) const { return scale_ * sparse_[j]; }
  double context(std::size_t j) const { return scale_ * context_[j]; }
  double norm() const;
  std::size_t memory_bytes() const {
    return sizeof(double) *
           (items_.capacity() + dense_.capacity() + sparse_.capacity() + context_.capacity());
  }

  /// theta of the items is scale() * unscaled_items(). A fold of the scale into them, or a
  /// clearing, changes all of them, and then folds(), which is not saved.
  double scale() const { return scale_; }
  std::span<const double> unscaled_items() const { return items_; }
  std::uint64_t folds() const { return folds_; }

  /// out = Phi theta. RETURNS: the largest. Columns and slots beyond the blocks have weight zero.
  /// REQUIRES: features.n == out.size() > 0, items below item_count()
  double scores(const ChoiceFeatures& features, std::span<double> out) const;

  /// theta <- P(theta - eta Phi^T c), c_i = factor * raw_i + picked_extra [i = picked]; P projects
  /// on the ball of `radius` about 0. Grows the dense and sparse blocks where `features` needs it.
  /// RETURNS: the squared norm of the gradient Phi^T c.
  /// REQUIRES: items distinct, slots below context_count()
  double step(const ChoiceFeatures& features, std::span<const double> raw, std::size_t picked,
              const LossSlope& slope, double eta, double radius);

  /// theta <- 0, sizes unchanged.
  void clear();

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt
  Result<void> load(ByteReader& in);

 private:
  double step_rows(const FeatureRows& rows, std::size_t n, std::span<const double> raw,
                   std::size_t picked, const LossSlope& slope, double factor);
  void score_rows(const FeatureRows& rows, std::span<double> out) const;
  /// One entry of the gradient of a block whose columns may come several times.
  struct Entry {
    std::uint32_t column;
    double value;
  };
  double step_entries(std::vector<Entry>& entries, std::vector<double>& block, double factor);
  double change_squared_norm(double& slot, double change);
  void project(double radius);
  void refresh();

  std::vector<double> items_;  // v, of which theta is scale_ times
  std::vector<double> dense_;
  std::vector<double> sparse_;
  std::vector<double> context_;
  double scale_ = 1.0;
  double squared_norm_ = 0.0;  // of v
  std::uint64_t touched_ = 0;  // coordinates changed since the last refresh
  std::uint64_t folds_ = 0;
};

}  // namespace hindsight
