// Every file of the folder, flipped, zeroed, cut and lost: the content is what it was, or an error
// names what is wrong. Never a crash, never another content.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "src/store/sqlite_store.h"
#include "src/store/sqlite_view.h"
#include "tests/store_support/memory_folder.h"
#include "tests/store_support/store_helpers.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

SqliteStoreOptions options_for(const fs::path& folder) {
  SqliteStoreOptions options;
  options.folder = folder;
  return options;
}

/// Everything that a store can be asked for, as text.
using Content = std::map<std::string, std::string>;

Result<Content> content_of(const Store& store) {
  Content content;
  const auto logs = store.logs();
  if (!logs.ok()) {
    return logs.error();
  }
  for (const LogInfo& log : *logs) {
    const std::string name = numbered("log ", log.id);
    content[name] =
        log.name + numbered(" from ", *store.first(log.id)) + numbered(" to ", *store.head(log.id));
    const auto entries = read_all(store, log.id);
    if (!entries.ok()) {
      return entries.error();
    }
    for (const LogEntry& entry : *entries) {
      content[name + numbered(" entry ", entry.position)] = to_text(entry.payload);
    }
    const auto snapshots = store.snapshots(log.id);
    if (!snapshots.ok()) {
      return snapshots.error();
    }
    for (const Position position : *snapshots) {
      const auto bytes = store.get_snapshot(log.id, position);
      if (!bytes.ok()) {
        return bytes.error();
      }
      content[name + numbered(" snapshot ", position)] = to_text(*bytes);
    }
  }
  return content;
}

void append_some(Store& store, LogId log, int count) {
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) {
    texts.push_back(numbered("entry ", i) +
                    std::string(static_cast<std::size_t>(i * 37 % 500), 'x'));
  }
  ASSERT_TRUE(append_and_wait(store, log, texts).ok());
}

/// A store with some of everything, part of it in the database file.
void fill_and_close(const fs::path& folder) {
  auto store = *open_sqlite_store(options_for(folder));
  const LogId books = *store->create_log("books");
  const LogId films = *store->create_log("films");
  const LogId gone = *store->create_log("gone");
  append_some(*store, books, 100);
  append_some(*store, films, 50);
  append_some(*store, gone, 50);
  ASSERT_TRUE(append_and_wait(*store, books, {std::string(10'000, 'L'), ""}).ok());
  ASSERT_TRUE(store->drop_log(gone).ok());
  ASSERT_TRUE(store->truncate_before(books, 30).ok());
  ASSERT_TRUE(store->put_snapshot(books, 40, to_payload(std::string(3000, 'a'))).ok());
  ASSERT_TRUE(store->put_snapshot(books, 50, to_payload(std::string(3000, 'b'))).ok());
}

/// Goes on with it, in another process that ends without closing: the rest stays in the WAL.
void fill_and_die(const fs::path& folder) {
  const pid_t child = fork();
  if (child == 0) {
    auto store = *open_sqlite_store(options_for(folder));
    for (int i = 0; i < 8; ++i) {
      append_some(*store, 1, 10);
      append_some(*store, 2, 5);
    }
    (void)store->put_snapshot(2, 60, to_payload(std::string(500, 'c'))).ok();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

enum class Damage { kFlip, kZero, kCut, kLose };

void damage(const fs::path& file, Damage kind, std::uint64_t offset) {
  const std::uint64_t size = fs::file_size(file);
  switch (kind) {
    case Damage::kLose:
      fs::remove(file);
      return;
    case Damage::kCut:
      fs::resize_file(file, offset);
      return;
    case Damage::kFlip:
    case Damage::kZero: {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      const std::uint64_t count =
          kind == Damage::kFlip ? 1 : std::min<std::uint64_t>(512, size - offset);
      std::string bytes(count, '\0');
      stream.seekg(static_cast<std::streamoff>(offset));
      stream.read(bytes.data(), static_cast<std::streamsize>(count));
      for (char& byte : bytes) {
        byte = kind == Damage::kFlip ? static_cast<char>(byte ^ (1 << (offset % 8))) : '\0';
      }
      stream.seekp(static_cast<std::streamoff>(offset));
      stream.write(bytes.data(), static_cast<std::streamsize>(count));
      return;
    }
  }
}

class SqliteDamage : public ::testing::Test {
 protected:
  void SetUp() override {
    fill_and_close(origin());
    fill_and_die(origin());
    fs::copy(origin(), folder_.path() / "opened", fs::copy_options::recursive);
    const auto store = open_sqlite_store(options_for(folder_.path() / "opened"));
    ASSERT_TRUE(store.ok()) << to_string(store.error());
    expected_ = *content_of(**store);
    ASSERT_GT(expected_.size(), 200U);
  }

  fs::path origin() const { return folder_.path() / "origin"; }
  fs::path copy() const { return folder_.path() / "copy"; }

  /// RETURNS: the files of the folder, by their names in it.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& it : fs::recursive_directory_iterator(origin())) {
      if (it.is_regular_file()) {
        names.push_back(fs::relative(it.path(), origin()).string());
      }
    }
    return names;
  }

  void check(const std::string& name, Damage kind, std::uint64_t offset) {
    SCOPED_TRACE(name + numbered(", kind ", static_cast<std::uint64_t>(kind)) +
                 numbered(", offset ", offset));
    fs::remove_all(copy());
    fs::copy(origin(), copy(), fs::copy_options::recursive);
    damage(copy() / name, kind, offset);
    // A lost snapshot leaves no trace; the log still has everything.
    Content expected = expected_;
    if (kind == Damage::kLose && name.ends_with(".snapshot")) {
      std::erase_if(expected, [&](const auto& it) {
        return it.first.ends_with("snapshot " + fs::path(name).stem().string()) &&
               it.first.starts_with("log " + fs::path(name).parent_path().filename().string());
      });
    }
    if (check_opening(expected)) {
      expected["log 2"] = "films from 1 to 91";
      expected["log 2 entry 91"] = "one more";
      check_opening(expected);
    }
  }

  /// RETURNS: whether all was well, with one more entry appended in the end.
  bool check_opening(const Content& expected) {
    auto store = open_sqlite_store(options_for(copy()));
    if (!store.ok()) {
      named(store.error());
      return false;
    }
    const Result<Content> content = content_of(**store);
    if (!content.ok()) {
      named(content.error());
      return false;
    }
    EXPECT_TRUE(*content == expected) << "silently another content";
    const Result<Position> done = append_and_wait(**store, 2, {"one more"});
    if (!done.ok()) {
      named(done.error());
      return false;
    }
    undamaged_ += 1;
    return true;
  }

  void named(const Error& error) {
    errors_ += 1;
    EXPECT_THAT(error.message, ::testing::HasSubstr(copy().string()));
    EXPECT_TRUE(error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kIo ||
                error.code == ErrorCode::kNewerVersion)
        << error.message;
  }

  MemoryFolder folder_;
  Content expected_;
  int errors_ = 0;
  int undamaged_ = 0;
};

/// RETURNS: places in a file: its beginning closely, the rest in strides.
std::set<std::uint64_t> sampled_offsets(std::uint64_t size, std::uint64_t count) {
  const bool full = std::getenv("HINDSIGHT_FULL") != nullptr;
  count *= full ? 20 : 1;
  std::set<std::uint64_t> offsets;
  for (std::uint64_t offset = 0; offset < std::min<std::uint64_t>(size, 100);
       offset += full ? 1 : 9) {
    offsets.insert(offset);
  }
  const std::uint64_t stride = std::max<std::uint64_t>(1, size / count) | 1U;
  for (std::uint64_t offset = stride / 2; offset < size; offset += stride) {
    offsets.insert(offset);
  }
  return offsets;
}

TEST_F(SqliteDamage, EveryKindOfFileIsThere) {
  EXPECT_THAT(files(),
              ::testing::UnorderedElementsAre(
                  "hindsight.db", "hindsight.db-wal", "hindsight.db-shm", "high-water", "lock",
                  "snapshots/1/40.snapshot", "snapshots/1/50.snapshot", "snapshots/2/60.snapshot"));
}

TEST_F(SqliteDamage, FlippedBitsAreDetectedOrHarmless) {
  for (const std::string& name : files()) {
    for (const std::uint64_t offset : sampled_offsets(fs::file_size(origin() / name), 60)) {
      check(name, Damage::kFlip, offset);
    }
  }
  EXPECT_GT(errors_, 50);
  EXPECT_GT(undamaged_, 20);
}

TEST_F(SqliteDamage, ZeroedSectorsAreDetectedOrHarmless) {
  for (const std::string& name : files()) {
    for (const std::uint64_t offset : sampled_offsets(fs::file_size(origin() / name), 20)) {
      check(name, Damage::kZero, offset / 512 * 512);
    }
  }
  EXPECT_GT(errors_, 20);
}

TEST_F(SqliteDamage, CutFilesAreDetectedOrHarmless) {
  for (const std::string& name : files()) {
    for (const std::uint64_t offset : sampled_offsets(fs::file_size(origin() / name), 30)) {
      check(name, Damage::kCut, offset);
    }
  }
  EXPECT_GT(errors_, 20);
}

TEST_F(SqliteDamage, ADatabaseThatHoldsEverythingIsDetectedOrHarmless) {
  // Opening and closing moves the write-ahead log into the database.
  ASSERT_TRUE(open_sqlite_store(options_for(origin())).ok());
  ASSERT_EQ(fs::file_size(origin() / "hindsight.db-wal"), 0U);
  const std::string name = "hindsight.db";
  const std::uint64_t size = fs::file_size(origin() / name);
  for (const std::uint64_t offset : sampled_offsets(size, 100)) {
    check(name, Damage::kFlip, offset);
  }
  for (const std::uint64_t offset : sampled_offsets(size, 30)) {
    check(name, Damage::kZero, offset / 512 * 512);
    check(name, Damage::kCut, offset);
  }
  EXPECT_GT(errors_, 50);
  EXPECT_GT(undamaged_, 5);
}

TEST_F(SqliteDamage, LostFilesAreDetectedOrHarmless) {
  for (const std::string& name : files()) {
    errors_ = 0;
    check(name, Damage::kLose, 0);
    const bool matters =
        name == "hindsight.db" || name == "hindsight.db-wal" || name == "high-water";
    EXPECT_EQ(errors_ > 0, matters) << name;
  }
}

TEST_F(SqliteDamage, ALostDatabaseIsNamedAndNeverStartedAnew) {
  for (const std::vector<std::string>& others :
       {std::vector<std::string>{"hindsight.db-wal", "hindsight.db-shm", "high-water"},
        std::vector<std::string>{"hindsight.db-wal", "hindsight.db-shm", "snapshots"},
        std::vector<std::string>{"high-water", "snapshots"}}) {
    fs::remove_all(copy());
    fs::copy(origin(), copy(), fs::copy_options::recursive);
    fs::remove(copy() / "hindsight.db");
    for (const std::string& other : others) {
      fs::remove_all(copy() / other);
    }
    auto options = options_for(copy());
    options.accept_lost_end = true;
    const auto store = open_sqlite_store(options);
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.error().code, ErrorCode::kCorrupt);
    EXPECT_THAT(store.error().message, ::testing::HasSubstr("hindsight.db is missing"));
  }
}

TEST_F(SqliteDamage, AnEmptyOrMissingDatabaseLeavesItsWriteAheadLogAlone) {
  for (const bool empty : {true, false}) {
    fs::remove_all(copy());
    fs::copy(origin(), copy(), fs::copy_options::recursive);
    const auto wal_bytes = fs::file_size(copy() / "hindsight.db-wal");
    if (empty) {
      fs::resize_file(copy() / "hindsight.db", 0);
    } else {
      fs::remove(copy() / "hindsight.db");
    }
    for (const bool accept : {false, true}) {
      auto options = options_for(copy());
      options.accept_lost_end = accept;
      const auto store = open_sqlite_store(options);
      ASSERT_FALSE(store.ok());
      EXPECT_THAT(store.error().message, ::testing::HasSubstr(empty ? "hindsight.db is empty"
                                                                    : "hindsight.db is missing"));
    }
    EXPECT_FALSE(open_sqlite_view(copy()).ok());
    EXPECT_EQ(fs::file_size(copy() / "hindsight.db-wal"), wal_bytes);
    EXPECT_EQ(fs::exists(copy() / "hindsight.db"), empty);
  }
}

TEST_F(SqliteDamage, ALostEndIsCountedAndCanBeAccepted) {
  fs::copy(origin(), copy(), fs::copy_options::recursive);
  fs::remove(copy() / "hindsight.db-wal");
  fs::remove(copy() / "hindsight.db-shm");
  auto options = options_for(copy());
  const auto refused = open_sqlite_store(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("120 entries"));

  std::vector<std::string> warnings;
  options.accept_lost_end = true;
  options.warn = [&](std::string_view text) { warnings.emplace_back(text); };
  {
    const auto store = open_sqlite_store(options);
    ASSERT_TRUE(store.ok()) << to_string(store.error());
    EXPECT_GE((*store)->identity().boot_epoch, 3U);  // two were used
    EXPECT_EQ(*(*store)->head(1), 102U);
    EXPECT_THAT(*(*store)->snapshots(2), ::testing::IsEmpty());  // it knew of more
    EXPECT_THAT(*(*store)->snapshots(1), ::testing::ElementsAre(50, 40));
    EXPECT_TRUE(append_and_wait(**store, 1, {"new"}).ok());
    EXPECT_GT(*(*store)->create_log("more"), 100U);  // no id that a lost log may have had
  }
  EXPECT_THAT(warnings, ::testing::Contains(::testing::HasSubstr("120 entries")));
  // Once accepted, the store is whole again.
  const auto again = open_sqlite_store(options_for(copy()));
  ASSERT_TRUE(again.ok()) << to_string(again.error());
  EXPECT_EQ(to_text(*(*again)->read_at(1, 103)), "new");
}

TEST_F(SqliteDamage, AMarkOfAnotherStoreIsRefused) {
  const fs::path other = folder_.path() / "other";
  fill_and_close(other);
  fs::copy(origin(), copy(), fs::copy_options::recursive);
  fs::copy_file(other / "high-water", copy() / "high-water", fs::copy_options::overwrite_existing);
  const auto store = open_sqlite_store(options_for(copy()));
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(store.error().message, ::testing::HasSubstr("high-water"));
}

TEST_F(SqliteDamage, AnOlderCopyOfTheDatabaseIsRefused) {
  const fs::path older = folder_.path() / "older";
  fs::copy(origin(), older, fs::copy_options::recursive);
  for (int i = 0; i < 2; ++i) {
    const auto store = open_sqlite_store(options_for(origin()));
    ASSERT_TRUE(store.ok());
    ASSERT_TRUE(append_and_wait(**store, 1, {"newer"}).ok());
  }
  fs::copy(origin(), copy(), fs::copy_options::recursive);
  for (const char* name : {"hindsight.db", "hindsight.db-wal", "hindsight.db-shm"}) {
    fs::copy_file(older / name, copy() / name, fs::copy_options::overwrite_existing);
  }
  const auto store = open_sqlite_store(options_for(copy()));
  ASSERT_FALSE(store.ok());
  EXPECT_THAT(store.error().message, ::testing::HasSubstr("2 entries"));
}

TEST_F(SqliteDamage, ADamagedEntryIsNamedByLogAndPosition) {
  fs::copy(origin(), copy(), fs::copy_options::recursive);
  {
    // Moves everything into the database file.
    const auto store = open_sqlite_store(options_for(copy()));
    ASSERT_TRUE(store.ok());
  }
  std::ifstream in(copy() / "hindsight.db", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::size_t at = bytes.find("LLLLLLLL");  // entry 101 of log 1
  ASSERT_NE(at, std::string::npos);
  damage(copy() / "hindsight.db", Damage::kFlip, at + 3);
  const auto store = open_sqlite_store(options_for(copy()));
  ASSERT_TRUE(store.ok()) << to_string(store.error());
  for (const auto& error :
       {(*store)->read_at(1, 101).error(), (*store)->read(1, 0, 1000).error()}) {
    EXPECT_EQ(error.code, ErrorCode::kCorrupt);
    EXPECT_THAT(error.message, ::testing::HasSubstr("entry 101 of log 1"));
    EXPECT_THAT(error.message, ::testing::HasSubstr("hindsight.db"));
  }
  EXPECT_TRUE((*store)->read_at(1, 100).ok());
}

TEST_F(SqliteDamage, ADamagedSnapshotIsNamedAndTheOneBeforeIsGood) {
  fs::copy(origin(), copy(), fs::copy_options::recursive);
  damage(copy() / "snapshots/1/50.snapshot", Damage::kFlip, 1000);
  const auto store = open_sqlite_store(options_for(copy()));
  ASSERT_TRUE(store.ok());
  EXPECT_THAT(*(*store)->snapshots(1), ::testing::ElementsAre(50, 40));
  const auto damaged = (*store)->get_snapshot(1, 50);
  ASSERT_FALSE(damaged.ok());
  EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(damaged.error().message, ::testing::HasSubstr("snapshots/1/50.snapshot"));
  EXPECT_TRUE((*store)->get_snapshot(1, 40).ok());
}

TEST_F(SqliteDamage, ASnapshotUnderAnotherNameIsRefused) {
  fs::copy(origin(), copy(), fs::copy_options::recursive);
  fs::rename(copy() / "snapshots/1/40.snapshot", copy() / "snapshots/1/45.snapshot");
  const auto store = open_sqlite_store(options_for(copy()));
  ASSERT_TRUE(store.ok());
  const auto moved = (*store)->get_snapshot(1, 45);
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(moved.error().message, ::testing::HasSubstr("snapshots/1/45.snapshot"));
  EXPECT_TRUE((*store)->get_snapshot(1, 50).ok());
}

}  // namespace
}  // namespace hindsight
