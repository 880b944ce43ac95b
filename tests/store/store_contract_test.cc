// What every store promises (src/store/store.h), asked of each implementation.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "src/store/sqlite_store.h"
#include "tests/store_support/memory_store.h"
#include "tests/store_support/store_helpers.h"
#include "tests/support/temp_folder.h"

namespace hindsight {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct SqliteKind {
  TempFolder folder;
  std::unique_ptr<Store> store = make();

  std::unique_ptr<Store> make() {
    SqliteStoreOptions options;
    options.folder = folder.path() / "data";
    options.node = 7;
    auto opened = open_sqlite_store(options);
    EXPECT_TRUE(opened.ok()) << to_string(opened.error());
    return *std::move(opened);
  }
};

struct MemoryKind {
  std::unique_ptr<Store> store = std::make_unique<MemoryStore>(MemoryStoreOptions{.node = 7});
};

template <class Kind>
class StoreContract : public ::testing::Test {
 protected:
  Store& store() { return *kind_.store; }
  LogId make_log(std::string_view name = "books") {
    const Result<LogId> log = store().create_log(name);
    EXPECT_TRUE(log.ok());
    return *log;
  }

 private:
  Kind kind_;
};

/// Collects what a subscriber gets, and lets a test wait for it.
class Collector {
 public:
  Store::Sink sink() {
    return [this](std::vector<LogEntry> entries) {
      const std::lock_guard lock(mutex_);
      std::move(entries.begin(), entries.end(), std::back_inserter(entries_));
      changed_.notify_all();
    };
  }
  std::vector<LogEntry> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return entries_.size() >= count; });
    return entries_;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<LogEntry> entries_;
};

using Kinds = ::testing::Types<SqliteKind, MemoryKind>;
TYPED_TEST_SUITE(StoreContract, Kinds);

TYPED_TEST(StoreContract, KnowsItsNodeAndHasASecret) {
  EXPECT_EQ(this->store().identity().node, 7);
  EXPECT_GE(this->store().identity().boot_epoch, 1U);
  EXPECT_NE(this->store().identity().secret, (std::array<std::byte, 32>{}));
}

TYPED_TEST(StoreContract, ANewLogIsEmpty) {
  const LogId log = this->make_log();
  EXPECT_EQ(*this->store().head(log), 0U);
  EXPECT_EQ(*this->store().first(log), 0U);
  EXPECT_THAT(*this->store().read(log, 0, 10), IsEmpty());
  EXPECT_THAT(*this->store().snapshots(log), IsEmpty());
}

TYPED_TEST(StoreContract, ListsLogsInTheOrderOfTheirMaking) {
  const LogId b = this->make_log("b");
  const LogId a = this->make_log("a");
  const auto logs = *this->store().logs();
  ASSERT_EQ(logs.size(), 2U);
  EXPECT_EQ(logs[0].id, b);
  EXPECT_EQ(logs[0].name, "b");
  EXPECT_EQ(logs[1].id, a);
  EXPECT_EQ(logs[1].name, "a");
}

TYPED_TEST(StoreContract, ANameIsUsedOnce) {
  this->make_log("a");
  EXPECT_EQ(this->store().create_log("a").error().code, ErrorCode::kConflict);
}

TYPED_TEST(StoreContract, ADroppedNameGetsAnotherLog) {
  const LogId old_log = this->make_log("a");
  ASSERT_TRUE(append_and_wait(this->store(), old_log, {"x", "y"}).ok());
  ASSERT_TRUE(this->store().drop_log(old_log).ok());
  EXPECT_EQ(this->store().head(old_log).error().code, ErrorCode::kNotFound);
  const LogId new_log = this->make_log("a");
  EXPECT_NE(old_log, new_log);
  EXPECT_THAT(*this->store().read(new_log, 0, 10), IsEmpty());
}

TYPED_TEST(StoreContract, UnknownLogsAreNotFound) {
  Store& store = this->store();
  const LogId log = 99;
  EXPECT_EQ(append_and_wait(store, log, {"a"}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.read(log, 0, 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.read_at(log, 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.head(log).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.first(log).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.drop_log(log).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.truncate_before(log, 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.subscribe(log, 0, [](const auto&) {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.rewrite(log, [](const LogEntry&) { return std::nullopt; }).error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(store.put_snapshot(log, 0, {}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.snapshots(log).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(store.get_snapshot(log, 0).error().code, ErrorCode::kNotFound);
  store.unsubscribe(log);
}

TYPED_TEST(StoreContract, ReadsWhatWasAppendedInOrder) {
  const LogId log = this->make_log();
  const Result<Position> last = append_and_wait(this->store(), log, {"a", "", "c"});
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(*this->store().head(log), *last);
  const auto entries = *this->store().read(log, 0, 10);
  EXPECT_THAT(to_texts(entries), ElementsAre("a", "", "c"));
  EXPECT_EQ(entries.back().position, *last);
  EXPECT_THAT(to_texts(*this->store().read(log, 0, 2)), ElementsAre("a", ""));
  EXPECT_THAT(to_texts(*this->store().read(log, entries[0].position, 2)), ElementsAre("", "c"));
  EXPECT_THAT(*this->store().read(log, *last, 2), IsEmpty());
}

TYPED_TEST(StoreContract, ReadsOneEntryAtItsPosition) {
  const LogId log = this->make_log();
  const Position last = *append_and_wait(this->store(), log, {"a", "b"});
  EXPECT_EQ(to_text(*this->store().read_at(log, last)), "b");
  EXPECT_EQ(this->store().read_at(log, last + 1).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(this->store().read_at(log, 0).error().code, ErrorCode::kNotFound);
}

TYPED_TEST(StoreContract, AppendingNothingGivesTheHead) {
  const LogId log = this->make_log();
  const Position last = *append_and_wait(this->store(), log, {"a", "b"});
  EXPECT_EQ(*append_and_wait(this->store(), log, {}), last);
}

TYPED_TEST(StoreContract, LogsDoNotMix) {
  const LogId a = this->make_log("a");
  const LogId b = this->make_log("b");
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(append_and_wait(this->store(), a, {numbered("a", i)}).ok());
    ASSERT_TRUE(append_and_wait(this->store(), b, {numbered("b", i)}).ok());
  }
  EXPECT_THAT(to_texts(*this->store().read(a, 0, 10)), ElementsAre("a0", "a1", "a2", "a3", "a4"));
  EXPECT_THAT(to_texts(*this->store().read(b, 0, 10)), ElementsAre("b0", "b1", "b2", "b3", "b4"));
}

TYPED_TEST(StoreContract, LargeEntriesComeBackWhole) {
  const LogId log = this->make_log();
  std::string large(3'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) {
    large[i] = static_cast<char>(i * i % 251);
  }
  const Position last = *append_and_wait(this->store(), log, {"before", large, "after"});
  EXPECT_EQ(to_text(*this->store().read_at(log, last - 1)), large);
}

TYPED_TEST(StoreContract, ASubscriberGetsThePastThenTheFuture) {
  const LogId log = this->make_log();
  std::vector<std::string> past;
  for (int i = 0; i < 10'000; ++i) {
    past.push_back(std::to_string(i));
  }
  ASSERT_TRUE(append_and_wait(this->store(), log, past).ok());
  Collector collector;
  ASSERT_TRUE(this->store().subscribe(log, 0, collector.sink()).ok());
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(append_and_wait(this->store(), log, {numbered("live", i)}).ok());
    // Done comes after the subscriber has the entry, whether it has caught up or not.
    EXPECT_GE(collector.size(), past.size() + static_cast<std::size_t>(i) + 1);
  }
  const auto entries = collector.wait_for(past.size() + 100);
  ASSERT_EQ(entries.size(), past.size() + 100);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ASSERT_EQ(to_text(entries[i].payload),
              i < past.size() ? past[i] : numbered("live", i - past.size()));
    ASSERT_TRUE(i == 0 || entries[i - 1].position < entries[i].position);
  }
  this->store().unsubscribe(log);
}

TYPED_TEST(StoreContract, ASubscriberStartsAfterAPosition) {
  const LogId log = this->make_log();
  const Position last = *append_and_wait(this->store(), log, {"a", "b", "c"});
  Collector collector;
  ASSERT_TRUE(this->store().subscribe(log, last, collector.sink()).ok());
  ASSERT_TRUE(append_and_wait(this->store(), log, {"d"}).ok());
  EXPECT_THAT(to_texts(collector.wait_for(1)), ElementsAre("d"));
  this->store().unsubscribe(log);
}

TYPED_TEST(StoreContract, ALogHasOneSubscriber) {
  const LogId log = this->make_log();
  Collector collector;
  ASSERT_TRUE(this->store().subscribe(log, 0, collector.sink()).ok());
  EXPECT_EQ(this->store().subscribe(log, 0, collector.sink()).error().code, ErrorCode::kConflict);
  this->store().unsubscribe(log);
  EXPECT_TRUE(this->store().subscribe(log, 0, collector.sink()).ok());
  this->store().unsubscribe(log);
}

TYPED_TEST(StoreContract, NothingComesAfterUnsubscribing) {
  const LogId log = this->make_log();
  std::atomic<bool> subscribed = true;
  std::atomic<int> late = 0;
  ASSERT_TRUE(this->store()
                  .subscribe(log, 0, [&](const auto&) { late += subscribed.load() ? 0 : 1; })
                  .ok());
  std::vector<std::future<void>> answers;
  for (int i = 0; i < 100; ++i) {
    auto promise = std::make_shared<std::promise<void>>();
    answers.push_back(promise->get_future());
    this->store().append(log, to_payloads({"x"}), [promise](const auto&) { promise->set_value(); });
  }
  this->store().unsubscribe(log);
  subscribed = false;
  for (auto& answer : answers) {
    answer.wait();
  }
  EXPECT_EQ(late, 0);
  EXPECT_EQ(read_all(this->store(), log)->size(), 100U);
}

TYPED_TEST(StoreContract, DroppingALogEndsItsSubscription) {
  const LogId log = this->make_log();
  std::atomic<bool> dropped = false;
  std::atomic<int> late = 0;
  ASSERT_TRUE(
      this->store().subscribe(log, 0, [&](const auto&) { late += dropped.load() ? 1 : 0; }).ok());
  for (int i = 0; i < 50; ++i) {
    this->store().append(log, to_payloads({"x"}), [](const auto&) {});
  }
  ASSERT_TRUE(this->store().drop_log(log).ok());
  dropped = true;
  const LogId other = this->make_log("other");
  ASSERT_TRUE(append_and_wait(this->store(), other, {"y"}).ok());
  EXPECT_EQ(late, 0);
}

TYPED_TEST(StoreContract, ManyProducersLoseNothingAndKeepTheirOwnOrder) {
  const LogId log = this->make_log();
  Collector collector;
  ASSERT_TRUE(this->store().subscribe(log, 0, collector.sink()).ok());
  constexpr int kProducers = 8;
  constexpr int kEach = 200;
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      for (int i = 0; i < kEach; ++i) {
        EXPECT_TRUE(append_and_wait(this->store(), log, {numbered(numbered("", p) + ":", i)}).ok());
      }
    });
  }
  for (auto& producer : producers) {
    producer.join();
  }
  const auto delivered = to_texts(collector.wait_for(kProducers * kEach));
  EXPECT_EQ(delivered, to_texts(*read_all(this->store(), log)));
  std::vector<int> next(kProducers, 0);
  for (const std::string& text : delivered) {
    const int producer = text[0] - '0';
    EXPECT_EQ(text, numbered(numbered("", producer) + ":", next[producer]++));
  }
  this->store().unsubscribe(log);
}

TYPED_TEST(StoreContract, TruncationDropsTheBeginning) {
  const LogId log = this->make_log();
  const Position last = *append_and_wait(this->store(), log, {"a", "b", "c", "d"});
  EXPECT_EQ(*this->store().first(log), 1U);
  ASSERT_TRUE(this->store().truncate_before(log, last - 1).ok());
  EXPECT_EQ(*this->store().first(log), last - 1);
  EXPECT_THAT(to_texts(*this->store().read(log, 0, 10)), ElementsAre("c", "d"));
  EXPECT_EQ(this->store().read_at(log, last - 2).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(this->store().truncate_before(log, last + 1).ok());
  EXPECT_EQ(*this->store().first(log), 0U);
  EXPECT_EQ(*this->store().head(log), last);
  const Position next = *append_and_wait(this->store(), log, {"e"});
  EXPECT_GT(next, last);
  EXPECT_THAT(to_texts(*this->store().read(log, 0, 10)), ElementsAre("e"));
}

TYPED_TEST(StoreContract, RewritingReplacesWhatTheEditReturns) {
  const LogId log = this->make_log();
  ASSERT_TRUE(append_and_wait(this->store(), log, {"keep", "erase", "keep", "erase"}).ok());
  const auto replaced =
      this->store().rewrite(log, [](const LogEntry& entry) -> std::optional<Payload> {
        if (to_text(entry.payload) == "erase") {
          return to_payload("a longer text than before");
        }
        return std::nullopt;
      });
  EXPECT_EQ(*replaced, 2U);
  EXPECT_THAT(
      to_texts(*this->store().read(log, 0, 10)),
      ElementsAre("keep", "a longer text than before", "keep", "a longer text than before"));
}

TYPED_TEST(StoreContract, TheNewestTwoSnapshotsAreKept) {
  const LogId log = this->make_log();
  const Position last = *append_and_wait(this->store(), log, {"a", "b", "c"});
  for (Position position = last - 2; position <= last; ++position) {
    ASSERT_TRUE(
        this->store().put_snapshot(log, position, to_payload(numbered("s", position))).ok());
  }
  EXPECT_THAT(*this->store().snapshots(log), ElementsAre(last, last - 1));
  EXPECT_EQ(to_text(*this->store().get_snapshot(log, last)), numbered("s", last));
  EXPECT_EQ(this->store().get_snapshot(log, last - 2).error().code, ErrorCode::kNotFound);
}

TYPED_TEST(StoreContract, ASnapshotBelongsWithinItsLog) {
  const LogId log = this->make_log();
  EXPECT_TRUE(this->store().put_snapshot(log, 0, to_payload("empty")).ok());
  EXPECT_EQ(this->store().put_snapshot(log, 1, to_payload("ahead")).error().code,
            ErrorCode::kInvalidArgument);
}

TYPED_TEST(StoreContract, AHealthyStoreHasNoFailure) {
  EXPECT_FALSE(this->store().failure().has_value());
}

}  // namespace
}  // namespace hindsight
