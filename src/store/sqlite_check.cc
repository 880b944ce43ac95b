#include "src/store/sqlite_check.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "src/core/check.h"
#include "src/store/high_water.h"
#include "src/store/snapshot_files.h"
#include "src/store/sqlite_db.h"
#include "src/store/sqlite_open.h"
#include "src/store/sqlite_view.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRestore = "; restore the folder from a copy";

class Check {
 public:
  explicit Check(const fs::path& folder) { options_.folder = folder; }

  Result<CheckedStore> run() {
    std::error_code code;
    if (!fs::is_directory(options_.folder, code)) {
      return Error{ErrorCode::kNotFound, "there is no folder " + options_.folder.string(), ""};
    }
    if (!fs::exists(mark_file(options_.folder), code) &&
        !fs::exists(database_file(options_.folder), code) &&
        !fs::exists(snapshot_folder(options_.folder), code) && !has_wal(options_.folder)) {
      return Error{ErrorCode::kNotFound,
                   "there is no store in " + options_.folder.string() + "; name a data folder", ""};
    }
    HINDSIGHT_ASSIGN_OR_RETURN(checked_.lock, FolderLock::take(options_.folder));
    const Result<std::optional<Mark>> mark = HighWater::peek(mark_file(options_.folder));
    if (!mark.ok()) {
      found(mark_file(options_.folder), mark.error().message + kRestore);
    } else if (!mark->has_value()) {
      found(mark_file(options_.folder),
            "is missing: whether the log has lost its end cannot be known" + std::string(kRestore));
    }
    if (check_database(mark.ok() ? *mark : std::nullopt)) {
      check_snapshots();
    }
    return std::move(checked_);
  }

 private:
  void found(const fs::path& file, std::string problem) {
    checked_.findings.push_back(
        {file.lexically_relative(options_.folder).string(), std::move(problem)});
  }

  /// RETURNS: whether it could be read.
  bool check_database(const std::optional<Mark>& mark) {
    const Result<void> read = read_database(mark);
    if (!read.ok()) {
      found(database_file(options_.folder), read.error().message);
    }
    return read.ok();
  }

  Result<void> read_database(const std::optional<Mark>& mark) {
    HINDSIGHT_RETURN_IF_ERROR(require_database(options_.folder));
    HINDSIGHT_ASSIGN_OR_RETURN(store_.db, Db::open(database_file(options_.folder), ""));
    HINDSIGHT_RETURN_IF_ERROR(require_readable(store_.db));
    HINDSIGHT_RETURN_IF_ERROR(load_tables(store_));
    if (mark) {
      HINDSIGHT_RETURN_IF_ERROR(check_mark(options_, *mark, store_));
    }
    HINDSIGHT_RETURN_IF_ERROR(check_heads(options_, store_));
    HINDSIGHT_RETURN_IF_ERROR(check_pages());
    HINDSIGHT_ASSIGN_OR_RETURN(checked_.view, open_sqlite_view(options_.folder));
    return {};
  }

  /// What SQLite itself finds wrong with its pages.
  Result<void> check_pages() {
    HINDSIGHT_ASSIGN_OR_RETURN(Statement check, store_.db.prepare("PRAGMA quick_check(5)"));
    for (;;) {
      HINDSIGHT_ASSIGN_OR_RETURN(const bool row, check.step());
      if (!row) {
        return {};
      }
      if (std::string text = check.text(0); text != "ok") {
        std::replace(text.begin(), text.end(), '\n', ' ');
        found(database_file(options_.folder), text + kRestore);
      }
    }
  }

  void check_snapshots() {
    const SnapshotFiles files(snapshot_folder(options_.folder), {});
    const Result<std::vector<LogId>> logs = files.logs();
    if (!logs.ok()) {
      return found(snapshot_folder(options_.folder), logs.error().message);
    }
    for (const LogId log : *logs) {
      const Result<std::vector<Position>> positions = files.list(log);
      if (!positions.ok()) {
        found(snapshot_folder(options_.folder), positions.error().message);
        continue;
      }
      for (const Position position : *positions) {
        check_snapshot_place(log, position);
      }
    }
  }

  /// A snapshot beyond the end of its log shows that the log lost its end.
  void check_snapshot_place(LogId log, Position position) {
    const auto row = std::find_if(store_.logs.begin(), store_.logs.end(),
                                  [log](const LogRow& one) { return one.id == log; });
    const bool dropped = row == store_.logs.end() && log < store_.progress.next_log;
    const bool within =
        row != store_.logs.end() &&
        position <= store_.heads[static_cast<std::size_t>(row - store_.logs.begin())];
    if (!dropped && !within) {
      found(options_.folder / snapshot_name(log, position),
            "is of a position that the log does not reach: the log has lost its end" +
                std::string(kRestore));
    }
  }

  SqliteStoreOptions options_;
  OpenedStore store_;
  CheckedStore checked_;
};

}  // namespace

Result<CheckedStore> check_sqlite_store(const fs::path& folder) { return Check(folder).run(); }

}  // namespace hindsight
