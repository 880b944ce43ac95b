// Copies of a data folder that is in use. (Under load, killed, restored under a server:
// tests/service/backup_test.py.)

#include "src/store/sqlite_backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "src/store/sqlite_check.h"
#include "src/store/sqlite_store.h"
#include "tests/store_support/memory_folder.h"
#include "tests/store_support/store_helpers.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SqliteBackup : public ::testing::Test {
 protected:
  SqliteBackup() : store_(open(folder_.path() / "data")) {
    books_ = *store_->create_log("books");
    EXPECT_TRUE(append_and_wait(*store_, books_, {"a", "b", "c"}).ok());
  }

  static std::unique_ptr<Store> open(const fs::path& folder) {
    SqliteStoreOptions options;
    options.folder = folder;
    auto store = open_sqlite_store(options);
    EXPECT_TRUE(store.ok()) << to_string(store.error());
    return *std::move(store);
  }

  fs::path copy() const { return folder_.path() / "copy"; }

  Result<BackupReport> backup(std::function<void(std::string_view)> at_point = {},
                              const fs::path& to = {}) const {
    BackupOptions options;
    options.from = folder_.path() / "data";
    options.to = to.empty() ? copy() : to;
    options.other_files = {"keys.toml", "not-there"};
    options.at_point = std::move(at_point);
    return backup_sqlite_store(options);
  }

  MemoryFolder folder_;
  std::unique_ptr<Store> store_;
  LogId books_ = 0;
};

TEST_F(SqliteBackup, HoldsWhatWasThereAtItsBeginningAndNothingLater) {
  std::ofstream(folder_.path() / "data" / "keys.toml") << "keys";
  ASSERT_TRUE(store_->put_snapshot(books_, 2, to_payload("model")).ok());
  // The original goes on while it is copied.
  const auto report = backup([this](std::string_view point) {
    if (point == "after_backup_snapshots") {
      ASSERT_TRUE(append_and_wait(*store_, books_, {"later"}).ok());
      ASSERT_TRUE(store_->put_snapshot(books_, 4, to_payload("later")).ok());
      ASSERT_TRUE(store_->create_log("later").ok());
    }
  });
  ASSERT_TRUE(report.ok()) << to_string(report.error());
  EXPECT_EQ(report->logs, 1U);
  EXPECT_EQ(report->entries, 3U);
  EXPECT_EQ(report->snapshots, 1U);
  EXPECT_FALSE(fs::exists(copy().string() + ".part"));
  EXPECT_TRUE(fs::exists(copy() / "keys.toml"));
  EXPECT_TRUE(check_sqlite_store(copy())->findings.empty());
  const auto restored = open(copy());
  EXPECT_THAT(to_texts(*read_all(*restored, books_)), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*restored->snapshots(books_), ElementsAre(2));
  EXPECT_EQ(restored->identity().secret, store_->identity().secret);
}

TEST_F(SqliteBackup, NeverIssuesAnEpochOrALogAgain) {
  ASSERT_TRUE(backup().ok());
  const auto restored = open(copy());
  EXPECT_GT(restored->identity().boot_epoch, store_->identity().boot_epoch + 500);
  EXPECT_GT(*restored->create_log("new"), *store_->create_log("new") + 500);
}

TEST_F(SqliteBackup, ALogWithoutItsBeginningNeedsItsSnapshot) {
  ASSERT_TRUE(store_->truncate_before(books_, 3).ok());
  const auto without = backup();
  ASSERT_FALSE(without.ok());
  EXPECT_EQ(without.error().code, ErrorCode::kConflict);
  EXPECT_FALSE(fs::exists(copy()));
  fs::remove_all(copy().string() + ".part");
  ASSERT_TRUE(store_->put_snapshot(books_, 3, to_payload("model")).ok());
  const auto with = backup();
  ASSERT_TRUE(with.ok()) << to_string(with.error());
  EXPECT_EQ(with->entries, 1U);
  EXPECT_THAT(to_texts(*read_all(*open(copy()), books_)), ElementsAre("c"));
}

TEST_F(SqliteBackup, APlaceThatIsTakenIsRefused) {
  fs::create_directory(copy());
  ASSERT_TRUE(backup().ok()) << "an empty folder is no obstacle";
  const auto again = backup();
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  fs::remove_all(copy());
  fs::create_directory(copy().string() + ".part");
  EXPECT_THAT(backup().error().message, HasSubstr(".part"));
}

TEST_F(SqliteBackup, ThePlaceMayEndInASlashOrADot) {
  for (const char* const name : {"one/", "two/.", "./three", "four//", "five/../six/"}) {
    const fs::path to = folder_.path().string() + "/" + name;
    const auto report = backup({}, to);
    ASSERT_TRUE(report.ok()) << name << ": " << to_string(report.error());
    EXPECT_TRUE(check_sqlite_store(to.lexically_normal())->findings.empty()) << name;
  }
  EXPECT_TRUE(fs::exists(folder_.path() / "six" / "high-water"));
  fs::create_directory(folder_.path() / "disk");
  fs::create_directory_symlink(folder_.path() / "disk", folder_.path() / "link");
  ASSERT_TRUE(backup({}, folder_.path() / "link" / "monday/").ok());
  EXPECT_TRUE(fs::exists(folder_.path() / "disk" / "monday" / "high-water"));
}

TEST_F(SqliteBackup, TheDatabaseAndTheMarkAloneAreAStore) {
  ASSERT_TRUE(backup().ok());
  EXPECT_FALSE(fs::exists(copy() / "hindsight.db-wal"));
  EXPECT_FALSE(fs::exists(copy() / "hindsight.db-shm"));
  const fs::path two = folder_.path() / "two";
  fs::create_directory(two);
  for (const char* const name : {"hindsight.db", "high-water"}) {
    fs::copy_file(copy() / name, two / name);
  }
  EXPECT_TRUE(check_sqlite_store(two)->findings.empty());
  EXPECT_THAT(to_texts(*read_all(*open(two), books_)), ElementsAre("a", "b", "c"));
}

TEST_F(SqliteBackup, NothingIsCopiedOfAnotherFolderThatALinkLeadsTo) {
  const fs::path data = folder_.path() / "data";
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::create_directory(elsewhere);
  for (const char* name : {"hindsight.db", "snapshots"}) {
    fs::create_directories(data / "snapshots");
    fs::rename(data / name, elsewhere / name);
    fs::create_symlink(elsewhere / name, data / name);
    const auto linked = backup();
    ASSERT_FALSE(linked.ok()) << name;
    EXPECT_EQ(linked.error().code, ErrorCode::kIo);
    EXPECT_THAT(linked.error().message, HasSubstr(std::string(name) + " is a link"));
    EXPECT_FALSE(fs::exists(copy().string() + ".part"));
    fs::remove(data / name);
    fs::rename(elsewhere / name, data / name);
  }
  EXPECT_TRUE(backup().ok());
}

TEST_F(SqliteBackup, OnlyPlainFilesAreCopied) {
  const fs::path secret = folder_.path() / "secret";
  const fs::path keys = folder_.path() / "data" / "keys.toml";
  std::ofstream(secret) << "of another user";
  fs::create_symlink(secret, keys);
  const auto linked = backup();
  ASSERT_FALSE(linked.ok());
  EXPECT_EQ(linked.error().code, ErrorCode::kIo);
  EXPECT_THAT(linked.error().message, HasSubstr("keys.toml"));
  fs::remove_all(copy().string() + ".part");
  fs::remove(keys);
  ASSERT_EQ(::mkfifo(keys.c_str(), 0600), 0);
  EXPECT_THAT(backup().error().message, HasSubstr("is no plain file"));
}

}  // namespace
}  // namespace hindsight
