#include "src/store/log_reader.h"

#include <algorithm>
#include <utility>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/store/checksums.h"
#include "src/store/sqlite_schema.h"

namespace hindsight {
namespace {

constexpr std::size_t kMaxReadBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxIdle = 8;
constexpr std::size_t kMaxQueries = 64;  // kept prepared by one connection

}  // namespace

LogReader::LogReader(std::filesystem::path file, std::string vfs, const LogTable& logs)
    : file_(std::move(file)), vfs_(std::move(vfs)), logs_(logs) {}

Result<std::unique_ptr<LogReader::Connection>> LogReader::take() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  auto connection = std::make_unique<Connection>();
  HINDSIGHT_ASSIGN_OR_RETURN(connection->db, Db::open(file_, vfs_));
  HINDSIGHT_RETURN_IF_ERROR(connection->db.exec("PRAGMA query_only = ON"));
  return connection;
}

void LogReader::give_back(std::unique_ptr<Connection> connection) const {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdle) {
    idle_.push_back(std::move(connection));
  }
}

Error LogReader::corrupt(LogId log, Position position, const char* what) const {
  return {ErrorCode::kCorrupt,
          file_.string() + ": entry " + std::to_string(position) + " of log " +
              std::to_string(log) + " " + what,
          ""};
}

Result<std::vector<LogEntry>> LogReader::run(Connection& connection, const Wanted& wanted) const {
  auto found = connection.queries.find(wanted.log);
  if (found == connection.queries.end()) {
    if (connection.queries.size() >= kMaxQueries) {
      connection.queries.clear();
    }
    HINDSIGHT_ASSIGN_OR_RETURN(const std::string source, entries_source(connection.db, wanted.log));
    HINDSIGHT_ASSIGN_OR_RETURN(
        Statement query,
        connection.db.prepare("SELECT position, checksum, payload FROM " + source +
                              " WHERE position BETWEEN ? AND ? ORDER BY position"));
    found = connection.queries.emplace(wanted.log, std::move(query)).first;
  }
  Statement& query = found->second;
  const ResetAtExit reset(query);
  query.bind(1, wanted.first);
  query.bind(2, wanted.last);
  std::vector<LogEntry> entries;
  entries.reserve(std::min<std::size_t>(wanted.last - wanted.first + 1, 4096));
  std::size_t bytes = 0;
  for (Position next = wanted.first; next <= wanted.last && bytes < kMaxReadBytes; ++next) {
    const Result<bool> row = query.step();
    if (!row.ok()) {
      return Error{row.error().code,
                   row.error().message + ", at entry " + std::to_string(next) + " of log " +
                       std::to_string(wanted.log),
                   ""};
    }
    if (!*row || query.number(0) != next) {
      return corrupt(wanted.log, next, "is missing");
    }
    const auto payload = query.bytes(2);
    if (!same_checksum(query.bytes(1), entry_hash(wanted.log, next, payload)) &&
        !planted(Fault::kSkipEntryChecksum)) {
      return corrupt(wanted.log, next, "is damaged");
    }
    bytes += payload.size();
    entries.push_back({next, Payload(payload.begin(), payload.end())});
  }
  return entries;
}

Result<std::vector<LogEntry>> LogReader::read_range(const Wanted& wanted) const {
  HINDSIGHT_ASSIGN_OR_RETURN(auto connection, take());
  auto entries = run(*connection, wanted);
  give_back(std::move(connection));
  return entries;
}

Result<std::vector<LogEntry>> LogReader::read(LogId log, Position after,
                                              std::size_t max_entries) const {
  std::optional<LogState> state = logs_.find(log);
  for (;;) {
    if (!state) {
      return no_such_log(log);
    }
    const Position before = std::max(after, state->first - 1);
    if (before >= state->head || max_entries == 0) {
      return std::vector<LogEntry>();
    }
    const Position count = std::min<Position>(state->head - before, max_entries);
    auto entries = read_range({log, before + 1, before + count});
    if (entries.ok()) {
      return entries;
    }
    // Entries that were dropped meanwhile are not missing.
    std::optional<LogState> now = logs_.find(log);
    if (now && now->first == state->first) {
      return entries;
    }
    state = std::move(now);
  }
}

Result<Payload> LogReader::read_at(LogId log, Position position) const {
  const std::optional<LogState> state = logs_.find(log);
  if (!state) {
    return no_such_log(log);
  }
  if (position >= state->first && position <= state->head) {
    HINDSIGHT_ASSIGN_OR_RETURN(auto entries, read(log, position - 1, 1));
    if (!entries.empty() && entries[0].position == position) {
      return std::move(entries[0].payload);
    }
  }
  return Error{ErrorCode::kNotFound,
               "log " + std::to_string(log) + " has no entry " + std::to_string(position), ""};
}

}  // namespace hindsight
