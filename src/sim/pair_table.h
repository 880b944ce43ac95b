// Laws of orders that are laws of pairs: the chance that one item stands before another, given the
// difference of their counts ([Ailon13] Lemma 6.1 for OnlineRank's two sorts).
//
// Thread-safety: PairTable is a plain value; QuickSortPlaces has one owner at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hindsight/random.h"

namespace hindsight {

class PairTable {
 public:
  PairTable() : PairTable(0, [](double) { return 0.5; }) {}
  /// law(d): the chance that an item stands before one whose count is smaller by d. Beyond `reach`
  /// it is taken to be that at `reach`.
  PairTable(std::size_t reach, const std::function<double(double)>& law);

  /// RETURNS: P(u before v) for d = count(u) - count(v).
  double at(std::int64_t difference) const {
    const std::int64_t within =
        difference < -reach_ ? -reach_ : (difference > reach_ ? reach_ : difference);
    return chances_[static_cast<std::size_t>(within + reach_)];
  }

  /// RETURNS: how many items stand before this one, on average. O(n), exact but for rounding.
  double mean_position(std::span<const std::int64_t> counts, std::uint32_t item) const;

 private:
  std::int64_t reach_;
  std::vector<double> chances_;  // of -reach ... reach
};

/// Where QuickSort ([Ailon13] Algorithm 2) puts some of the items: it sorts only the parts that
/// hold one of them. Expected time O(n) for few items; the law is that of draw_quicksort.
class QuickSortPlaces {
 public:
  explicit QuickSortPlaces(std::uint32_t items);

  /// out[i] = the position of items[i], from 0. REQUIRES: distinct items; equal sizes
  void draw(const PairTable& before, std::span<const std::int64_t> counts,
            std::span<const std::uint32_t> items, Rng& rng, std::span<double> out);

 private:
  struct Part {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t wanted;  // how many of the items are in it
  };

  double coin(Rng& rng);

  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> scratch_;
  std::vector<std::uint32_t> is_wanted_;  // 0 or 1
  std::vector<double> place_of_;
  std::vector<Part> waiting_;
  std::vector<double> coins_;
  std::size_t next_coin_;
};

}  // namespace hindsight
