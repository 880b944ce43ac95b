#include "src/server/descriptors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <limits>

namespace hindsight {
namespace {

TEST(Descriptors, TheLimitIsRaisedAsFarAsItMayBe) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit low = before;
  low.rlim_cur = before.rlim_max / 2;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(raise_descriptor_limit(), before.rlim_max);
  rlimit after = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(Descriptors, ConnectionsLeaveSomeToFiles) {
  EXPECT_EQ(connections_within(10'000, 1'048'576), 10'000);
  EXPECT_EQ(connections_within(10'000, std::numeric_limits<std::uint64_t>::max()), 10'000);
  EXPECT_EQ(connections_within(10'000, 10'100), 9'844);
  EXPECT_EQ(connections_within(10'000, 1'024), 768);
  EXPECT_EQ(connections_within(10'000, 64), 32);
  EXPECT_EQ(connections_within(20, 64), 20);
}

}  // namespace
}  // namespace hindsight
