// CountRanker: counts what was chosen and orders by noisy counts, as OnlineRank and the perturbed
// leader do.
//
// The score of an item is a rate times how much it was wanted. How the rate follows from n, T and
// M, and how a list is drawn from the scores, is the algorithm's (src/core/choice_rate.h has both
// rates and what they promise).
//
//   rounds   each call of `learn` is a round, of at most `choices` items (more are further rounds)
//   n        grows with the library; the rate is that of the next power of two, so that it changes
//            seldom: within a factor of sqrt 2 of the best, or of 2 with rankings, which costs 10%
//            of the bound at most, or 25%
//   T        `horizon`, where it is known and not yet over; otherwise doubled
//
// While the library grows, an item that comes late is held to have been there all along, not
// wanted, and to have cost nothing: OnlineRank's bound for all items in the end then holds with a
// factor of 1.18 (1.88 with a doubled horizon), for each pair begins with the rate of the day on
// which its later item came. Against an order that is charged from that day only no such promise
// can be made: what was wanted for long keeps its lead.
//
// With PlackettLuce, and where a pick is a choice among what is shown, lists of the whole library
// come from a sum tree: a click changes one weight, O(log n), and k items are drawn in O(k log n);
// [Ailon13] states O(n log n) for both. When the rate changes the tree is built again, O(n), which
// happens some log2(T n) times in all. The other sorts touch every candidate.
//
// Thread-safety: as Ranker.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/core/count_law.h"
#include "src/rankers/scored_ranker.h"

namespace hindsight {

struct CountOptions {
  bool rankings = false;  // rounds may bring whole rankings
  std::uint64_t horizon = 0;
  std::uint64_t choices = 1;
  /// Of n items, T rounds and M (src/core/choice_rate.h).
  double (*rate)(std::uint64_t n, std::uint64_t rounds, double spread) = nullptr;
  double (*bound)(std::uint64_t n, std::uint64_t rounds, double spread) = nullptr;
};

class CountRanker final : public ScoredRanker {
 public:
  /// REQUIRES: rate and bound are there
  CountRanker(ListOptions list, const CountOptions& counting);

  Description describe() const override;
  double item_score(ItemIndex item) const override { return rate_ * counts_[item]; }
  bool learns_rankings() const override { return counting_.rankings; }

 protected:
  void score(const Request& request, const Signals& signals, const FeatureRows& features,
             std::span<double> out) const override;
  Result<Decision> do_rank_library(const Request& request, const Signals& signals,
                                   Rng& rng) const override;
  Result<ListProbability> do_library_probability(const Request& request, const Signals& signals,
                                                 std::span<const ItemIndex> list) const override;
  Result<LearnReport> do_learn(const Decision& decision, const Feedback& feedback,
                               const Signals& signals) override;
  void do_add_items(std::span<const Item> items) override;
  void do_remove_items(std::span<const ItemIndex> items) override;
  void do_save(ByteWriter& out) const override;
  Result<void> do_load(ByteReader& in) override;

 private:
  bool draws_from_tree() const;
  bool knows_horizon() const { return counting_.horizon > 0 && rounds_ <= counting_.horizon; }
  double spread(std::uint64_t n) const;
  double rate() const;
  void want(ItemIndex item, double score);
  void end_round();
  void follow_rate();
  LearnReport learn_ranking(std::span<const ItemIndex> order);

  CountOptions counting_;
  std::vector<double> counts_;  // whole numbers
  std::uint64_t rounds_ = 0;
  double rate_ = 0.0;  // follows from the others
  CountLaw law_;
};

/// `own`, and the parameters that both algorithms have: feedback, choices, horizon, choice_set.
std::vector<ParamSpec> count_params(ParamSpec own);
/// REQUIRES: `params` holds valid values of count_params
CountOptions count_options(const ParamMap& params);

}  // namespace hindsight
