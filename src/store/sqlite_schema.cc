#include "src/store/sqlite_schema.h"

#include <openssl/rand.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/store/checksums.h"

namespace hindsight {
namespace {

constexpr const char* kMetaTable =
    "CREATE TABLE meta (id INTEGER PRIMARY KEY CHECK (id = 1), store BLOB NOT NULL, "
    "secret BLOB NOT NULL, checksum BLOB NOT NULL)";
constexpr const char* kProgressTable =
    "CREATE TABLE progress (id INTEGER PRIMARY KEY CHECK (id = 1), epoch INTEGER NOT NULL, "
    "commits INTEGER NOT NULL, entries INTEGER NOT NULL, dropped INTEGER NOT NULL, "
    "next_log INTEGER NOT NULL, logs INTEGER NOT NULL, digest INTEGER NOT NULL, "
    "checksum BLOB NOT NULL)";
constexpr const char* kLogsTable =
    "CREATE TABLE logs (id INTEGER PRIMARY KEY, name TEXT NOT NULL, first INTEGER NOT NULL, "
    "checksum BLOB NOT NULL)";
constexpr const char* kAllEntriesTable =  // of version 1
    "CREATE TABLE entries (log INTEGER NOT NULL, position INTEGER NOT NULL, "
    "checksum BLOB NOT NULL, payload BLOB NOT NULL, PRIMARY KEY (log, position)) WITHOUT ROWID";

std::string create_entries_table(LogId log) {
  return "CREATE TABLE " + entries_table(log) +
         " (position INTEGER PRIMARY KEY, checksum BLOB NOT NULL, payload BLOB NOT NULL)";
}

std::uint64_t meta_hash(const Meta& meta) {
  return hash_bytes(meta.secret, hash_bytes(meta.store));
}

std::array<std::uint64_t, 7> fields(const Progress& progress) {
  return {progress.epoch,    progress.commits, progress.entries, progress.dropped,
          progress.next_log, progress.logs,    progress.digest};
}

std::uint64_t progress_hash(const Progress& progress) {
  const auto values = fields(progress);
  return hash_bytes(std::as_bytes(std::span(values)));
}

Error damaged(const Db& db, const std::string& what) {
  return {ErrorCode::kCorrupt, db.file() + ": " + what + " is damaged", ""};
}

Error other_version(const Db& db, std::uint64_t version) {
  constexpr std::uint64_t kMaxPlausible = 10'000;
  if (version > kMaxPlausible) {
    return damaged(db, "the header");
  }
  const bool newer = version > kSchemaVersion;
  return {newer ? ErrorCode::kNewerVersion : ErrorCode::kConflict,
          db.file() + " is of version " + std::to_string(version) + ", this program's is " +
              std::to_string(kSchemaVersion) +
              (newer ? "; use a newer Hindsight" : "; a start of the server brings it up to date"),
          ""};
}

/// RETURNS: whether all logs have one table, as in version 1.
Result<bool> shares_a_table(const Db& db) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::uint64_t version, db.number("PRAGMA user_version"));
  return version == 1;
}

// Version 1: everything, with one table for the entries of all logs.
Result<void> make_tables(const Db& db) {
  for (const char* table : {kMetaTable, kProgressTable, kLogsTable, kAllEntriesTable}) {
    HINDSIGHT_RETURN_IF_ERROR(db.exec(table));
  }
  Meta meta;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(meta.store.data()), meta.store.size()) != 1 ||
      RAND_bytes(reinterpret_cast<unsigned char*>(meta.secret.data()), meta.secret.size()) != 1) {
    return Error{ErrorCode::kIo, "the system gives no random numbers", ""};
  }
  const Checksum checksum = to_checksum(meta_hash(meta));
  HINDSIGHT_ASSIGN_OR_RETURN(Statement insert, db.prepare("INSERT INTO meta VALUES (1, ?, ?, ?)"));
  insert.bind(1, meta.store);
  insert.bind(2, meta.secret);
  insert.bind(3, checksum);
  HINDSIGHT_RETURN_IF_ERROR(insert.run());
  HINDSIGHT_ASSIGN_OR_RETURN(Statement progress, prepare_save_progress(db));
  return save_progress(progress, Progress());
}

// Version 2: a table for each log. Entries are appended at the end of their table only, which packs
// pages full and never copies an old entry to another page.
Result<void> split_entries(const Db& db) {
  HINDSIGHT_ASSIGN_OR_RETURN(const Progress progress, load_progress(db));
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogRow> logs, load_logs(db, progress.logs));
  for (const LogRow& log : logs) {
    HINDSIGHT_RETURN_IF_ERROR(db.exec(create_entries_table(log.id)));
    HINDSIGHT_RETURN_IF_ERROR(db.exec("INSERT INTO " + entries_table(log.id) +
                                      " SELECT position, checksum, payload FROM entries "
                                      "WHERE log = " +
                                      std::to_string(log.id) + " ORDER BY position"));
  }
  return db.exec("DROP TABLE entries");
}

struct Migration {
  std::uint64_t to;
  Result<void> (*step)(const Db&);
};

constexpr Migration kMigrations[] = {{1, make_tables}, {2, split_entries}};
static_assert(kMigrations[std::size(kMigrations) - 1].to == kSchemaVersion);

Result<void> run_step(const Db& db, const Migration& migration,
                      const std::function<void(std::string_view)>& at_point) {
  HINDSIGHT_RETURN_IF_ERROR(db.exec("BEGIN IMMEDIATE"));
  Result<void> done = migration.step(db);
  if (done.ok()) {
    done = db.exec("PRAGMA user_version = " + std::to_string(migration.to));
  }
  if (done.ok() && at_point) {
    at_point("during_migration");
  }
  if (done.ok()) {
    done = db.exec("COMMIT");
  }
  if (!done.ok()) {
    // The first error is the one to report.
    (void)db.exec("ROLLBACK").ok();
  } else if (at_point) {
    at_point("after_migration");
  }
  return done;
}

}  // namespace

std::string entries_table(LogId log) { return "entries_" + std::to_string(log); }

Result<std::string> entries_source(const Db& db, LogId log) {
  HINDSIGHT_ASSIGN_OR_RETURN(const bool shared, shares_a_table(db));
  return shared ? "(SELECT position, checksum, payload FROM entries WHERE log = " +
                      std::to_string(log) + ")"
                : entries_table(log);
}

std::uint64_t log_row_hash(const LogRow& row) {
  ByteWriter out;
  out.put(row.id);
  out.put(std::string_view(row.name));
  out.put(row.first);
  return hash_bytes(out.bytes());
}

Result<void> migrate(const Db& db, const std::function<void(std::string_view)>& at_point) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::uint64_t version, db.number("PRAGMA user_version"));
  if (version > kSchemaVersion) {
    return other_version(db, version);
  }
  for (const Migration& migration : kMigrations) {
    if (migration.to > version) {
      HINDSIGHT_RETURN_IF_ERROR(run_step(db, migration, at_point));
    }
  }
  return {};
}

Result<void> require_readable(const Db& db) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::uint64_t version, db.number("PRAGMA user_version"));
  return version >= 1 && version <= kSchemaVersion ? Result<void>()
                                                   : Result<void>(other_version(db, version));
}

Result<void> check_tables(const Db& db, const std::vector<LogRow>& logs) {
  HINDSIGHT_ASSIGN_OR_RETURN(const bool shared, shares_a_table(db));
  std::map<std::string, std::string> expected = {
      {"meta", kMetaTable}, {"progress", kProgressTable}, {"logs", kLogsTable}};
  if (shared) {
    expected["entries"] = kAllEntriesTable;
  }
  for (const LogRow& log : logs) {
    if (!shared) {
      expected[entries_table(log.id)] = create_entries_table(log.id);
    }
  }
  HINDSIGHT_ASSIGN_OR_RETURN(
      Statement tables, db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table'"));
  std::size_t found = 0;
  for (;;) {
    HINDSIGHT_ASSIGN_OR_RETURN(const bool row, tables.step());
    if (!row) {
      break;
    }
    const auto table = expected.find(tables.text(0));
    // Tables of dropped logs may still be there; others are a person's own.
    if (table == expected.end()) {
      continue;
    }
    if (table->second != tables.text(1)) {
      return damaged(db, "the table " + table->first);
    }
    found += 1;
  }
  if (found != expected.size()) {
    return Error{ErrorCode::kCorrupt, db.file() + " lacks some of its tables", ""};
  }
  return {};
}

Result<Meta> load_meta(const Db& db) {
  HINDSIGHT_ASSIGN_OR_RETURN(Statement query,
                             db.prepare("SELECT store, secret, checksum FROM meta WHERE id = 1"));
  HINDSIGHT_ASSIGN_OR_RETURN(const bool row, query.step());
  Meta meta;
  if (!row || query.bytes(0).size() != meta.store.size() ||
      query.bytes(1).size() != meta.secret.size()) {
    return damaged(db, "the table meta");
  }
  std::memcpy(meta.store.data(), query.bytes(0).data(), meta.store.size());
  std::memcpy(meta.secret.data(), query.bytes(1).data(), meta.secret.size());
  if (!same_checksum(query.bytes(2), meta_hash(meta))) {
    return damaged(db, "the table meta");
  }
  return meta;
}

Result<Progress> load_progress(const Db& db) {
  HINDSIGHT_ASSIGN_OR_RETURN(Statement query,
                             db.prepare("SELECT epoch, commits, entries, dropped, next_log, logs, "
                                        "digest, checksum FROM progress WHERE id = 1"));
  HINDSIGHT_ASSIGN_OR_RETURN(const bool row, query.step());
  if (!row) {
    return damaged(db, "the table progress");
  }
  const Progress progress = {query.number(0), query.number(1), query.number(2), query.number(3),
                             query.number(4), query.number(5), query.number(6)};
  if (!same_checksum(query.bytes(7), progress_hash(progress))) {
    return damaged(db, "the table progress");
  }
  return progress;
}

Result<std::vector<LogRow>> load_logs(const Db& db, std::uint64_t expected_digest) {
  HINDSIGHT_ASSIGN_OR_RETURN(Statement query,
                             db.prepare("SELECT id, name, first, checksum FROM logs ORDER BY id"));
  std::vector<LogRow> logs;
  std::uint64_t digest = 0;
  for (;;) {
    HINDSIGHT_ASSIGN_OR_RETURN(const bool row, query.step());
    if (!row) {
      break;
    }
    logs.push_back({query.number(0), query.text(1), query.number(2)});
    if (!same_checksum(query.bytes(3), log_row_hash(logs.back()))) {
      return damaged(db, "the row of log " + std::to_string(logs.back().id) + " in the table logs");
    }
    digest ^= log_row_hash(logs.back());
  }
  if (digest != expected_digest) {
    return damaged(db, "the table logs");
  }
  return logs;
}

Result<Position> find_head(const Db& db, const LogRow& log) {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::string source, entries_source(db, log.id));
  HINDSIGHT_ASSIGN_OR_RETURN(Statement last,
                             db.prepare("SELECT position, checksum, payload FROM " + source +
                                        " ORDER BY position DESC LIMIT 1"));
  HINDSIGHT_ASSIGN_OR_RETURN(const bool row, last.step());
  if (!row) {
    return log.first - 1;
  }
  const Position position = last.number(0);
  if (!same_checksum(last.bytes(1), entry_hash(log.id, position, last.bytes(2)))) {
    return damaged(db, "entry " + std::to_string(position) + " of log " + std::to_string(log.id));
  }
  return std::max(position, log.first - 1);
}

Mark mark_of(const Meta& meta, const Progress& progress) {
  return {meta.store, progress.epoch, progress.commits, progress.entries, progress.digest};
}

Result<Statement> prepare_save_progress(const Db& db) {
  return db.prepare("INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)");
}

Result<void> save_progress(Statement& statement, const Progress& progress) {
  int index = 0;
  for (const std::uint64_t value : fields(progress)) {
    statement.bind(++index, value);
  }
  const Checksum checksum = to_checksum(progress_hash(progress));
  statement.bind(++index, checksum);
  return statement.run();
}

Result<void> insert_log(const Db& db, const LogRow& row) {
  HINDSIGHT_RETURN_IF_ERROR(db.exec(create_entries_table(row.id)));
  HINDSIGHT_ASSIGN_OR_RETURN(Statement insert, db.prepare("INSERT INTO logs VALUES (?, ?, ?, ?)"));
  const Checksum checksum = to_checksum(log_row_hash(row));
  insert.bind(1, row.id);
  insert.bind(2, std::string_view(row.name));
  insert.bind(3, row.first);
  insert.bind(4, checksum);
  return insert.run();
}

Result<void> update_log(const Db& db, const LogRow& row) {
  HINDSIGHT_ASSIGN_OR_RETURN(Statement update,
                             db.prepare("UPDATE logs SET first = ?, checksum = ? WHERE id = ?"));
  const Checksum checksum = to_checksum(log_row_hash(row));
  update.bind(1, row.first);
  update.bind(2, checksum);
  update.bind(3, row.id);
  return update.run();
}

Result<void> delete_log(const Db& db, LogId log) {
  HINDSIGHT_ASSIGN_OR_RETURN(Statement remove, db.prepare("DELETE FROM logs WHERE id = ?"));
  remove.bind(1, log);
  return remove.run();
}

}  // namespace hindsight
