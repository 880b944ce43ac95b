// The embedded store: one folder, one SQLite database, snapshots beside it.
//
//   DIR/hindsight.db (-wal, -shm)   logs and entries; look into it with sqlite3
//   DIR/high-water                  how far the database must reach (src/store/high_water.h)
//   DIR/snapshots/LOG/POSITION.snapshot
//   DIR/lock                        held while a server uses the folder
//
// WAL, synchronous=FULL, one writer with group commit. An append is acknowledged when its
// transaction and the high-water mark are synced. Entries, rows and files carry checksums; damage
// is reported with the file's name, and never read over.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "hindsight/result.h"
#include "src/store/store.h"

namespace hindsight {

struct SqliteStoreOptions {
  std::filesystem::path folder;  // made with mode 0700 where it is missing
  std::uint16_t node = 0;
  /// Opens a database that is behind its high-water mark, or has lost the mark: what is missing is
  /// lost for good.
  bool accept_lost_end = false;
  std::size_t max_queued_bytes = std::size_t{256} << 20;
  int group_wait_us = 0;  // how long a group waits for more before it is written
  /// Called at named points, for tests that end the process there: before_commit, after_commit,
  /// before_snapshot_rename, after_snapshot, during_migration, after_migration.
  std::function<void(std::string_view)> at_point = {};
  /// Something that an operator should know: one line, no secrets.
  std::function<void(std::string_view)> warn = {};

  // For tests of failing devices.
  std::string vfs = {};                       // SQLite's name of a file system; empty: its own
  std::function<int(int fd)> sync_mark = {};  // in place of fdatasync, for the high-water mark
};

/// FAILS: kConflict (another process uses the folder), kCorrupt (something is lost or damaged: the
/// message names the file), kNewerVersion, kIo
Result<std::unique_ptr<Store>> open_sqlite_store(const SqliteStoreOptions& options);

}  // namespace hindsight
