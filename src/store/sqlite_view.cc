#include "src/store/sqlite_view.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/core/check.h"
#include "src/store/log_reader.h"
#include "src/store/log_table.h"
#include "src/store/snapshot_files.h"
#include "src/store/sqlite_db.h"
#include "src/store/sqlite_open.h"
#include "src/store/sqlite_schema.h"

namespace hindsight {
namespace {

class SqliteView final : public LogView {
 public:
  explicit SqliteView(const std::filesystem::path& folder)
      : file_(database_file(folder)),
        reader_(file_, "", logs_),
        snapshots_(snapshot_folder(folder), {}) {}

  Result<void> load() {
    HINDSIGHT_ASSIGN_OR_RETURN(const Db db, Db::open(file_, ""));
    HINDSIGHT_RETURN_IF_ERROR(require_readable(db));
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogRow> rows, begin_reading(db));
    for (const LogRow& row : rows) {
      HINDSIGHT_ASSIGN_OR_RETURN(const Position head, find_head(db, row));
      logs_.add(row.id, {row.name, row.first, head});
    }
    return db.exec("COMMIT");
  }

  Result<std::vector<LogInfo>> logs() const override { return logs_.list(); }
  Result<std::vector<LogEntry>> read(LogId log, Position after,
                                     std::size_t max_entries) const override {
    return unless_dropped(log, [&] { return reader_.read(log, after, max_entries); });
  }
  Result<Payload> read_at(LogId log, Position position) const override {
    return unless_dropped(log, [&] { return reader_.read_at(log, position); });
  }
  Result<Position> head(LogId log) const override {
    const std::optional<LogState> state = logs_.find(log);
    return state ? Result<Position>(state->head) : Result<Position>(no_such_log(log));
  }
  Result<Position> first(LogId log) const override {
    const std::optional<LogState> state = logs_.find(log);
    return state ? Result<Position>(state->first) : Result<Position>(no_such_log(log));
  }
  Result<std::vector<Position>> snapshots(LogId log) const override { return snapshots_.list(log); }
  Result<std::vector<std::byte>> get_snapshot(LogId log, Position position) const override {
    return snapshots_.get(log, position);
  }

 private:
  /// Begins a transaction: what is read of the tables belongs together.
  static Result<std::vector<LogRow>> begin_reading(const Db& db) {
    HINDSIGHT_RETURN_IF_ERROR(db.exec("BEGIN"));
    HINDSIGHT_ASSIGN_OR_RETURN(const Progress progress, load_progress(db));
    return load_logs(db, progress.logs);
  }

  /// Reads again where the server has dropped entries since: then they are not missing.
  template <class Read>
  std::invoke_result_t<Read> unless_dropped(LogId log, const Read& read) const {
    std::optional<LogState> before = logs_.find(log);
    for (;;) {
      auto result = read();
      if (result.ok() || !before || result.error().code == ErrorCode::kNotFound) {
        return result;
      }
      notice_drops(log);
      std::optional<LogState> now = logs_.find(log);
      if (now && now->first == before->first) {
        return result;
      }
      before = std::move(now);
    }
  }

  /// Takes up from where the log begins by now, or that it is gone.
  void notice_drops(LogId log) const {
    const std::lock_guard lock(mutex_);  // so that no look of before comes after one of now
    const Result<Db> db = Db::open(file_, "");
    const auto rows = db.ok() ? begin_reading(*db) : Result<std::vector<LogRow>>(db.error());
    if (!rows.ok()) {
      return;
    }
    const auto row = std::find_if(rows->begin(), rows->end(),
                                  [log](const LogRow& one) { return one.id == log; });
    if (row == rows->end()) {
      logs_.remove(log);
    } else {
      logs_.set_first(log, row->first);
    }
  }

  const std::filesystem::path file_;
  mutable std::mutex mutex_;
  mutable LogTable logs_;  // what was there when the view was opened, less what was dropped since
  LogReader reader_;
  SnapshotFiles snapshots_;
};

}  // namespace

Result<std::unique_ptr<LogView>> open_sqlite_view(const std::filesystem::path& folder) {
  const std::filesystem::path file = database_file(folder);
  std::error_code code;
  if (!std::filesystem::exists(file, code)) {
    return Error{ErrorCode::kNotFound, "there is no " + file.string() + "; name a data folder", ""};
  }
  HINDSIGHT_RETURN_IF_ERROR(require_database(folder));
  auto view = std::make_unique<SqliteView>(folder);
  HINDSIGHT_RETURN_IF_ERROR(view->load());
  return std::unique_ptr<LogView>(std::move(view));
}

}  // namespace hindsight
