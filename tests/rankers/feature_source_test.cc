#include "src/rankers/feature_source.h"

#include <gtest/gtest.h>

#include "src/core/bytes.h"

namespace hindsight {
namespace {

Item item_with(std::uint32_t column, double value) {
  Item item;
  item.sparse_index = {column};
  item.sparse_value = {value};
  return item;
}

/// Saves what a store holds that nobody has checked. RETURNS: what loading it says.
Result<void> load_unchecked(const Item& item) {
  FeatureStore store;
  store.put(item);
  ByteWriter out;
  store.save(out);
  const std::vector<std::byte> bytes = out.take();
  ByteReader in(bytes);
  FeatureSource source(10.0);
  return source.load(in);
}

TEST(FeatureSource, TheSameLimitsHoldForItemsRequestsAndSavedFeatures) {
  const FeatureSource source(10.0);
  const auto highest = static_cast<std::uint32_t>(kMaxSparseColumns) - 1;
  const Item fit = item_with(1000, 0.5);
  const Item wide = item_with(highest, 0.5);
  const Item too_long = item_with(0, 11.0);
  EXPECT_TRUE(source.check_items(std::span(&fit, 1)).ok());
  EXPECT_TRUE(load_unchecked(fit).ok());
  EXPECT_EQ(source.check_items(std::span(&wide, 1)).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(load_unchecked(wide).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(source.check_items(std::span(&too_long, 1)).error().code, ErrorCode::kFeatureTooLong);
  EXPECT_EQ(load_unchecked(too_long).error().code, ErrorCode::kCorrupt);

  FeatureRows rows;
  rows.row_begin = {0, 1};
  rows.sparse_index = {highest};
  rows.sparse_value = {0.5};
  const std::vector<ItemIndex> candidates = {0};
  Request request;
  request.candidates = candidates;
  request.features = &rows;
  EXPECT_EQ(source.collect(request).error().code, ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace hindsight
