// Opening the embedded store: is everything there that was acknowledged, and does it fit together?
//
// Thread-safety: one thread.

#pragma once

#include <memory>
#include <vector>

#include "hindsight/result.h"
#include "src/store/folder_lock.h"
#include "src/store/high_water.h"
#include "src/store/log_table.h"
#include "src/store/snapshot_files.h"
#include "src/store/sqlite_db.h"
#include "src/store/sqlite_schema.h"
#include "src/store/sqlite_store.h"

namespace hindsight {

/// Epochs and ids of logs that are skipped where something was lost, or may be lost: some may have
/// been given out that nothing tells of any more.
inline constexpr std::uint64_t kSkipped = 1000;

std::filesystem::path database_file(const std::filesystem::path& folder);
std::filesystem::path mark_file(const std::filesystem::path& folder);

/// Makes a missing database file with mode 0600, which SQLite gives to its companions. FAILS: kIo
Result<void> make_database_file(const std::filesystem::path& file);

/// RETURNS: whether there is something in the database's write-ahead log.
bool has_wal(const std::filesystem::path& folder);

/// To be asked before SQLite is: it takes a missing or empty file for a new database, and removes
/// the write-ahead log beside it. FAILS: kCorrupt
Result<void> require_database(const std::filesystem::path& folder);

/// A store that was found good, before its threads run.
struct OpenedStore {
  std::unique_ptr<FolderLock> lock;
  std::unique_ptr<HighWater> high_water;
  std::unique_ptr<SnapshotFiles> snapshots;
  Db db;
  Meta meta;
  Progress progress;  // with the new boot epoch, which is durable
  std::vector<LogRow> logs;
  std::vector<Position> heads;   // of the logs
  std::vector<LogId> left_over;  // dropped logs whose entries are still there
};

// The questions that opening asks, for whoever only wants to know the answers.

/// Fills meta, progress and logs. FAILS: kCorrupt, kIo
Result<void> load_tables(OpenedStore& store);
/// Is the database as far as the mark says? FAILS: kCorrupt
Result<void> check_mark(const SqliteStoreOptions& options, const Mark& mark,
                        const OpenedStore& store);
/// Do the logs hold as many entries as were written? Fills heads. FAILS: kCorrupt, kIo
Result<void> check_heads(const SqliteStoreOptions& options, OpenedStore& store);

/// FAILS: as open_sqlite_store
Result<OpenedStore> open_and_check(const SqliteStoreOptions& options);

}  // namespace hindsight
