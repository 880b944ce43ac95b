#include "src/store/sqlite_view.h"

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
      : reader_(database_file(folder), "", logs_), snapshots_(snapshot_folder(folder), {}) {}

  Result<void> load(const Db& db) {
    HINDSIGHT_RETURN_IF_ERROR(require_readable(db));
    // One transaction: what is read of the tables belongs together.
    HINDSIGHT_RETURN_IF_ERROR(db.exec("BEGIN"));
    HINDSIGHT_ASSIGN_OR_RETURN(const Progress progress, load_progress(db));
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogRow> rows, load_logs(db, progress.logs));
    for (const LogRow& row : rows) {
      HINDSIGHT_ASSIGN_OR_RETURN(const Position head, find_head(db, row));
      logs_.add(row.id, {row.name, row.first, head});
    }
    return db.exec("COMMIT");
  }

  Result<std::vector<LogInfo>> logs() const override { return logs_.list(); }
  Result<std::vector<LogEntry>> read(LogId log, Position after,
                                     std::size_t max_entries) const override {
    return reader_.read(log, after, max_entries);
  }
  Result<Payload> read_at(LogId log, Position position) const override {
    return reader_.read_at(log, position);
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
  LogTable logs_;
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
  HINDSIGHT_ASSIGN_OR_RETURN(const Db db, Db::open(file, ""));
  auto view = std::make_unique<SqliteView>(folder);
  HINDSIGHT_RETURN_IF_ERROR(view->load(db));
  return std::unique_ptr<LogView>(std::move(view));
}

}  // namespace hindsight
