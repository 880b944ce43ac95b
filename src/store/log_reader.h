// LogReader: reads entries of the database through connections of its own, beside the writer.
//
// Only what the log table calls durable is read; what comes is checked against its checksum and for
// gaps, so that damage is an error and never a shorter or another log.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hindsight/result.h"
#include "src/store/log_table.h"
#include "src/store/sqlite_db.h"
#include "src/store/store.h"

namespace hindsight {

class LogReader {
 public:
  LogReader(std::filesystem::path file, std::string vfs, const LogTable& logs);

  /// As Store::read and Store::read_at.
  Result<std::vector<LogEntry>> read(LogId log, Position after, std::size_t max_entries) const;
  Result<Payload> read_at(LogId log, Position position) const;

 private:
  struct Connection {
    Db db;
    std::map<LogId, Statement> queries;
  };

  struct Wanted {
    LogId log = 0;
    Position first = 0;
    Position last = 0;
  };

  Result<std::unique_ptr<Connection>> take() const;
  void give_back(std::unique_ptr<Connection> connection) const;
  Result<std::vector<LogEntry>> read_range(const Wanted& wanted) const;
  Result<std::vector<LogEntry>> run(Connection& connection, const Wanted& wanted) const;
  Error corrupt(LogId log, Position position, const char* what) const;

  std::filesystem::path file_;
  std::string vfs_;
  const LogTable& logs_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace hindsight
