// The tables of hindsight.db, their versions, and the way from each version to the next.
//
//   meta       one row: which store this is, and its secret
//   progress   one row, changed in every transaction: how much was ever written
//   logs       one row per log: its name, and the first position that is kept
//   entries_N  the entries of log N; positions are 1, 2, 3, ... without gaps, so that a missing
//              entry is seen
//
// Every row carries a checksum (src/store/checksums.h). PRAGMA user_version is the version.
//
// Thread-safety: as the connection that is passed in.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"
#include "src/store/high_water.h"
#include "src/store/sqlite_db.h"
#include "src/store/store.h"

namespace hindsight {

inline constexpr std::uint64_t kSchemaVersion = 2;

struct Meta {
  std::array<std::byte, 16> store = {};
  std::array<std::byte, 32> secret = {};
};

struct Progress {
  std::uint64_t epoch = 0;
  std::uint64_t commits = 0;
  std::uint64_t entries = 0;   // ever appended
  std::uint64_t dropped = 0;   // of them, in logs that were dropped since
  std::uint64_t next_log = 1;  // ids are never used twice
  std::uint64_t logs = 0;      // digest of the rows of `logs`
  std::uint64_t digest = 0;    // of the checksums of all entries, in the order of writing
};

struct LogRow {
  LogId id = 0;
  std::string name;
  Position first = 1;  // entries before it were dropped, or are being dropped
};

std::uint64_t log_row_hash(const LogRow& row);
std::string entries_table(LogId log);

/// RETURNS: what to read a log's entries FROM, in a file of any version that require_readable()
/// lets pass: position, checksum and payload. FAILS: kIo, kCorrupt
Result<std::string> entries_source(const Db& db, LogId log);

/// Brings a file of any version, an empty one included, to kSchemaVersion. `at_point` is called
/// within each step's transaction (during_migration) and after it (after_migration). FAILS:
/// kNewerVersion, kCorrupt, kIo
Result<void> migrate(const Db& db, const std::function<void(std::string_view)>& at_point);

/// Older versions can be read as they are. FAILS: kNewerVersion, kConflict (empty, as before the
/// first start)
Result<void> require_readable(const Db& db);

/// FAILS: kCorrupt where a table is missing or is not as the file's version makes it.
Result<void> check_tables(const Db& db, const std::vector<LogRow>& logs);

Result<Meta> load_meta(const Db& db);
Result<Progress> load_progress(const Db& db);
/// In the order of their making. FAILS: kCorrupt (a damaged row; another digest than expected)
Result<std::vector<LogRow>> load_logs(const Db& db, std::uint64_t expected_digest);

/// RETURNS: the position of a log's last entry, which must be whole. FAILS: kCorrupt, kIo
Result<Position> find_head(const Db& db, const LogRow& log);
/// RETURNS: the mark that says: the database reaches this far.
Mark mark_of(const Meta& meta, const Progress& progress);

/// RETURNS: a statement that save_progress can use again and again.
Result<Statement> prepare_save_progress(const Db& db);
Result<void> save_progress(Statement& statement, const Progress& progress);
Result<void> insert_log(const Db& db, const LogRow& row);
Result<void> update_log(const Db& db, const LogRow& row);
Result<void> delete_log(const Db& db, LogId log);

}  // namespace hindsight
