#include "src/engine/decision_table.h"

#include <gtest/gtest.h>

namespace hindsight {
namespace {

TEST(DecisionTable, ClicksCountAsLongAsTheirDecisionIsKnown) {
  DecisionTable table;
  table.open({0, 1}, 10, 0);
  DecisionSlot& clicked = table.open({0, 2}, 11, 0);
  const std::uint64_t bare = table.memory_bytes();
  table.clicks_of(clicked).clicked.push_back(4);
  for (std::uint64_t key = 0; key < DecisionTable::kUsualKeys; ++key) {
    table.add_key(clicked, key);
  }
  const std::uint64_t usual = table.memory_bytes();
  EXPECT_GT(usual, bare);
  EXPECT_EQ(table.unusual_key_bytes(), 0U);
  table.add_key(clicked, 98);
  table.add_key(clicked, 99);
  const std::uint64_t full = table.memory_bytes();
  EXPECT_EQ(full, usual + 32);
  EXPECT_EQ(table.unusual_key_bytes(), 32U);

  ByteWriter out;
  table.save(out);
  ByteReader in(out.bytes());
  DecisionTable loaded;
  ASSERT_TRUE(loaded.load(in, false));
  EXPECT_EQ(loaded.memory_bytes(), full);
  EXPECT_EQ(loaded.unusual_key_bytes(), 32U);

  for (DecisionTable* one : {&table, &loaded}) {
    one->close_oldest(1);
    one->forget_oldest_closed();
    EXPECT_EQ(one->memory_bytes(), full - bare / 2);  // the one without clicks is gone
    one->close_oldest(2);
    one->forget_oldest_closed();
    EXPECT_EQ(one->memory_bytes(), 0U);
    EXPECT_EQ(one->unusual_key_bytes(), 0U);
  }
  table.add_key(table.await({0, 9}, 3), 1);
  EXPECT_GT(table.memory_bytes(), 0U);
  table.drop_oldest_awaiting();
  EXPECT_EQ(table.memory_bytes(), 0U);
}

}  // namespace
}  // namespace hindsight
