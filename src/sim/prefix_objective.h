// PrefixObjective: the total K-L cost of a growing library's queries, one weight per item, in
// O(items + queries).
//
// Candidate sets are prefixes of their topic's list, so that log-sum-exps over candidates are
// running sums along the list, and what a weight receives from all queries that saw it is a running
// sum from the other end. ChoiceObjective is the slow reference.
//
// Thread-safety: none; one owner at a time.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/core/newton.h"
#include "src/sim/growing_library.h"

namespace hindsight {

class PrefixObjective final : public ConvexObjective {
 public:
  /// Queries first ... last, counted from 1. `stream` must outlive the objective. Weights must stay
  /// within a ball of radius 300: beyond that, prefix sums could leave the range of double.
  /// REQUIRES: 1 <= first <= last <= queries
  PrefixObjective(const PrefixStream& stream, std::uint64_t first, std::uint64_t last);

  std::size_t dim() const override { return stream_.item_count; }
  double evaluate(std::span<const double> theta, std::span<double> gradient) override;
  void hessian_times(std::span<const double> v, std::span<double> out) const override;

 private:
  /// Queries of one topic and one prefix length.
  struct Group {
    std::uint32_t length = 0;
    std::uint32_t count = 0;
  };

  const PrefixStream& stream_;
  PackedLists topic_groups_;  // of each topic, the places of its groups, by length
  std::vector<Group> groups_;
  std::vector<double> picks_;      // of each item
  std::vector<double> weight_;     // e^(theta_i - largest of its topic), at the last theta
  std::vector<double> group_sum_;  // of each group: sum of `weight_` over its prefix
};

}  // namespace hindsight
