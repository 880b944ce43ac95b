// The store in memory can do what a replicated log with several producers does.

#include "tests/store_support/memory_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "tests/store_support/store_helpers.h"

namespace hindsight {
namespace {

std::vector<std::string> run(const MemoryStoreOptions& options, int count) {
  MemoryStore store(options);
  const LogId log = *store.create_log("books");
  for (int i = 0; i < count; ++i) {
    store.append(log, to_payloads({numbered("", static_cast<std::uint64_t>(i))}),
                 [](const auto&) {});
  }
  store.flush();
  return to_texts(store.copy_of(log));
}

TEST(MemoryStore, DuplicatesArriveWithTheGivenProbability) {
  auto texts = run({.seed = 3, .duplicate_prob = 0.3}, 1000);
  // Mean 300, standard deviation 14.5: false with probability below 1e-9.
  EXPECT_GT(texts.size(), 1210U);
  EXPECT_LT(texts.size(), 1390U);
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  EXPECT_EQ(texts.size(), 1000U);
}

TEST(MemoryStore, ArrivalsAreReorderedWithinTheWindow) {
  constexpr std::size_t kWindow = 8;
  const auto texts = run({.seed = 3, .reorder_window = kWindow}, 1000);
  ASSERT_EQ(texts.size(), 1000U);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t sent = std::stoul(texts[i]);
    moved += sent == i ? 0 : 1;
    EXPECT_LE(sent, i + kWindow);
    EXPECT_LE(i, sent + kWindow);
  }
  EXPECT_GT(moved, 300U);
}

TEST(MemoryStore, WaitingForAnAnswerEndsThoughEntriesAreHeldBack) {
  MemoryStore store({.reorder_window = 1000});
  const LogId log = *store.create_log("books");
  EXPECT_TRUE(append_and_wait(store, log, {"a"}).ok());
}

TEST(MemoryStore, ForeignEntriesAreDeliveredToo) {
  MemoryStore store;
  const LogId log = *store.create_log("books");
  std::atomic<int> delivered = 0;
  ASSERT_TRUE(
      store
          .subscribe(log, 0,
                     [&](const auto& entries) { delivered += static_cast<int>(entries.size()); })
          .ok());
  ASSERT_TRUE(store.inject(log, to_payloads({"foreign"})).ok());
  ASSERT_TRUE(append_and_wait(store, log, {"own"}).ok());
  store.flush();
  EXPECT_EQ(delivered, 2);
  EXPECT_THAT(to_texts(store.copy_of(log)), ::testing::ElementsAre("foreign", "own"));
}

TEST(MemoryStore, FailsWhenToldTo) {
  MemoryStore store;
  const LogId log = *store.create_log("books");
  ASSERT_TRUE(append_and_wait(store, log, {"a"}).ok());
  store.fail_with({ErrorCode::kIo, "the disk is gone", ""});
  EXPECT_EQ(append_and_wait(store, log, {"b"}).error().message, "the disk is gone");
  EXPECT_EQ(store.failure()->code, ErrorCode::kIo);
  EXPECT_EQ(store.copy_of(log).size(), 1U);
}

TEST(MemoryStore, ReopenedHasTheSameLogsAndTheNextEpoch) {
  MemoryStore store;
  const LogId log = *store.create_log("books");
  ASSERT_TRUE(append_and_wait(store, log, {"a", "b"}).ok());
  ASSERT_TRUE(store.put_snapshot(log, 1, to_payload("s")).ok());
  store.flush();
  const auto copy = store.reopened();
  EXPECT_EQ(copy->identity().boot_epoch, store.identity().boot_epoch + 1);
  EXPECT_THAT(to_texts(copy->copy_of(log)), ::testing::ElementsAre("a", "b"));
  EXPECT_EQ(to_text(*copy->get_snapshot(log, 1)), "s");
}

}  // namespace
}  // namespace hindsight
