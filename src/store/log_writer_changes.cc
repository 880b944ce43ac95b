// What the writer does besides appending: logs come and go, entries are dropped and replaced, the
// write-ahead log flows back into the database.

#include <algorithm>
#include <utility>

#include "src/core/check.h"
#include "src/store/checksums.h"
#include "src/store/log_writer.h"

namespace hindsight {
namespace {

constexpr int kCheckpointPages = 4000;       // 16 MiB
constexpr int kCheckpointAgainPages = 1000;  // when readers held the last one up
constexpr std::size_t kGarbageRows = 4096;   // deleted at once, between two groups

}  // namespace

Result<LogId> LogWriter::create_log(std::string_view name) {
  LogRow row;
  row.name = std::string(name);
  const Result<void> made = wait_for(
      [&]() -> Result<void> {
        for (const auto& [id, log] : logs_) {
          if (log.row.name == name) {
            return Error{ErrorCode::kConflict, "there is a log of this name already", "name"};
          }
        }
        row.id = progress_.next_log++;
        progress_.logs ^= log_row_hash(row);
        HINDSIGHT_RETURN_IF_ERROR(insert_log(db_, row));
        return add_log(row, 0);
      },
      true,
      [&] {
        shared_.logs.add(row.id, {row.name, row.first, 0});
      });
  return made.ok() ? Result<LogId>(row.id) : Result<LogId>(made.error());
}

Result<void> LogWriter::drop_log(LogId log) {
  return wait_for(
      [this, log]() -> Result<void> {
        const auto found = logs_.find(log);
        if (found == logs_.end()) {
          return no_such_log(log);
        }
        progress_.logs ^= log_row_hash(found->second.row);
        progress_.dropped += found->second.head;
        logs_.erase(found);
        // Before the entries go, so that no reader takes them for missing.
        shared_.logs.remove(log);
        left_over_.push_back(log);
        return delete_log(db_, log);
      },
      true);
}

Result<void> LogWriter::truncate_before(LogId log, Position position) {
  return wait_for(
      [this, log, position]() -> Result<void> {
        const auto found = logs_.find(log);
        if (found == logs_.end()) {
          return no_such_log(log);
        }
        LogRow row = found->second.row;
        row.first = std::max(row.first, std::min(position, found->second.head + 1));
        progress_.logs ^= log_row_hash(found->second.row) ^ log_row_hash(row);
        HINDSIGHT_RETURN_IF_ERROR(update_log(db_, row));
        found->second.garbage = true;
        found->second.row = row;
        shared_.logs.set_first(log, row.first);
        return {};
      },
      true);
}

Result<void> LogWriter::replace(LogId log, const std::vector<LogEntry>& entries) {
  return wait_for(
      [&]() -> Result<void> {
        if (!logs_.contains(log)) {
          return no_such_log(log);
        }
        const std::string table = entries_table(log);
        HINDSIGHT_ASSIGN_OR_RETURN(
            Statement clear,
            db_.prepare("UPDATE " + table +
                        " SET payload = zeroblob(length(payload)) WHERE position = ?"));
        HINDSIGHT_ASSIGN_OR_RETURN(
            Statement update,
            db_.prepare("UPDATE " + table + " SET checksum = ?, payload = ? WHERE position = ?"));
        // Zeros of the same length first: they overwrite the old bytes where these stand. A payload
        // of another length may move its neighbours to other pages, and SQLite does not clean what
        // they leave behind.
        for (const LogEntry& entry : entries) {
          clear.bind(1, entry.position);
          HINDSIGHT_RETURN_IF_ERROR(clear.run());
        }
        for (const LogEntry& entry : entries) {
          const Checksum checksum = to_checksum(entry_hash(log, entry.position, entry.payload));
          update.bind(1, checksum);
          update.bind(2, entry.payload);
          update.bind(3, entry.position);
          HINDSIGHT_RETURN_IF_ERROR(update.run());
        }
        return {};
      },
      true);
}

Result<void> LogWriter::empty_wal() {
  return wait_for(
      [this]() -> Result<void> {
        // Without waiting: appends are behind this.
        sqlite3_busy_timeout(db_.get(), 0);
        const int code = sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE,
                                                   nullptr, nullptr);
        sqlite3_busy_timeout(db_.get(), kBusyMs);
        if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED) {
          return Error{ErrorCode::kConflict,
                       "another program has been reading the database for long; end it and try "
                       "again: old bytes are still in the write-ahead log",
                       ""};
        }
        if (code != SQLITE_OK) {
          return sqlite_error(code, db_.file(), sqlite3_errmsg(db_.get()));
        }
        checkpointed_pages_ = 0;
        wal_pages_ = 0;
        return {};
      },
      false);
}

Result<void> LogWriter::checkpoint_when_due() {
  if (wal_pages_ < checkpointed_pages_) {
    checkpointed_pages_ = 0;  // SQLite began the file anew
  }
  if (wal_pages_ < kCheckpointPages ||
      (checkpointed_pages_ > 0 && wal_pages_ < checkpointed_pages_ + kCheckpointAgainPages)) {
    return {};
  }
  const int code =
      sqlite3_wal_checkpoint_v2(db_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  checkpointed_pages_ = wal_pages_;
  const int primary = code & 0xff;
  if (code == SQLITE_OK || primary == SQLITE_BUSY || primary == SQLITE_LOCKED) {
    return {};
  }
  return sqlite_error(code, db_.file(), sqlite3_errmsg(db_.get()));
}

Result<void> LogWriter::collect_garbage() {
  for (auto& [id, log] : logs_) {
    if (log.garbage) {
      bool left = false;
      HINDSIGHT_RETURN_IF_ERROR(delete_some(id, log.row.first, left));
      if (!left) {
        log.garbage = false;
      }
      return {};
    }
  }
  if (!left_over_.empty()) {
    bool left = false;
    const LogId log = left_over_.back();
    HINDSIGHT_RETURN_IF_ERROR(delete_some(log, ~Position{0} >> 1, left));
    if (!left) {
      HINDSIGHT_RETURN_IF_ERROR(
          transact([this, log] { return db_.exec("DROP TABLE " + entries_table(log)); }));
      left_over_.pop_back();
    }
  }
  return {};
}

Result<void> LogWriter::delete_some(LogId log, Position before, bool& left) {
  const std::string table = entries_table(log);
  HINDSIGHT_ASSIGN_OR_RETURN(
      Statement last, db_.prepare("SELECT max(position) FROM (SELECT position FROM " + table +
                                  " WHERE position < ? ORDER BY position LIMIT " +
                                  std::to_string(kGarbageRows) + ")"));
  last.bind(1, before);
  HINDSIGHT_ASSIGN_OR_RETURN(const bool row, last.step());
  left = row && !last.is_null(0);
  if (!left) {
    return {};
  }
  const Position end = last.number(0);
  last.reset();
  return transact([&]() -> Result<void> {
    HINDSIGHT_ASSIGN_OR_RETURN(Statement remove,
                               db_.prepare("DELETE FROM " + table + " WHERE position <= ?"));
    remove.bind(1, end);
    return remove.run();
  });
}

}  // namespace hindsight
