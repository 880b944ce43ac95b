// LogWriter: the one thread that changes the database.
//
// Everything that waits is written in one transaction (group commit), in the order of the calls,
// and handed to the delivery, which syncs the high-water mark and answers. The first failed write
// or sync stops writing for ever.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "src/store/delivery.h"
#include "src/store/log_table.h"
#include "src/store/pipeline.h"
#include "src/store/sqlite_db.h"
#include "src/store/sqlite_schema.h"
#include "src/store/store.h"

namespace hindsight {

class LogWriter {
 public:
  struct Shared {
    LogTable& logs;
    Delivery& delivery;
    FailureLatch& failure;
    Budget& budget;
  };
  struct Start {
    Db db;
    Meta meta;
    Progress progress;
    std::vector<LogRow> logs;      // those that are in the log table
    std::vector<LogId> left_over;  // dropped logs whose entries are still there
    int group_wait_us = 0;
    std::function<void(std::string_view)> at_point;
    std::function<void(std::string_view)> warn;
  };

  /// FAILS: kCorrupt, kIo
  static Result<std::unique_ptr<LogWriter>> start(Start start, Shared shared);
  /// As stop().
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  void append(LogId log, std::vector<Payload> payloads, Store::Done done);
  /// Writes what was accepted, then stops; appends that come later fail.
  void stop();

  // These wait for their answer. REQUIRES: not called from a callback of the store
  Result<LogId> create_log(std::string_view name);
  Result<void> drop_log(LogId log);
  Result<void> truncate_before(LogId log, Position position);
  /// Puts other payloads in the place of entries that are still there.
  Result<void> replace(LogId log, const std::vector<LogEntry>& entries);
  /// Empties the write-ahead log, so that nothing replaced stays in it.
  Result<void> empty_wal();

 private:
  struct Command {
    Completion completion;
    /// Anything else than an append, in a transaction of its own unless it wants none.
    std::function<Result<void>()> body;
    bool transaction = true;
  };
  struct Log {
    LogRow row;
    Position head = 0;
    Statement insert;
    bool garbage = false;  // entries before `first` may still be there
  };

  explicit LogWriter(Start start, Shared shared);
  Result<void> prepare();
  Result<void> add_log(const LogRow& row, Position head);

  // Callers.
  Result<void> wait_for(std::function<Result<void>()> body, bool transaction,
                        const std::function<void()>& publish = {});

  void enqueue(Command command);

  // The thread.
  void run();
  std::vector<Command> next_group();
  void write_group(std::vector<Command> group);
  void write_appends(std::span<Command> group);
  void run_body(Command& command);
  void fail(std::span<Command> group, const Error& error);
  Result<void> append_entries(Completion& append, std::vector<std::uint64_t>& hashes);
  Result<void> begin();
  Result<void> transact(const std::function<Result<void>()>& body);
  Result<void> checkpoint_when_due();
  Result<void> collect_garbage();
  Result<void> delete_some(LogId log, Position before, bool& left);

  Shared shared_;
  Db db_;
  Meta meta_;
  Progress progress_;
  std::vector<LogRow> start_logs_;
  std::map<LogId, Log> logs_;
  std::vector<LogId> left_over_;
  Statement begin_;
  Statement commit_;
  Statement save_progress_;
  int group_wait_us_;
  std::function<void(std::string_view)> at_point_;
  std::function<void(std::string_view)> warn_;
  int wal_pages_ = 0;
  int checkpointed_pages_ = 0;  // of the WAL, at the last try

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Command> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hindsight
