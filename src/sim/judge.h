// Judge: watches the queries of one run and writes down how the ranker did.
//
// Thread-safety: one owner at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hindsight/types.h"
#include "src/core/metrics.h"
#include "src/core/regret.h"

namespace hindsight {

/// Means over the queries of one block, which ends with query t.
struct JudgedPoint {
  std::uint64_t t = 0;
  double kl_cost = 0.0;  // infinite where any of the block's is
  double rel_distance = 0.0;
  double ndcg = 0.0;
};

struct ReplayResult {
  ClickMetrics metrics;
  std::vector<JudgedPoint> curve;
  /// Cumulated K-L cost of the first 1, 2, 4, 8, ... queries, and of all.
  std::vector<std::uint64_t> checkpoints;
  std::vector<double> cost_at;
  /// The ranker's own account at the same checkpoints; empty where it keeps none.
  std::vector<RegretAccount> regret;
};

/// 1, 2, 4, ... up to `count`, and `count` itself.
std::vector<std::uint64_t> power_of_two_checkpoints(std::uint64_t count);

class Judge {
 public:
  Judge(std::size_t query_count, std::size_t curve_points);

  std::size_t query_count() const { return query_count_; }

  /// The next query's list and pick. A list without prob_first is charged as one that could not
  /// have begun with the pick. REQUIRES: the pick was shown, in the whole candidate set
  void judge(const Decision& decision, ItemIndex pick);
  /// The same query has been learned; `account` may be null.
  void learned(const RegretAccount* account);

  /// REQUIRES: all queries were judged and learned
  ReplayResult result() &&;

 private:
  std::size_t query_count_;
  std::size_t curve_points_;
  std::uint64_t t_ = 0;
  double cost_sum_ = 0.0;
  ClickMetrics block_;  // since the last point of the curve
  ReplayResult result_;
};

}  // namespace hindsight
