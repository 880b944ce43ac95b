#include "src/sim/delage_table2.h"

#include <limits>
#include <utility>

namespace hindsight {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::pair<std::string_view, DelageTable2Row> kRows[] = {
    {"noregret-klrank", {"NoRegret KLRank", 4.63, 0.257, 0.143, 0.344}},
    {"greedy-klrank", {"Greedy KLRank", kInfinity, 0.192, 0.178, 0.391}},
    {"online-ranknet", {"Online RankNet", kInfinity, 0.198, 0.161, 0.374}},
    {"category-ranking", {"Category Ranking", kInfinity, 0.232, 0.165, 0.373}},
    {"hits", {"HITS / PageRank", kInfinity, 0.265, 0.166, 0.362}},
    {"pagerank", {"HITS / PageRank", kInfinity, 0.265, 0.166, 0.362}},
    {"mcrank", {"McRank", kInfinity, 0.263, 0.140, 0.341}},
    {"random", {"Random Ranking", 4.93, 0.450, 0.097, 0.276}},
};

}  // namespace

const DelageTable2Row* find_delage_table2(std::string_view ranker) {
  for (const auto& [name, row] : kRows) {
    if (name == ranker) {
      return &row;
    }
  }
  return nullptr;
}

}  // namespace hindsight
