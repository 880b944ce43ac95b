#include "src/store/sqlite_backup.h"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/store/file_sync.h"
#include "src/store/high_water.h"
#include "src/store/snapshot_files.h"
#include "src/store/sqlite_db.h"
#include "src/store/sqlite_open.h"
#include "src/store/sqlite_schema.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

constexpr int kPagesAtOnce = 1024;

struct CloseBackup {
  void operator()(sqlite3_backup* backup) const { sqlite3_backup_finish(backup); }
};

/// Copies a file that is only ever replaced as a whole. RETURNS: whether it was there. Whoever owns
/// the folder must not have root copy what the owner may not read.
Result<bool> copy_if_there(const fs::path& from, const fs::path& to) {
  const Result<std::vector<std::byte>> bytes = read_file(from, Links::kRefuse);
  if (!bytes.ok()) {
    return bytes.error().code == ErrorCode::kNotFound ? Result<bool>(false)
                                                      : Result<bool>(bytes.error());
  }
  HINDSIGHT_RETURN_IF_ERROR(replace_file(to, *bytes));
  return true;
}

/// RETURNS: the place without links, "." and a slash at its end, so that a name can be made of it.
Result<fs::path> plain_place(const fs::path& to) {
  std::error_code code;
  const fs::path plain = fs::weakly_canonical(fs::absolute(to), code);
  if (code) {
    return Error{ErrorCode::kIo, "cannot find " + to.string() + ": " + code.message(), "--to"};
  }
  return plain.has_filename() ? plain : plain.parent_path();
}

class Backup {
 public:
  /// REQUIRES: `to` as plain_place() gives it
  Backup(const BackupOptions& options, fs::path to)
      : options_(options), to_(std::move(to)), part_(to_.string() + ".part") {}

  Result<BackupReport> run() {
    HINDSIGHT_RETURN_IF_ERROR(check_places());
    HINDSIGHT_RETURN_IF_ERROR(look_at_source());
    HINDSIGHT_RETURN_IF_ERROR(make_folder(part_));
    HINDSIGHT_RETURN_IF_ERROR(copy_snapshots());
    at_point("after_backup_snapshots");
    HINDSIGHT_RETURN_IF_ERROR(copy_database());
    for (const std::string& name : options_.other_files) {
      HINDSIGHT_RETURN_IF_ERROR(copy_if_there(options_.from / name, part_ / name));
    }
    // The mark last: without it, what is there is no store that opens.
    HINDSIGHT_RETURN_IF_ERROR(finish_copy());
    at_point("before_backup_rename");
    if (::rename(part_.c_str(), to_.c_str()) != 0) {
      return failed("cannot rename " + part_.string() + " to " + to_.string());
    }
    HINDSIGHT_RETURN_IF_ERROR(sync_folder(to_.parent_path()));
    return report_;
  }

 private:
  static Error failed(const std::string& what) {
    return {ErrorCode::kIo, what + ": " + std::strerror(errno), ""};
  }

  void at_point(std::string_view point) const {
    if (options_.at_point) {
      options_.at_point(point);
    }
  }

  Result<void> check_places() const {
    std::error_code code;
    if (fs::exists(part_, code)) {
      return Error{ErrorCode::kConflict,
                   part_.string() + " is left from a backup that did not end; delete it", "--to"};
    }
    if (fs::exists(to_, code) && !(fs::is_directory(to_, code) && fs::is_empty(to_, code))) {
      return Error{ErrorCode::kConflict,
                   to_.string() + " is there and not empty; choose another place", "--to"};
    }
    if (!fs::exists(database_file(options_.from), code)) {
      return Error{ErrorCode::kNotFound,
                   "there is no " + database_file(options_.from).string() + "; name a data folder",
                   ""};
    }
    for (const fs::path& place :
         {database_file(options_.from), fs::path(database_file(options_.from).string() + "-wal"),
          snapshot_folder(options_.from)}) {
      if (fs::is_symlink(place, code)) {
        return Error{ErrorCode::kIo,
                     place.string() + " is a link; a backup copies what is in the folder itself",
                     ""};
      }
    }
    return require_database(options_.from);
  }

  /// From here on the source stands still for this connection, however long the copying takes.
  Result<void> look_at_source() {
    HINDSIGHT_ASSIGN_OR_RETURN(source_.db, Db::open(database_file(options_.from), ""));
    HINDSIGHT_RETURN_IF_ERROR(source_.db.exec("BEGIN"));
    HINDSIGHT_RETURN_IF_ERROR(require_readable(source_.db));
    HINDSIGHT_RETURN_IF_ERROR(load_tables(source_));
    SqliteStoreOptions strict;
    strict.folder = options_.from;
    HINDSIGHT_RETURN_IF_ERROR(check_heads(strict, source_));
    report_.logs = source_.logs.size();
    return {};
  }

  Result<void> copy_snapshots() {
    const SnapshotFiles from(snapshot_folder(options_.from), {});
    for (std::size_t i = 0; i < source_.logs.size(); ++i) {
      const LogRow& log = source_.logs[i];
      const Position head = source_.heads[i];
      report_.entries += head - (log.first - 1);
      bool fits = log.first == 1;
      HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<Position> positions, from.list(log.id));
      for (const Position position : positions) {
        if (position > head) {
          continue;  // of what came after the copying began
        }
        const std::string name = snapshot_name(log.id, position);
        HINDSIGHT_RETURN_IF_ERROR(make_folder((part_ / name).parent_path()));
        HINDSIGHT_ASSIGN_OR_RETURN(const bool copied,
                                   copy_if_there(options_.from / name, part_ / name));
        report_.snapshots += copied ? 1 : 0;
        fits = fits || (copied && position + 1 >= log.first);
      }
      if (!fits) {
        return Error{ErrorCode::kConflict,
                     "the log of " + log.name + " was shortened while it was looked at; delete " +
                         part_.string() + " and try again",
                     ""};
      }
    }
    return {};
  }

  Result<void> copy_database() {
    HINDSIGHT_RETURN_IF_ERROR(make_database_file(database_file(part_)));
    HINDSIGHT_ASSIGN_OR_RETURN(copy_, Db::open(database_file(part_), ""));
    // A copy that is cut short is thrown away: no journal. It is synced when it is whole.
    HINDSIGHT_RETURN_IF_ERROR(copy_.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"));
    const std::unique_ptr<sqlite3_backup, CloseBackup> backup(
        sqlite3_backup_init(copy_.get(), "main", source_.db.get(), "main"));
    if (!backup) {
      return sqlite_error(sqlite3_errcode(copy_.get()), copy_.file(), sqlite3_errmsg(copy_.get()));
    }
    for (;;) {
      const int code = sqlite3_backup_step(backup.get(), kPagesAtOnce);
      if (options_.progress) {
        const auto pages = static_cast<std::uint64_t>(sqlite3_backup_pagecount(backup.get()));
        const auto left = static_cast<std::uint64_t>(sqlite3_backup_remaining(backup.get()));
        options_.progress(pages - left, pages);
      }
      at_point("during_backup_database");
      if (code == SQLITE_DONE) {
        return {};
      }
      if (code != SQLITE_OK) {
        return sqlite_error(code, copy_.file(), "cannot copy " + source_.db.file());
      }
    }
  }

  /// Skips epochs, writes the mark that fits the copy, and leaves the database in one file.
  Result<void> finish_copy() {
    Progress progress = source_.progress;
    progress.epoch += planted(Fault::kCopyWithoutEpochs) ? 0 : kSkipped;
    progress.next_log += kSkipped;
    progress.commits += 1;
    HINDSIGHT_RETURN_IF_ERROR(copy_.exec("PRAGMA synchronous = FULL"));
    {
      HINDSIGHT_ASSIGN_OR_RETURN(Statement save, prepare_save_progress(copy_));
      HINDSIGHT_RETURN_IF_ERROR(save_progress(save, progress));
    }
    const int code = sqlite3_wal_checkpoint_v2(copy_.get(), nullptr, SQLITE_CHECKPOINT_TRUNCATE,
                                               nullptr, nullptr);
    if (code != SQLITE_OK) {
      return sqlite_error(code, copy_.file(), "cannot checkpoint");
    }
    // Nothing is left for it to do when it closes, but to remove the write-ahead log.
    sqlite3_db_config(copy_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
    copy_ = Db();
    HINDSIGHT_RETURN_IF_ERROR(sync_file(database_file(part_)));
    HighWater mark(mark_file(part_), {});
    return mark.create(mark_of(source_.meta, progress));
  }

  const BackupOptions& options_;
  const fs::path to_;
  const fs::path part_;
  OpenedStore source_;
  Db copy_;
  BackupReport report_;
};

}  // namespace

Result<BackupReport> backup_sqlite_store(const BackupOptions& options) {
  HINDSIGHT_ASSIGN_OR_RETURN(fs::path to, plain_place(options.to));
  return Backup(options, std::move(to)).run();
}

}  // namespace hindsight
