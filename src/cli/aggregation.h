// Aggregation: a consensus of rankings that come one by one, learned by OnlineRank ([Ailon13]
// Corollary 5.1).
//
// Before each ranking the learner draws a list, and is judged by it: by the position loss (2.1)
// with scores n - 1 for the first of the ranking down to 0 for its last, and by Spearman's
// correlation, which is the same but for its scale. The best order in hindsight sorts by mean rank
// (Borda's).
//
// Thread-safety: one owner at a time.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hindsight/ranker.h"
#include "hindsight/signals.h"

namespace hindsight::cli {

/// How it stands after so many rankings.
struct Standing {
  std::uint64_t rankings = 0;
  double online = 0.0;  // mean Spearman correlation of the lists that were drawn
  double best = 0.0;    // that of the consensus with all rankings so far: no order has more
  double regret = 0.0;  // in the sum of positions
  double bound = 0.0;   // on its expectation
};

class Aggregation {
 public:
  /// REQUIRES: items >= 2
  Aggregation(std::size_t items, std::uint64_t seed);

  /// REQUIRES: a ranking of all items
  Result<void> add(std::span<const ItemIndex> ranking);

  /// REQUIRES: there was a ranking
  Standing standing() const;
  /// The best order so far; items that are equally good stand by their numbers.
  std::vector<ItemIndex> consensus() const;
  /// The mean rank of an item, from 1.
  double mean_rank(ItemIndex item) const;

 private:
  double spearman(double mean_loss) const;

  std::uint64_t seed_;
  std::unique_ptr<Ranker> ranker_;
  Signals signals_;
  std::vector<ItemIndex> all_;
  std::vector<double> totals_;  // sum of each item's scores
  std::vector<double> scores_;  // of the present ranking
  double loss_ = 0.0;
  std::uint64_t rankings_ = 0;
};

}  // namespace hindsight::cli
