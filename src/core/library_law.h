// LibraryLaw: the law of a ranking policy over a whole library, kept in a sum tree while the policy
// learns.
//
// The weights are theta = scale * v (src/core/ball_weights.h), and a projection changes the scale,
// that is, every score at once. The tree keeps the scale of its last rebuild: item i stands in it
// with the score s0 * v_i, held within 80 of a common shift so that no float overflows or vanishes,
// and the law that is served is that of the tree. A step changes only the leaves of the items that
// it touched. The tree is rebuilt with the present scale when a log-weight is off by more than 1%
// and the steps since have paid for it, at the latest when one is off by a half.
//
// A leaf is a function of s0, shift and v_i alone, and when to rebuild follows from what is saved:
// a loaded law goes on like the one that was saved.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "hindsight/result.h"
#include "hindsight/types.h"
#include "src/core/ball_weights.h"
#include "src/core/sum_tree.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

class LibraryLaw {
 public:
  /// Of each item the weight; zero for the items that were removed.
  const SumTree& tree() const { return tree_; }
  /// The score of an item is ln(its weight) + shift().
  double shift() const { return shift_; }

  /// Adds items of weight theta_i = 0 up to `count` in all.
  void grow(std::size_t count);
  /// Takes an item out of all draws.
  void remove(ItemIndex item, const BallWeights& weights);

  /// Follows a step that changed the weights of `touched`, or a clearing of all weights.
  void follow(const BallWeights& weights, std::span<const ItemIndex> touched);

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt. REQUIRES: `weights` are those of the time of save
  Result<void> load(ByteReader& in, const BallWeights& weights,
                    const std::function<bool(ItemIndex)>& is_live);

 private:
  /// Of the live items' v.
  struct Extremes {
    double largest = 0.0;  // |v|
    double top = -std::numeric_limits<double>::infinity();
    void note(double v);
  };

  float leaf(double v) const;
  bool has_to_rebuild(const BallWeights& weights) const;
  void rebuild(const BallWeights& weights);
  /// Sets the leaves of the items that moved, one by one.
  Extremes set_listed(const BallWeights& weights);
  /// The same, or the leaves of all live items, in one pass over the tree.
  Extremes rewrite(const BallWeights& weights, bool all);
  void list_moved(const BallWeights& weights);
  std::size_t next_listed(std::size_t begin, std::size_t end) const;

  SumTree tree_;
  double scale_ = 1.0;  // s0
  double shift_ = 0.0;
  double largest_ = 0.0;             // |v| of the live items since the last rebuild
  std::uint64_t touched_ = 0;        // leaves changed since the last rebuild
  std::uint64_t moved_at_most_ = 0;  // items that may have a weight other than zero
  // Not saved: it follows from the weights.
  std::vector<ItemIndex> moved_;      // all items of weight other than zero, and perhaps more
  std::vector<std::uint8_t> listed_;  // whether an item stands in moved_
  std::uint64_t folds_ = 0;           // of the weights, when they were last seen
};

}  // namespace hindsight
