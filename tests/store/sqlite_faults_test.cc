// Devices that fail: nothing is acknowledged that is not there, and nothing is tried again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <set>

#include "src/store/sqlite_store.h"
#include "tests/store_support/fault_vfs.h"
#include "tests/store_support/memory_folder.h"
#include "tests/store_support/store_helpers.h"

namespace hindsight {
namespace {

std::unique_ptr<Store> open_or_fail(const SqliteStoreOptions& options) {
  auto store = open_sqlite_store(options);
  EXPECT_TRUE(store.ok()) << to_string(store.error());
  return store.ok() ? *std::move(store) : nullptr;
}

struct Fault {
  FaultVfs::Kind kind;
  int code;
  ErrorCode expected;
};

class SqliteFaults : public ::testing::TestWithParam<Fault> {};

// Appends until the store fails, then checks what it says and, opened again, what it holds.
void check_failing_at(const Fault& fault, long nth) {
  SCOPED_TRACE(nth);
  const MemoryFolder folder;
  FaultVfs vfs("faults");
  SqliteStoreOptions options;
  options.folder = folder.path() / "data";
  options.vfs = vfs.name();
  std::set<std::string> acknowledged;
  LogId log = 0;
  {
    const auto store = open_or_fail(options);
    ASSERT_NE(store, nullptr);
    log = *store->create_log("books");
    vfs.fail(fault.kind, nth, fault.code);
    std::optional<Error> first_error;
    for (int i = 0; i < 3000 && !first_error; ++i) {
      const std::string text = numbered("entry", i) + std::string(2000, 'x');
      const Result<Position> done = append_and_wait(*store, log, {text});
      if (done.ok()) {
        acknowledged.insert(text);
      } else {
        first_error = done.error();
      }
    }
    ASSERT_TRUE(first_error.has_value());
    EXPECT_EQ(first_error->code, fault.expected) << first_error->message;
    EXPECT_THAT(first_error->message, ::testing::HasSubstr("hindsight.db"));
    ASSERT_TRUE(store->failure().has_value());
    EXPECT_EQ(store->failure()->message, first_error->message);
    // For good, though the device would work again.
    EXPECT_EQ(append_and_wait(*store, log, {"later"}).error().message, first_error->message);
    EXPECT_EQ(store->create_log("other").error().message, first_error->message);
    EXPECT_EQ(store->truncate_before(log, 1).error().message, first_error->message);
    EXPECT_EQ(store->drop_log(log).error().message, first_error->message);
    // What is durable can still be read.
    const auto entries = read_all(*store, log);
    ASSERT_TRUE(entries.ok());
    EXPECT_EQ(entries->size(), acknowledged.size());
  }
  EXPECT_EQ(vfs.after_failure(), 0) << "writes or syncs after the failure";
  options.vfs.clear();
  const auto store = open_or_fail(options);
  ASSERT_NE(store, nullptr);
  const auto texts = to_texts(*read_all(*store, log));
  EXPECT_EQ(std::set(texts.begin(), texts.end()).size(), texts.size());
  for (const std::string& text : acknowledged) {
    EXPECT_EQ(std::count(texts.begin(), texts.end(), text), 1);
  }
  // The group that failed may be there, nothing else.
  EXPECT_LE(texts.size(), acknowledged.size() + 1);
}

TEST_P(SqliteFaults, StopAcknowledgingForGood) {
  // Early ones hit the write-ahead log; the late ones hit the checkpoint into the database.
  const std::vector<long> places =
      GetParam().kind == FaultVfs::Kind::kWrite
          ? std::vector<long>{1, 2, 3, 7, 50, 51, 8005, 9000, 10'000}
          : std::vector<long>{1, 2, 3, 20, 800, 1000, 1331, 1332, 1333, 1334, 1335, 1336};
  for (const long nth : places) {
    check_failing_at(GetParam(), nth);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Devices, SqliteFaults,
    ::testing::Values(Fault{FaultVfs::Kind::kWrite, SQLITE_FULL, ErrorCode::kIo},
                      Fault{FaultVfs::Kind::kWrite, SQLITE_IOERR_WRITE, ErrorCode::kIo},
                      Fault{FaultVfs::Kind::kSync, SQLITE_IOERR_FSYNC, ErrorCode::kIo}));

TEST(SqliteMarkFaults, AFailedSyncOfTheMarkStopsAcknowledgingForGood) {
  const MemoryFolder folder;
  std::atomic<bool> failing = false;
  std::atomic<int> syncs_after = 0;
  SqliteStoreOptions options;
  options.folder = folder.path() / "data";
  options.sync_mark = [&](int) {
    syncs_after += failing ? 1 : 0;
    errno = EIO;
    return failing ? -1 : 0;
  };
  LogId log = 0;
  {
    const auto store = open_or_fail(options);
    ASSERT_NE(store, nullptr);
    log = *store->create_log("books");
    ASSERT_TRUE(append_and_wait(*store, log, {"good"}).ok());
    std::atomic<int> delivered = 0;
    ASSERT_TRUE(
        store
            ->subscribe(log, 0,
                        [&](const auto& entries) { delivered += static_cast<int>(entries.size()); })
            .ok());
    failing = true;
    const Result<Position> done = append_and_wait(*store, log, {"unknown"});
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.error().code, ErrorCode::kIo);
    EXPECT_THAT(done.error().message, ::testing::HasSubstr("high-water"));
    EXPECT_EQ(store->failure()->message, done.error().message);
    failing = false;
    EXPECT_EQ(append_and_wait(*store, log, {"later"}).error().message, done.error().message);
    EXPECT_EQ(syncs_after, 1);
    EXPECT_EQ(to_texts(*read_all(*store, log)), std::vector<std::string>{"good"});
    store->unsubscribe(log);
    EXPECT_LE(delivered, 1) << "what was not acknowledged was delivered";
  }
  const auto store = open_or_fail(options);
  ASSERT_NE(store, nullptr);
  const auto texts = to_texts(*read_all(*store, log));
  EXPECT_EQ(texts.at(0), "good");
  EXPECT_LE(texts.size(), 2U);
}

TEST(SqliteMarkFaults, EverythingQueuedFailsWithTheSameError) {
  const MemoryFolder folder;
  std::atomic<bool> failing = false;
  std::promise<void> go;
  SqliteStoreOptions options;
  options.folder = folder.path() / "data";
  options.sync_mark = [&, gate = go.get_future().share()](int) {
    if (!failing) {
      return 0;
    }
    gate.wait();
    errno = EIO;
    return -1;
  };
  const auto store = open_or_fail(options);
  ASSERT_NE(store, nullptr);
  const LogId log = *store->create_log("books");
  failing = true;
  std::vector<std::future<Result<Position>>> answers;
  for (int i = 0; i < 20; ++i) {
    auto promise = std::make_shared<std::promise<Result<Position>>>();
    answers.push_back(promise->get_future());
    store->append(log, to_payloads({numbered("", i)}),
                  [promise](Result<Position> result) { promise->set_value(std::move(result)); });
  }
  go.set_value();
  for (auto& answer : answers) {
    const Result<Position> result = answer.get();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().message, store->failure()->message);
  }
}

TEST(SqliteQueue, RefusesWhatDoesNotFitAndGoesOn) {
  const MemoryFolder folder;
  std::promise<void> go;
  std::atomic<bool> holding = false;
  SqliteStoreOptions options;
  options.folder = folder.path() / "data";
  options.max_queued_bytes = 10'000;
  options.sync_mark = [&, gate = go.get_future().share()](int) {
    if (holding) {
      gate.wait();
    }
    return 0;
  };
  const auto store = open_or_fail(options);
  ASSERT_NE(store, nullptr);
  const LogId log = *store->create_log("books");
  holding = true;
  std::vector<std::future<Result<Position>>> answers;
  for (int i = 0; i < 10; ++i) {
    auto promise = std::make_shared<std::promise<Result<Position>>>();
    answers.push_back(promise->get_future());
    store->append(log, to_payloads({std::string(2000, 'x')}),
                  [promise](Result<Position> result) { promise->set_value(std::move(result)); });
  }
  go.set_value();
  int accepted = 0;
  for (auto& answer : answers) {
    const Result<Position> result = answer.get();
    accepted += result.ok() ? 1 : 0;
    EXPECT_TRUE(result.ok() || result.error().code == ErrorCode::kOverloaded);
  }
  EXPECT_EQ(accepted, 4);  // of 2,128 bytes each
  EXPECT_FALSE(store->failure().has_value());
  EXPECT_TRUE(append_and_wait(*store, log, {"again"}).ok());
  EXPECT_EQ(read_all(*store, log)->size(), 5U);
}

}  // namespace
}  // namespace hindsight
