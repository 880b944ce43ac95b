// CountLaw: the Plackett-Luce law of scores rate * count, in a sum tree that follows the counts.
//
// Item i has the weight e^(rate count_i - shift), held within e^-80 and e^80 so that no float
// overflows or vanishes: the law that is served is that of the tree. When a score outgrows the
// shift, or the rate changes, the weights follow around the highest score. Most scores of a large
// library are then so far below that their weight is the least there is, and stays so: only the
// others are touched. So early clicks, a few of which take a score beyond any limit, stay cheap.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "hindsight/result.h"
#include "hindsight/types.h"
#include "src/core/sum_tree.h"

namespace hindsight {

class CountLaw {
 public:
  /// Of each item the weight; zero for the items that were removed.
  const SumTree& tree() const { return tree_; }
  /// The score of an item is ln(its weight) + shift(), within the limits.
  double shift() const { return shift_; }

  /// Adds items of count 0 up to `items` in all.
  void grow(std::size_t items);
  /// Takes an item out of all draws.
  void remove(ItemIndex item);
  /// Follows a count that has changed. REQUIRES: `counts` are those of all items, this one included
  void set(ItemIndex item, double count, std::span<const double> counts);
  /// Builds the tree again for another rate. O(n)
  void rescale(double rate, std::span<const double> counts);

  /// The law as it was when shift() was `shift`. FAILS: kCorrupt
  Result<void> load(double shift, double rate, std::span<const double> counts,
                    const std::function<bool(ItemIndex)>& is_live);

 private:
  float leaf(double count) const;
  /// Whether an item of count 0 has the least weight.
  bool rest_is_least() const;
  void put(ItemIndex item, float weight);
  /// Moves the shift up to the score of this item.
  void outgrow(ItemIndex item, double count, std::span<const double> counts);
  /// Finds the items above the least weight again.
  void find_lifted();

  SumTree tree_;
  std::vector<ItemIndex> lifted_;  // above the least weight, or removed; where rest_is_least()
  double rate_ = 0.0;
  double shift_ = 0.0;
};

}  // namespace hindsight
