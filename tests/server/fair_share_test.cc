#include "src/server/fair_share.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace hindsight {
namespace {

std::int64_t take_all(FairShare& share, std::uint64_t who) {
  std::int64_t taken = 0;
  while (share.take(who, 1)) {
    ++taken;
  }
  return taken;
}

TEST(FairShare, OneAloneGetsHalf) {
  FairShare share(1000);
  EXPECT_EQ(take_all(share, 1), 500);
  EXPECT_FALSE(share.has_room(1));
  EXPECT_TRUE(share.has_room(2));
}

TEST(FairShare, ANewcomerAlwaysFindsRoom) {
  FairShare share(1 << 20);
  for (std::uint64_t who = 1; who <= 15; ++who) {
    EXPECT_GT(take_all(share, who), 0) << who;
  }
}

TEST(FairShare, WhatIsGivenBackCanBeTakenAgain) {
  FairShare share(100);
  ASSERT_TRUE(share.take(1, 30));
  ASSERT_TRUE(share.take(1, 40));
  EXPECT_FALSE(share.take(1, 1));
  share.give_back(1, 30);
  EXPECT_TRUE(share.take(1, 1));
  share.give_back(1, 41);
  EXPECT_EQ(share.taken(), 0);
  EXPECT_EQ(take_all(share, 2), 50);
}

TEST(FairShare, WhatIsLargerThanItsShareGoesThroughAlone) {
  FairShare share(10);
  EXPECT_TRUE(share.take(1, 1000));
  EXPECT_FALSE(share.take(1, 1));
  share.give_back(1, 1000);
  EXPECT_TRUE(share.take(1, 1));
}

TEST(FairShare, ThreadsTogetherKeepTheAccount) {
  FairShare share(64);
  std::vector<std::thread> threads;
  for (std::uint64_t who = 0; who < 4; ++who) {
    threads.emplace_back([&share, who] {
      for (int i = 0; i < 10'000; ++i) {
        if (share.take(who, 3)) {
          share.give_back(who, 3);
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(share.taken(), 0);
}

}  // namespace
}  // namespace hindsight
