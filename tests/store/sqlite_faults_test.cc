// Devices that fail: nothing is acknowledged that is not there, and nothing is tried again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "src/store/sqlite_db.h"
#include "src/store/sqlite_store.h"
#include "tests/store_support/device_faults.h"
#include "tests/store_support/store_helpers.h"

namespace hindsight {
namespace {

std::unique_ptr<Store> open_or_fail(const SqliteStoreOptions& options) {
  auto store = open_sqlite_store(options);
  EXPECT_TRUE(store.ok()) << to_string(store.error());
  return store.ok() ? *std::move(store) : nullptr;
}

// Appends until the store fails, then checks what it says and, opened again, what it holds.
void check_failing_at(const DeviceFault& fault, long nth) {
  SCOPED_TRACE(fault.name + numbered(" at step ", static_cast<std::uint64_t>(nth)));
  const MemoryFolder folder;
  FaultVfs vfs("faults");
  SqliteStoreOptions options = options_on(vfs, folder.path() / "data");
  std::set<std::string> acknowledged;
  LogId log = 0;
  {
    const auto store = open_or_fail(options);
    ASSERT_NE(store, nullptr);
    log = *store->create_log("books");
    vfs.fail(fault, nth);
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
    EXPECT_EQ(first_error->code, ErrorCode::kIo) << first_error->message;
    EXPECT_THAT(first_error->message, ::testing::HasSubstr(options.folder.string()));
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
  vfs.mend();
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

TEST(SqliteFaults, StopAcknowledgingForGood) {
  // Early ones hit the write-ahead log and the mark; the late ones hit the checkpoint into the
  // database.
  for (const DeviceFault& fault : device_faults()) {
    if (fault.for_ever || (fault.step != FileStep::kWrite && fault.step != FileStep::kSync)) {
      continue;
    }
    for (const long nth : fault.step == FileStep::kWrite
                              ? std::vector<long>{1, 2, 3, 7, 50, 51, 9340, 10'000, 12'000}
                              : std::vector<long>{1, 2, 3, 20, 800, 2000, 2666, 2667, 2668, 2669}) {
      check_failing_at(fault, nth);
    }
  }
}

TEST(SqliteFaults, EveryAcknowledgedAppendIsSyncedInTheDatabaseAndInTheMark) {
  const MemoryFolder folder;
  FaultVfs device("faults");
  const auto store = open_or_fail(options_on(device, folder.path() / "data"));
  ASSERT_NE(store, nullptr);
  const LogId log = *store->create_log("books");
  for (int i = 0; i < 3; ++i) {
    const long all = device.steps(FileStep::kSync);
    const long of_sqlite = device.sqlite_steps(FileStep::kSync);
    ASSERT_TRUE(append_and_wait(*store, log, {"entry"}).ok());
    EXPECT_EQ(device.sqlite_steps(FileStep::kSync), of_sqlite + 1);
    EXPECT_EQ(device.steps(FileStep::kSync), all + 2);
  }
}

TEST(SqliteFaults, AProgramThatLocksTheDatabaseIsWaitedFor) {
  if (std::getenv("HINDSIGHT_FULL") == nullptr) {
    GTEST_SKIP() << "takes longer than SQLite waits by itself, " << kBusyMs << " ms";
  }
  const MemoryFolder folder;
  std::mutex mutex;
  std::vector<std::string> said;
  SqliteStoreOptions options;
  options.folder = folder.path() / "data";
  options.warn = [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    said.emplace_back(line);
  };
  const auto store = open_or_fail(options);
  ASSERT_NE(store, nullptr);
  const LogId log = *store->create_log("books");
  sqlite3* tool = nullptr;
  ASSERT_EQ(sqlite3_open((options.folder / "hindsight.db").c_str(), &tool), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(tool, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  std::thread releaser([tool] {
    std::this_thread::sleep_for(std::chrono::milliseconds(kBusyMs + 2'000));
    EXPECT_EQ(sqlite3_exec(tool, "ROLLBACK", nullptr, nullptr, nullptr), SQLITE_OK);
  });
  EXPECT_TRUE(append_and_wait(*store, log, {"entry"}).ok());
  releaser.join();
  sqlite3_close(tool);
  EXPECT_FALSE(store->failure());
  const std::lock_guard lock(mutex);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_NE(said[0].find("another program"), std::string::npos);
}

/// A life of a store, and what its callers know of it.
class ScriptedStore {
 public:
  ScriptedStore(FaultVfs& device, const std::filesystem::path& folder)
      : device_(device), options_(options_on(device, folder)) {}

  void run() {
    live([this](Store& store) { first_life(store); });
    live([this](Store& store) { second_life(store); });
    device_.mend();
    live([this](Store& store) { check(store); });
    EXPECT_TRUE(checked_);
  }

 private:
  void live(const std::function<void(Store&)>& life) {
    const auto store = open_sqlite_store(options_);
    if (!store.ok()) {
      named(store.error());
      return;
    }
    life(**store);
  }

  void named(const Error& error) const {
    EXPECT_TRUE(device_.has_failed()) << error.message;
    EXPECT_EQ(error.code, ErrorCode::kIo) << error.message;
    EXPECT_THAT(error.message, ::testing::HasSubstr(options_.folder.parent_path().string()));
  }

  /// A change of the log: after the first that fails there is no other.
  template <class Outcome>
  bool changed(Store& store, const Outcome& outcome) {
    if (outcome.ok()) {
      EXPECT_FALSE(stopped_) << "acknowledged after a failure";
      return true;
    }
    named(outcome.error());
    EXPECT_TRUE(store.failure().has_value());
    stopped_ = true;
    return false;
  }

  void append(Store& store, LogId log, const std::string& prefix, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string text =
          prefix + numbered("-", ++texts_) + std::string(static_cast<std::size_t>(i) * 700, 'x');
      if (changed(store, append_and_wait(store, log, {text}))) {
        acknowledged_.push_back(text);
      }
    }
  }

  void first_life(Store& store) {
    stopped_ = false;
    const Result<LogId> books = store.create_log("books");
    const Result<LogId> films = store.create_log("films");
    if (!changed(store, books) || !changed(store, films)) {
      return;
    }
    append(store, *books, "cut", 2);
    append(store, *books, "kept", 4);
    append(store, *films, "dropped", 4);
    put_snapshot(store, *books);
    changed(store, store.truncate_before(*books, 3));
    const auto secret = append_and_wait(store, *books, {"secret"});
    if (changed(store, secret)) {
      const auto erased = store.rewrite(*books, [](const LogEntry& entry) {
        return to_text(entry.payload) == "secret" ? std::optional(to_payload("erased"))
                                                  : std::nullopt;
      });
      // Where only reading failed, the store goes on.
      erased_ = erased.ok();
      if (!erased.ok()) {
        named(erased.error());
        stopped_ = store.failure().has_value();
      }
    }
    changed_or_left(store, store.drop_log(*films));
    append(store, *books, "kept", 4);
    put_snapshot(store, *books);
  }

  void second_life(Store& store) {
    stopped_ = false;
    const std::vector<LogInfo> logs = *store.logs();
    for (const LogInfo& log : logs) {
      if (log.name == "books") {
        append(store, log.id, "kept", 3);
        put_snapshot(store, log.id);
      }
    }
  }

  /// Dropping ends with removing files, whose failure leaves nothing but files.
  void changed_or_left(Store& store, const Result<void>& dropped) {
    if (!dropped.ok()) {
      named(dropped.error());
      stopped_ = store.failure().has_value();
    }
  }

  /// A snapshot that fails stops nothing.
  void put_snapshot(Store& store, LogId log) {
    const Position position = *store.head(log);
    const Payload bytes = to_payload(std::string(5000, 's'));
    const Result<void> put = store.put_snapshot(log, position, bytes);
    if (put.ok()) {
      snapshot_ = position;
    } else {
      named(put.error());
    }
  }

  void check(Store& store) {
    std::multiset<std::string> texts;
    const std::vector<LogInfo> logs = *store.logs();
    for (const LogInfo& log : logs) {
      const auto entries = read_all(store, log.id);
      ASSERT_TRUE(entries.ok()) << to_string(entries.error());
      for (const LogEntry& entry : *entries) {
        texts.insert(to_text(entry.payload));
      }
      if (log.name == "books") {
        EXPECT_EQ(append_and_wait(store, log.id, {"again"}).ok(), true);
        const auto snapshots = *store.snapshots(log.id);
        for (const Position position : snapshots) {
          EXPECT_TRUE(store.get_snapshot(log.id, position).ok());
        }
        EXPECT_TRUE(!snapshot_ || (!snapshots.empty() && snapshots.front() >= *snapshot_));
      }
    }
    for (const std::string& text : acknowledged_) {
      const bool may_be_gone = text.starts_with("cut") || text.starts_with("dropped");
      EXPECT_TRUE(texts.count(text) == 1 || (may_be_gone && !texts.contains(text))) << text;
    }
    EXPECT_TRUE(!erased_ || !texts.contains("secret"));
    EXPECT_LE(texts.count("secret") + texts.count("erased"), 1U);
    checked_ = true;
  }

  FaultVfs& device_;
  SqliteStoreOptions options_;
  std::uint64_t texts_ = 0;
  std::vector<std::string> acknowledged_;
  std::optional<Position> snapshot_;
  bool erased_ = false;
  bool stopped_ = false;
  bool checked_ = false;
};

TEST(SqliteFaults, AnyStepOfALifeMayFailOnceOrForEver) {
  with_each_device_fault([](FaultVfs& device, const std::filesystem::path& folder) {
    ScriptedStore(device, folder).run();
  });
}

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
