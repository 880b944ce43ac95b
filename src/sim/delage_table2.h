// [Delage09] Table 2: what the paper measured on its own cut of Cora.

#pragma once

#include <string_view>

namespace hindsight {

/// Probabilities and rates as fractions; an infinite cost is infinity.
struct DelageTable2Row {
  std::string_view name;  // as the paper prints it
  double kl_cost = 0.0;
  double rel_distance = 0.0;
  double first_rate = 0.0;
  double ndcg = 0.0;
};

inline constexpr unsigned kDelageTable2Queries = 22'000;

/// RETURNS: the row of one of our rankers, or null where the paper has none. HITS and PageRank
/// share a row.
const DelageTable2Row* find_delage_table2(std::string_view ranker);

}  // namespace hindsight
