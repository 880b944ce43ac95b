// OptimisticTop: the items with the largest upper bounds, without looking at all of them in every
// round.
//
// The bound of an item is <x, theta> + width ||x||, cut at a cap (upper_bounds_of). More data never
// make ||x|| larger, and theta moves little in a round. So after a look at all items the bound of
// each is at most what it was then, plus |x| times how far theta has moved since: items are kept in
// chunks in the order of those bounds, and a round ends at the first chunk in which nothing can be
// among the best any more. What comes out is what a look at all would give, ties included.
//
// Thread-safety: one owner at a time.

#pragma once

#include <cstddef>
#include <vector>

#include "hindsight/types.h"
#include "src/core/ridge_estimate.h"
#include "src/core/vector_set.h"

namespace hindsight {

class OptimisticTop {
 public:
  OptimisticTop(VectorSet set, double width, double cap);

  const VectorSet& set() const { return set_; }

  /// The k items with the largest bounds, best first; of equals those come first that stand first,
  /// counted from `start` on and around (top_k). REQUIRES: the estimate is that of the call before
  /// with more data; k <= number of items, start < number of items
  void find(const RidgeEstimate& estimate, std::size_t k, std::size_t start,
            std::vector<ItemIndex>& out);

 private:
  struct Chunk {
    VectorSet set;
    std::vector<ItemIndex> items;
    double bound = 0.0;  // the largest of its items, at the last look at all
  };
  struct Best {
    double score = 0.0;
    std::size_t turn = 0;  // places from `start` on
    ItemIndex item = 0;
  };

  void look_at_all(const RidgeEstimate& estimate);
  void offer(const Best& one, std::size_t k);

  VectorSet set_;
  double width_;
  double cap_;
  double longest_ = 0.0;  // |x| of the longest vector
  std::vector<Chunk> chunks_ = {};
  std::vector<double> theta_ = {};  // at the last look at all
  std::size_t looked_ = 0;          // items since then, beyond the least that a round needs
  std::vector<double> scores_ = {};
  std::vector<Best> best_ = {};
};

}  // namespace hindsight
