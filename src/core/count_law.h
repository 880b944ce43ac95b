// CountLaw: the Plackett-Luce law of scores rate * count, in a sum tree that follows the counts.
//
// Item i has the weight e^(rate count_i - shift), held within e^-80 and e^80 so that no float
// overflows or vanishes: the law that is served is that of the tree. When a score outgrows the
// shift, or the rate changes, the weights follow around the highest score. Items that were never
// counted share one weight; once it is the least there is, only the others are touched, so that in
// a large library early clicks, of which a few take a score beyond any limit, stay cheap.
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
  /// Follows another rate. O(n), or less where few items have a count.
  void rescale(double rate, std::span<const double> counts);

  /// The law as it was when shift() was `shift`. FAILS: kCorrupt
  Result<void> load(double shift, double rate, std::span<const double> counts,
                    const std::function<bool(ItemIndex)>& is_live);

 private:
  float leaf(double count) const;
  void note_counted(ItemIndex item);

  SumTree tree_;
  std::vector<ItemIndex> counted_;  // whose count is not 0, in the order in which they came
  std::vector<bool> is_counted_;
  double rate_ = 0.0;
  double shift_ = 0.0;
};

}  // namespace hindsight
