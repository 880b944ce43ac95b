// What the check of a data folder finds, and that it changes nothing. (Every kind of damage,
// through the whole program: tests/service/damage_test.py.)

#include "src/store/sqlite_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "src/store/file_sync.h"
#include "src/store/sqlite_store.h"
#include "tests/store_support/memory_folder.h"
#include "tests/store_support/store_helpers.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SqliteCheck : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto store = open();
    const LogId log = *store->create_log("books");
    ASSERT_TRUE(append_and_wait(*store, log, {"a", "b", "c"}).ok());
    ASSERT_TRUE(store->put_snapshot(log, 2, to_payload("model")).ok());
  }

  fs::path data() const { return folder_.path() / "data"; }

  std::unique_ptr<Store> open() const {
    SqliteStoreOptions options;
    options.folder = data();
    auto store = open_sqlite_store(options);
    EXPECT_TRUE(store.ok());
    return *std::move(store);
  }

  std::vector<Finding> findings() const {
    auto checked = check_sqlite_store(data());
    EXPECT_TRUE(checked.ok());
    return checked.ok() ? std::move(checked->findings) : std::vector<Finding>();
  }

  MemoryFolder folder_;
};

TEST_F(SqliteCheck, FindsNothingInAWholeFolderAndChangesNothing) {
  const auto bytes_of_all = [this] {
    std::map<std::string, std::vector<std::byte>> all;
    for (const auto& it : fs::recursive_directory_iterator(data())) {
      // The index of the write-ahead log is made anew by every first connection.
      if (it.is_regular_file() && it.path().extension() != ".db-shm") {
        all[it.path().string()] = *read_file(it.path());
      }
    }
    return all;
  };
  const auto before = bytes_of_all();
  {
    const auto checked = check_sqlite_store(data());
    ASSERT_TRUE(checked.ok());
    EXPECT_THAT(checked->findings, IsEmpty());
    ASSERT_NE(checked->view, nullptr);
    EXPECT_EQ(*checked->view->head(1), 3U);
    EXPECT_THAT(*checked->view->snapshots(1), ::testing::ElementsAre(2));
    EXPECT_EQ(to_text(*checked->view->get_snapshot(1, 2)), "model");
  }
  EXPECT_EQ(bytes_of_all(), before);
}

TEST_F(SqliteCheck, AFolderInUseOrWithoutAStoreIsNotChecked) {
  {
    const auto store = open();
    EXPECT_EQ(check_sqlite_store(data()).error().code, ErrorCode::kConflict);
  }
  EXPECT_EQ(check_sqlite_store(folder_.path() / "nowhere").error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(fs::exists(folder_.path() / "nowhere"));
  fs::create_directory(folder_.path() / "empty");
  EXPECT_EQ(check_sqlite_store(folder_.path() / "empty").error().code, ErrorCode::kNotFound);
}

TEST_F(SqliteCheck, NamesAMarkThatIsLostOrDamaged) {
  fs::resize_file(data() / "high-water", 10);
  ASSERT_EQ(findings().size(), 1U);
  EXPECT_EQ(findings()[0].file, "high-water");
  EXPECT_EQ(fs::file_size(data() / "high-water"), 10U);
  fs::remove(data() / "high-water");
  ASSERT_EQ(findings().size(), 1U);
  EXPECT_EQ(findings()[0].file, "high-water");
  EXPECT_THAT(findings()[0].problem, HasSubstr("missing"));
}

TEST_F(SqliteCheck, NamesADatabaseThatIsEmptyOrBehind) {
  const fs::path older = folder_.path() / "older";
  fs::copy(data(), older, fs::copy_options::recursive);
  {
    const auto store = open();
    ASSERT_TRUE(append_and_wait(*store, 1, {"d"}).ok());
    ASSERT_TRUE(store->put_snapshot(1, 4, to_payload("newer")).ok());
  }
  fs::copy_file(older / "hindsight.db", data() / "hindsight.db",
                fs::copy_options::overwrite_existing);
  ASSERT_EQ(findings().size(), 1U);
  EXPECT_EQ(findings()[0].file, "hindsight.db");
  EXPECT_THAT(findings()[0].problem, HasSubstr("1 entries"));
  fs::remove(data() / "high-water");
  const auto without_mark = findings();
  ASSERT_EQ(without_mark.size(), 2U);
  EXPECT_EQ(without_mark[1].file, "snapshots/1/4.snapshot");
  fs::resize_file(data() / "hindsight.db", 0);
  EXPECT_THAT(findings().back().problem, HasSubstr("hindsight.db is empty"));
}

}  // namespace
}  // namespace hindsight
