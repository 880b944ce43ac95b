// ExpertMixture: how far to listen to each of N laws, by Bayes' rule on what they have paid.
//
// K-L cost is log loss: the mixture's probability of a pick is the mean of the experts' by their
// weights, and after the pick each weight is multiplied by what the expert gave the pick. The
// mixture's total cost is then at most ln N above that of the best expert, for every sequence
// ([Vovk90], [DeSantis88]). Weights are kept as logarithms, so that an expert that was far behind
// for long can still come back.
//
// With a share above 0 (fixed share, [Herbster98]) each expert then gives away that part of its
// weight to all others: the cost is at most ln N + S ln((N-1)/share) + (T-1-S) ln(1/(1-share))
// above that of the best sequence of experts with S switches in T rounds.
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

class ExpertMixture {
 public:
  /// Equal weights. REQUIRES: experts > 0, 0 <= share < 1
  ExpertMixture(std::size_t experts, double share);

  std::size_t size() const { return log_weight_.size(); }
  /// Their exponentials sum to 1.
  double log_weight(std::size_t expert) const { return log_weight_[expert]; }
  double weight(std::size_t expert) const;

  /// Books a pick that cost each expert so much (-ln of what it gave the pick), and moves the
  /// weights. RETURNS: what it cost the mixture. REQUIRES: finite costs, one per expert
  double learn(std::span<const double> costs);

  std::uint64_t rounds() const { return rounds_; }
  /// What was paid in all.
  double cost() const { return cost_; }
  double expert_cost(std::size_t expert) const { return expert_cost_[expert]; }
  /// What cost() may be at most: the bound above against the best single expert.
  double cost_bound() const;
  /// What the bound is above the best expert's cost: once, and for each round but the first.
  double once_beyond() const;
  double beyond_per_later_round() const;

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt
  Result<void> load(ByteReader& in);

 private:
  double share_;
  std::vector<double> log_weight_;
  std::vector<double> expert_cost_;
  std::vector<double> scratch_;
  std::uint64_t rounds_ = 0;
  double cost_ = 0.0;
};

}  // namespace hindsight
