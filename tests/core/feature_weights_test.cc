#include "src/core/feature_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hindsight {
namespace {

using ::testing::ElementsAre;

constexpr WeightSpace kBall{.kind = WeightSpace::Kind::kBall, .radius = 1e6};

/// One row with a 2 in the dense column and a 3 in a sparse one.
FeatureRows row_with(std::uint32_t column) {
  FeatureRows rows;
  rows.dense_dim = 1;
  rows.dense = {2.0};
  rows.row_begin = {0, 1};
  rows.sparse_index = {column};
  rows.sparse_value = {3.0};
  return rows;
}

TEST(FeatureWeights, RowsAreWeightedColumnByColumn) {
  FeatureWeights weights;
  const FeatureRows rows = row_with(1);
  weights.grow(columns_of(rows));
  weights.add_rows(rows, std::vector<double>{0.5}, kBall);
  EXPECT_THAT(weights.values(), ElementsAre(1.0, 0.0, 1.5));
  std::vector<double> score(1);
  weights.scores(rows, score);
  EXPECT_EQ(score[0], 2.0 * 1.0 + 3.0 * 1.5);
}

}  // namespace
}  // namespace hindsight
