// A sum tree over weights: exact Plackett-Luce draws in time that hardly grows with the library.
//
// Leaves are float weights, sixteen to a node, and every inner sum is a double that is recomputed
// from its sixteen children whenever one of them changes: sums never drift, and a sum is zero only
// if everything below it is. A draw without replacement leaves the tree alone; where it has to look
// past what it has drawn, it keeps those paths in a small copy of its own, so that no slot is drawn
// more than twice, whatever share of the mass one item holds.
//
//   set one weight            O(log n)
//   draw the first k          O(k log n)       [Ailon13] states O(n log n) for a whole order
//   build                     O(n)
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"
#include "src/core/aligned.h"
#include "src/core/list_policy.h"

namespace hindsight {

class SumTree {
 public:
  /// A tree of no leaves.
  SumTree() = default;

  /// FAILS: kNotFinite, kInvalidArgument (a negative weight, or more than 2^31 of them)
  static Result<SumTree> build(std::span<const float> weights);

  std::size_t size() const { return size_; }
  /// How many weights are above zero: the longest list that can be drawn.
  std::size_t positive() const { return positive_; }
  /// REQUIRES: leaf < size()
  float weight(std::size_t leaf) const { return leaves_[leaf]; }
  /// RETURNS: the sum of all weights, to one rounding per level.
  double total() const;

  /// Changes one weight. FAILS: kNotFinite, kInvalidArgument (negative). REQUIRES: leaf < size()
  Result<void> set(std::size_t leaf, float weight);

  /// Changes many weights in one pass over the tree: `change` may give new positive weights to any
  /// leaves that are positive. REQUIRES: it does nothing else
  void rewrite(const std::function<void(std::span<float> leaves)>& change);

  /// Adds leaves after the last one. All or none. FAILS: as build
  Result<void> append(std::span<const float> weights);

  /// Draws the first k. RETURNS: leaves of positive weight, best first, with their log-propensity.
  /// FAILS: kEmptyCandidates (no leaves), kInvalidArgument (k = 0, or fewer than k positive
  /// weights)
  Result<DrawnList> draw_top_k(std::size_t k, Rng& rng) const;

  /// RETURNS: ln P(a drawn list begins with `order`); -infinity where one of the leaves is zero.
  /// REQUIRES: `order` is not empty, distinct leaves below size()
  double log_propensity(std::span<const std::uint32_t> order) const;

 private:
  static constexpr std::size_t kFanout = 16;
  static constexpr std::size_t kMaxDepth = 8;  // steps from the top to one of 16^8 leaves
  using Values = std::array<double, kFanout>;

  class Draw;

  /// The values of the children of a node; `level` 0 has leaves as children.
  Values children(std::size_t level, std::size_t node) const;
  void prefetch_children(std::size_t level, std::size_t node) const;
  /// Makes room for `size` leaves; new sums are zero.
  void resize(std::size_t size);
  /// Recomputes the sums above the leaves [begin, end).
  void recompute(std::size_t begin, std::size_t end);

  std::size_t size_ = 0;
  std::size_t positive_ = 0;
  AlignedVector<float> leaves_;  // whole groups of sixteen, filled up with zeros
  std::vector<AlignedVector<double>>
      levels_;  // levels_[l][i]: sum of node i; the last has one group
};

}  // namespace hindsight
