// The embedded store: what stays over openings, who may open it, what people find in its files.

#include "src/store/sqlite_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "src/store/sqlite_view.h"
#include "tests/store_support/memory_folder.h"
#include "tests/store_support/store_helpers.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SqliteStoreTest : public ::testing::Test {
 protected:
  fs::path data() const { return folder_.path() / "deep" / "data"; }
  fs::path database() const { return data() / "hindsight.db"; }

  std::unique_ptr<Store> open() {
    SqliteStoreOptions options;
    options.folder = data();
    auto store = open_sqlite_store(options);
    EXPECT_TRUE(store.ok()) << to_string(store.error());
    return store.ok() ? *std::move(store) : nullptr;
  }

  Error open_error() {
    SqliteStoreOptions options;
    options.folder = data();
    const auto store = open_sqlite_store(options);
    EXPECT_FALSE(store.ok());
    return store.ok() ? Error() : store.error();
  }

  /// Runs SQL on the closed store, as a person would.
  void run_sql(const std::string& sql) const {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(database().c_str(), &db), SQLITE_OK);
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK)
        << sql << ": " << error;
    sqlite3_free(error);
    sqlite3_close(db);
  }

  /// RETURNS: whether any file of the folder holds these bytes.
  bool is_in_files(std::string_view bytes) const {
    for (const auto& it : fs::recursive_directory_iterator(data())) {
      if (it.is_regular_file()) {
        std::ifstream in(it.path(), std::ios::binary);
        const std::string all((std::istreambuf_iterator<char>(in)),
                              std::istreambuf_iterator<char>());
        if (all.find(bytes) != std::string::npos) {
          return true;
        }
      }
    }
    return false;
  }

  /// What is dropped is removed bit by bit, between groups of appends.
  void wait_until_gone(Store& store, LogId log, std::string_view bytes) const {
    while (is_in_files(bytes)) {
      // Rewriting empties the write-ahead log.
      ASSERT_TRUE(
          store.rewrite(log, [](const LogEntry& entry) { return std::optional(entry.payload); })
              .ok());
    }
  }

  MemoryFolder folder_;
};

std::uint32_t mode_of(const fs::path& path) {
  struct stat info = {};
  EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
  return info.st_mode & 0777U;
}

TEST_F(SqliteStoreTest, EverythingStaysOverOpenings) {
  LogId log = 0;
  {
    const auto store = open();
    log = *store->create_log("books");
    ASSERT_TRUE(append_and_wait(*store, log, {"a", "b", "c"}).ok());
    ASSERT_TRUE(store->truncate_before(log, 2).ok());
    ASSERT_TRUE(store->put_snapshot(log, 2, to_payload("snapshot")).ok());
  }
  const auto store = open();
  EXPECT_EQ(store->logs()->front().name, "books");
  EXPECT_EQ(*store->first(log), 2U);
  EXPECT_THAT(to_texts(*read_all(*store, log)), ElementsAre("b", "c"));
  EXPECT_EQ(to_text(*store->get_snapshot(log, 2)), "snapshot");
  EXPECT_GT(store->size_bytes(), 0U);
}

TEST_F(SqliteStoreTest, EveryOpeningHasAGreaterEpochAndTheSameSecret) {
  std::uint64_t epoch = 0;
  auto secret = open()->identity().secret;
  for (int i = 0; i < 5; ++i) {
    const auto store = open();
    EXPECT_GT(store->identity().boot_epoch, epoch);
    EXPECT_EQ(store->identity().secret, secret);
    epoch = store->identity().boot_epoch;
  }
}

TEST_F(SqliteStoreTest, TwoStoresHaveTwoSecrets) {
  const auto secret = open()->identity().secret;
  fs::remove_all(data());
  EXPECT_NE(open()->identity().secret, secret);
}

TEST_F(SqliteStoreTest, DroppedLogsStayDroppedAndTheirIdsUnused) {
  LogId old_log = 0;
  {
    const auto store = open();
    old_log = *store->create_log("books");
    ASSERT_TRUE(append_and_wait(*store, old_log, {"a dropped entry"}).ok());
    ASSERT_TRUE(store->put_snapshot(old_log, 1, to_payload("s")).ok());
    ASSERT_TRUE(store->drop_log(old_log).ok());
    EXPECT_FALSE(fs::exists(data() / "snapshots" / std::to_string(old_log)));
  }
  const auto store = open();
  EXPECT_TRUE(store->logs()->empty());
  const LogId log = *store->create_log("books");
  EXPECT_GT(log, old_log);
  ASSERT_TRUE(append_and_wait(*store, log, {"another"}).ok());
  wait_until_gone(*store, log, "a dropped entry");
}

TEST_F(SqliteStoreTest, WhatTheServerDropsIsNotMissingForThoseWhoLook) {
  const auto store = open();
  const LogId log = *store->create_log("books");
  ASSERT_TRUE(append_and_wait(*store, log, {"the first entry", "the second one"}).ok());
  const auto view = *open_sqlite_view(data());
  EXPECT_THAT(to_texts(*view->read(log, 0, 10)), ElementsAre("the first entry", "the second one"));

  ASSERT_TRUE(store->truncate_before(log, 2).ok());
  wait_until_gone(*store, log, "the first entry");
  EXPECT_THAT(to_texts(*view->read(log, 0, 10)), ElementsAre("the second one"));
  EXPECT_EQ(*view->first(log), 2U);  // which tells a fold that it lacks the beginning
  EXPECT_EQ(view->read_at(log, 1).error().code, ErrorCode::kNotFound);

  ASSERT_TRUE(store->drop_log(log).ok());
  const LogId other = *store->create_log("films");
  ASSERT_TRUE(append_and_wait(*store, other, {"another"}).ok());
  wait_until_gone(*store, other, "the second one");
  EXPECT_EQ(view->read(log, 0, 10).error().code, ErrorCode::kNotFound);
}

TEST_F(SqliteStoreTest, OnlyTheOwnerMayLook) {
  const auto store = open();
  const LogId log = *store->create_log("books");
  ASSERT_TRUE(append_and_wait(*store, log, {"a"}).ok());
  ASSERT_TRUE(store->put_snapshot(log, 1, to_payload("s")).ok());
  EXPECT_EQ(mode_of(data()), 0700U);
  int files = 0;
  for (const auto& it : fs::recursive_directory_iterator(data())) {
    EXPECT_EQ(mode_of(it.path()), it.is_directory() ? 0700U : 0600U) << it.path();
    files += it.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files, 6);
}

TEST_F(SqliteStoreTest, AFolderHasOneServer) {
  const auto store = open();
  const Error error = open_error();
  EXPECT_EQ(error.code, ErrorCode::kConflict);
  EXPECT_THAT(error.message, HasSubstr(data().string()));
}

TEST_F(SqliteStoreTest, PeopleCanLookIntoARunningStore) {
  const auto store = open();
  const LogId log = *store->create_log("books");
  ASSERT_TRUE(append_and_wait(*store, log, {"a", "b"}).ok());
  run_sql("SELECT id, name FROM logs; SELECT position, payload FROM entries_1; PRAGMA quick_check");
  ASSERT_TRUE(append_and_wait(*store, log, {"c"}).ok());
  EXPECT_FALSE(store->failure().has_value());
}

TEST_F(SqliteStoreTest, NothingIsAcknowledgedOnceTheDatabaseIsGone) {
  const fs::path other = data() / "elsewhere";
  const std::pair<std::string, std::function<void()>> losses[] = {
      {"hindsight.db", [&] { fs::remove(database()); }},
      {"hindsight.db",
       [&] {
         fs::rename(database(), other);
         fs::copy_file(other, database());
       }},
      {"hindsight.db-wal", [&] { fs::remove(database().string() + "-wal"); }},
      {"hindsight.db-wal", [&] {
         fs::remove(database().string() + "-wal");
         std::ofstream(database().string() + "-wal");
       }}};
  for (const auto& [file, lose] : losses) {
    fs::remove_all(data());
    const auto store = open();
    const LogId log = *store->create_log("books");
    ASSERT_TRUE(append_and_wait(*store, log, {"a"}).ok());
    lose();
    const auto appended = append_and_wait(*store, log, {"b"});
    ASSERT_FALSE(appended.ok());
    EXPECT_EQ(appended.error().code, ErrorCode::kIo);
    ASSERT_TRUE(store->failure().has_value());
    EXPECT_THAT(store->failure()->message, HasSubstr(file + " was moved or deleted"));
  }
}

TEST_F(SqliteStoreTest, TheDatabaseMayBeALink) {
  open();
  const fs::path elsewhere = folder_.path() / "elsewhere.db";
  fs::rename(database(), elsewhere);
  fs::create_symlink(elsewhere, database());
  const auto store = open();
  const LogId log = *store->create_log("books");
  EXPECT_TRUE(append_and_wait(*store, log, {"a"}).ok());
}

TEST_F(SqliteStoreTest, ANewerVersionIsRefusedAndOneThatNeverWasIsDamage) {
  const std::tuple<int, ErrorCode, const char*> versions[] = {
      {3, ErrorCode::kNewerVersion, "hindsight.db is of version 3"},
      {-2, ErrorCode::kCorrupt, "hindsight.db: the header is damaged"}};
  for (const auto& [version, code, says] : versions) {
    open();
    run_sql("PRAGMA user_version = " + std::to_string(version));
    const Error error = open_error();
    EXPECT_EQ(error.code, code);
    EXPECT_THAT(error.message, HasSubstr(says));
    fs::remove_all(data());
  }
}

/// Turns the store into one of version 1, as that version wrote it.
constexpr const char* kBackToVersion1 =
    "BEGIN; CREATE TABLE entries (log INTEGER NOT NULL, position INTEGER NOT NULL, "
    "checksum BLOB NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (log, position)) WITHOUT ROWID; "
    "INSERT INTO entries SELECT 1, position, checksum, payload FROM entries_1; "
    "INSERT INTO entries SELECT 2, position, checksum, payload FROM entries_2; "
    "DROP TABLE entries_1; DROP TABLE entries_2; PRAGMA user_version = 1; COMMIT";

TEST_F(SqliteStoreTest, AStoreOfVersion1IsMigrated) {
  {
    const auto store = open();
    const LogId books = *store->create_log("books");
    const LogId films = *store->create_log("films");
    ASSERT_TRUE(append_and_wait(*store, books, {"a", "b", "c"}).ok());
    ASSERT_TRUE(append_and_wait(*store, films, {"d"}).ok());
    ASSERT_TRUE(store->truncate_before(books, 2).ok());
  }
  run_sql(kBackToVersion1);
  SqliteStoreOptions options;
  options.folder = data();
  int points = 0;
  options.at_point = [&](std::string_view point) { points += point == "during_migration" ? 1 : 0; };
  {
    const auto store = open_sqlite_store(options);
    ASSERT_TRUE(store.ok()) << to_string(store.error());
    EXPECT_EQ(points, 1);
    EXPECT_THAT(to_texts(*read_all(**store, 1)), ElementsAre("b", "c"));
    EXPECT_THAT(to_texts(*read_all(**store, 2)), ElementsAre("d"));
    EXPECT_EQ(*append_and_wait(**store, 1, {"e"}), 4U);
  }
  EXPECT_THAT(to_texts(*read_all(*open(), 1)), ElementsAre("b", "c", "e"));
}

TEST_F(SqliteStoreTest, AMigrationThatFailsChangesNothing) {
  {
    const auto store = open();
    const LogId log = *store->create_log("books");
    ASSERT_TRUE(store->create_log("films").ok());
    ASSERT_TRUE(append_and_wait(*store, log, {"a"}).ok());
  }
  run_sql(kBackToVersion1);
  run_sql("CREATE TABLE entries_2 (somebody_else_was_here)");
  EXPECT_THAT(open_error().message, HasSubstr("hindsight.db"));
  run_sql("DROP TABLE entries_2");
  EXPECT_THAT(to_texts(*read_all(*open(), 1)), ElementsAre("a"));
}

TEST_F(SqliteStoreTest, HalfWrittenSnapshotsAreRemoved) {
  {
    const auto store = open();
    const LogId log = *store->create_log("books");
    ASSERT_TRUE(store->put_snapshot(log, 0, to_payload("s")).ok());
  }
  const fs::path part = data() / "snapshots" / "1" / "7.snapshot.part";
  std::ofstream(part) << "half";
  const auto store = open();
  EXPECT_FALSE(fs::exists(part));
  EXPECT_THAT(*store->snapshots(1), ElementsAre(0));
}

TEST_F(SqliteStoreTest, ASnapshotBeyondItsLogShowsThatEntriesAreLost) {
  {
    const auto store = open();
    const LogId log = *store->create_log("books");
    ASSERT_TRUE(append_and_wait(*store, log, {"a"}).ok());
    ASSERT_TRUE(store->put_snapshot(log, 1, to_payload("s")).ok());
  }
  fs::rename(data() / "snapshots/1/1.snapshot", data() / "snapshots/1/2.snapshot");
  EXPECT_EQ(open_error().code, ErrorCode::kCorrupt);
}

TEST_F(SqliteStoreTest, RewrittenBytesVanishFromEveryFile) {
  const auto store = open();
  const LogId other = *store->create_log("other");
  const LogId log = *store->create_log("books");
  for (int i = 0; i < 300; ++i) {
    std::vector<std::string> texts;
    for (std::uint64_t j = 0; j < 10; ++j) {
      texts.push_back(numbered("secret-", static_cast<std::uint64_t>(i) * 10 + j) +
                      std::string((i * 7 + j * 13) % 900, 'x'));
    }
    ASSERT_TRUE(append_and_wait(*store, log, texts).ok());
    ASSERT_TRUE(append_and_wait(*store, other, {"between"}).ok());
  }
  ASSERT_TRUE(append_and_wait(*store, log, {"secret-" + std::string(20'000, 'y')}).ok());
  ASSERT_TRUE(store->truncate_before(log, 500).ok());
  ASSERT_TRUE(is_in_files("secret-"));
  // Entries of the same length, of none, shorter and longer ones.
  const auto replaced = store->rewrite(log, [](const LogEntry& entry) -> std::optional<Payload> {
    const std::string text = to_text(entry.payload);
    const std::size_t kinds[] = {text.size(), 0, text.size() / 3, text.size() * 2};
    return to_payload(std::string(kinds[entry.position % 4], 'o'));
  });
  ASSERT_TRUE(replaced.ok()) << to_string(replaced.error());
  EXPECT_EQ(*replaced, 3001U - 499U);
  EXPECT_FALSE(is_in_files("secret-"));
  for (const std::string& text : to_texts(*read_all(*store, log))) {
    ASSERT_EQ(text.find_first_not_of('o'), std::string::npos);
  }
}

TEST_F(SqliteStoreTest, DroppedEntriesVanishFromEveryFile) {
  {
    const auto store = open();
    const LogId log = *store->create_log("books");
    std::vector<std::string> texts(20'000, "old-entry");
    texts.resize(20'100, "new-entry");
    ASSERT_TRUE(append_and_wait(*store, log, texts).ok());
    ASSERT_TRUE(store->truncate_before(log, 20'001).ok());
    EXPECT_EQ(read_all(*store, log)->size(), 100U);
  }
  // What was not removed before closing is removed after the next opening.
  const auto store = open();
  wait_until_gone(*store, 1, "old-entry");
  EXPECT_EQ(to_texts(*read_all(*store, 1)), std::vector<std::string>(100, "new-entry"));
}

TEST_F(SqliteStoreTest, ReadersAndTruncationDoNotDisturbEachOther) {
  const auto store = open();
  const LogId log = *store->create_log("books");
  ASSERT_TRUE(append_and_wait(*store, log, std::vector<std::string>(20'000, "entry")).ok());
  std::atomic<bool> stop = false;
  std::thread reader([&] {
    while (!stop) {
      const auto entries = store->read(log, 0, 5000);
      EXPECT_TRUE(entries.ok()) << to_string(entries.error());
    }
  });
  for (Position position = 100; position <= 20'000; position += 100) {
    EXPECT_TRUE(store->truncate_before(log, position).ok());
  }
  stop = true;
  reader.join();
  EXPECT_EQ(*store->first(log), 20'000U);
}

TEST_F(SqliteStoreTest, AnEntryBeyondTheLimitIsRefusedAlone) {
  const auto store = open();
  const LogId log = *store->create_log("books");
  std::vector<Payload> payloads(1, Payload((std::size_t{256} << 20) + 1));
  std::promise<Result<Position>> promise;
  store->append(log, std::move(payloads),
                [&](Result<Position> result) { promise.set_value(std::move(result)); });
  EXPECT_EQ(promise.get_future().get().error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(append_and_wait(*store, log, {"a"}).ok());
}

TEST_F(SqliteStoreTest, WhatWaitsIsCommittedTogether) {
  std::promise<void> go;
  std::atomic<int> commits = -1;  // before the log is made
  SqliteStoreOptions options;
  options.folder = data();
  options.at_point = [&, gate = go.get_future().share()](std::string_view point) {
    if (point == "before_commit" && commits >= 0) {
      gate.wait();
    }
    commits += point == "after_commit" ? 1 : 0;
  };
  const auto store = *open_sqlite_store(options);
  const LogId log = *store->create_log("books");
  std::vector<std::future<void>> answers;
  for (int i = 0; i < 100; ++i) {
    auto promise = std::make_shared<std::promise<void>>();
    answers.push_back(promise->get_future());
    store->append(log, to_payloads({numbered("", i)}),
                  [promise](const auto&) { promise->set_value(); });
  }
  go.set_value();
  for (auto& answer : answers) {
    answer.wait();
  }
  EXPECT_LE(commits, 2);  // whatever the first group held, the second held the rest
}

TEST_F(SqliteStoreTest, ALogThatCannotBeReadStopsTheStore) {
  {
    const auto store = open();
    const LogId log = *store->create_log("books");
    ASSERT_TRUE(append_and_wait(*store, log, {"a", "b", "c"}).ok());
  }
  run_sql("UPDATE entries_1 SET payload = 'B' WHERE position = 2");
  SqliteStoreOptions options;
  options.folder = data();
  std::promise<std::string> warning;
  options.warn = [&](std::string_view text) { warning.set_value(std::string(text)); };
  const auto store = *open_sqlite_store(options);
  std::atomic<int> delivered = 0;
  ASSERT_TRUE(store->subscribe(1, 0, [&](const auto&) { delivered += 1; }).ok());
  EXPECT_THAT(warning.get_future().get(), HasSubstr("entry 2 of log 1"));
  EXPECT_EQ(store->failure()->code, ErrorCode::kCorrupt);
  EXPECT_EQ(delivered, 0);
  EXPECT_FALSE(append_and_wait(*store, 1, {"d"}).ok());
}

TEST_F(SqliteStoreTest, WhatASubscriberWillNeverGetIsNotAcknowledged) {
  {
    const auto store = open();
    const LogId log = *store->create_log("books");
    ASSERT_TRUE(append_and_wait(*store, log, {"a", "b", "c"}).ok());
  }
  run_sql("UPDATE entries_1 SET payload = 'B' WHERE position = 2");
  SqliteStoreOptions options;
  options.folder = data();
  std::promise<void> go;
  std::atomic<bool> holding = false;
  options.sync_mark = [&, gate = go.get_future().share()](int) {
    if (holding) {
      gate.wait();
    }
    return 0;
  };
  std::promise<void> warned;
  options.warn = [&](std::string_view) { warned.set_value(); };
  const auto store = *open_sqlite_store(options);
  holding = true;
  std::promise<Result<Position>> answer;
  store->append(1, to_payloads({"d"}),
                [&](Result<Position> result) { answer.set_value(std::move(result)); });
  ASSERT_TRUE(store->subscribe(1, 0, [](const auto&) {}).ok());
  warned.get_future().wait();
  go.set_value();
  const Result<Position> result = answer.get_future().get();
  ASSERT_FALSE(result.ok()) << "its subscriber never saw it";
  EXPECT_THAT(result.error().message, HasSubstr("entry 2 of log 1"));
}

TEST_F(SqliteStoreTest, ClosingWritesWhatWasAccepted) {
  std::atomic<int> acknowledged = 0;
  {
    const auto store = open();
    const LogId log = *store->create_log("books");
    for (int i = 0; i < 500; ++i) {
      store->append(log, to_payloads({numbered("", i)}),
                    [&](const Result<Position>& result) { acknowledged += result.ok() ? 1 : 0; });
    }
  }
  EXPECT_EQ(acknowledged, 500);
  EXPECT_EQ(read_all(*open(), 1)->size(), 500U);
}

}  // namespace
}  // namespace hindsight
