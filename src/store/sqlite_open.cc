#include "src/store/sqlite_open.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/store/file_sync.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAdvice =
    ". Restore the folder from a copy, or open it with accept_lost_end to go on without what is "
    "lost";

Error lost(const std::string& what) { return {ErrorCode::kCorrupt, what + kAdvice, ""}; }

void warn(const SqliteStoreOptions& options, const std::string& text) {
  if (options.warn) {
    options.warn(text);
  }
}

std::uint64_t bytes_in(const fs::path& file) {
  std::error_code code;
  const std::uint64_t bytes = fs::file_size(file, code);
  return code ? 0 : bytes;
}

/// RETURNS: the mark, none where it is lost and that is accepted. A new folder gets one.
Result<std::optional<Mark>> find_mark(const SqliteStoreOptions& options, OpenedStore& store) {
  Result<std::optional<Mark>> mark = store.high_water->load();
  if (!mark.ok() && mark.error().code != ErrorCode::kCorrupt) {
    return mark;
  }
  const bool was_used = !mark.ok() || (mark->has_value() && (*mark)->commits > 0);
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogId> with_snapshots, store.snapshots->logs());
  if (was_used || !with_snapshots.empty() || has_wal(options.folder)) {
    HINDSIGHT_RETURN_IF_ERROR(require_database(options.folder));
  }
  const bool has_database = fs::exists(database_file(options.folder));
  if (mark.ok() && (mark->has_value() || has_database)) {
    if (!mark->has_value()) {
      const std::string text = mark_file(options.folder).string() + " is missing";
      if (!options.accept_lost_end) {
        return lost(text);
      }
      warn(options, text + "; entries may be missing from the end");
    }
    return mark;
  }
  if (!mark.ok()) {
    if (!options.accept_lost_end) {
      return lost(mark.error().message);
    }
    warn(options, mark.error().message + "; entries may be missing from the end");
    return std::optional<Mark>();
  }
  // The mark is made before the database: one without the other is a store that was never used.
  HINDSIGHT_RETURN_IF_ERROR(store.high_water->create(Mark()));
  return std::optional<Mark>(Mark());
}

Result<void> open_database(const SqliteStoreOptions& options, const std::optional<Mark>& mark,
                           OpenedStore& store) {
  const fs::path file = database_file(options.folder);
  HINDSIGHT_RETURN_IF_ERROR(make_database_file(file));
  HINDSIGHT_ASSIGN_OR_RETURN(store.db, Db::open(file, options.vfs));
  HINDSIGHT_ASSIGN_OR_RETURN(const std::uint64_t version, store.db.number("PRAGMA user_version"));
  if (version == 0 && (!mark || mark->commits > 0)) {
    return Error{ErrorCode::kCorrupt,
                 file.string() + " has lost everything" +
                     (mark ? ": " + std::to_string(mark->entries) + " entries are missing" : "") +
                     ". Restore the folder from a copy",
                 ""};
  }
  HINDSIGHT_RETURN_IF_ERROR(store.db.exec("PRAGMA journal_mode = WAL"));
  HINDSIGHT_RETURN_IF_ERROR(migrate(store.db, options.at_point));
  return load_tables(store);
}

/// A snapshot beyond the end of its log shows that the log lost its end.
Result<void> check_snapshots(const SqliteStoreOptions& options, OpenedStore& store) {
  HINDSIGHT_RETURN_IF_ERROR(store.snapshots->remove_parts());
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogId> with_folder, store.snapshots->logs());
  for (const LogId log : with_folder) {
    const auto row = std::find_if(store.logs.begin(), store.logs.end(),
                                  [log](const LogRow& one) { return one.id == log; });
    if (row == store.logs.end() && log < store.progress.next_log) {
      // A kill came between dropping the log and removing its snapshots.
      HINDSIGHT_RETURN_IF_ERROR(store.snapshots->remove_log(log));
      continue;
    }
    const Position head = row == store.logs.end()
                              ? 0
                              : store.heads[static_cast<std::size_t>(row - store.logs.begin())];
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<Position> positions, store.snapshots->list(log));
    for (const Position position : positions) {
      if (position <= head && row != store.logs.end()) {
        continue;
      }
      const std::string text = store.db.file() + " has lost entries of log " + std::to_string(log) +
                               ": there is a snapshot of position " + std::to_string(position);
      if (!options.accept_lost_end) {
        return lost(text);
      }
      warn(options, text + ", which is removed");
      HINDSIGHT_RETURN_IF_ERROR(store.snapshots->remove(log, position));
    }
  }
  return {};
}

/// Finds the tables of dropped logs that a kill left behind.
Result<void> find_left_over(OpenedStore& store) {
  HINDSIGHT_ASSIGN_OR_RETURN(
      Statement tables,
      store.db.prepare("SELECT substr(name, 9) FROM sqlite_master WHERE type = 'table' AND "
                       "name GLOB 'entries_[0-9]*'"));
  for (;;) {
    HINDSIGHT_ASSIGN_OR_RETURN(const bool row, tables.step());
    if (!row) {
      return {};
    }
    const std::string text = tables.text(0);
    LogId log = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), log);
    const bool known = std::any_of(store.logs.begin(), store.logs.end(),
                                   [log](const LogRow& one) { return one.id == log; });
    if (code == std::errc() && end == text.data() + text.size() && !known &&
        log < store.progress.next_log) {
      store.left_over.push_back(log);
    }
  }
}

/// Makes the new boot epoch durable in both files, in the mark first: should one of them be lost or
/// fall back, the other still knows it.
Result<void> begin_epoch(const std::optional<Mark>& mark, OpenedStore& store) {
  const bool in_step = mark && store.progress.commits >= mark->commits;
  store.progress.epoch =
      mark ? std::max(store.progress.epoch, mark->epoch) + (planted(Fault::kReuseEpoch) ? 0 : 1)
           : store.progress.epoch + kSkipped;
  store.progress.next_log += in_step ? 0 : kSkipped;
  if (in_step) {
    Mark next = *mark;
    next.epoch = store.progress.epoch;
    HINDSIGHT_RETURN_IF_ERROR(store.high_water->write(next));
  }
  store.progress.commits += 1;
  HINDSIGHT_ASSIGN_OR_RETURN(Statement save, prepare_save_progress(store.db));
  HINDSIGHT_RETURN_IF_ERROR(save_progress(save, store.progress));
  const Mark next = mark_of(store.meta, store.progress);
  return in_step ? store.high_water->write(next) : store.high_water->create(next);
}

}  // namespace

fs::path database_file(const fs::path& folder) { return folder / "hindsight.db"; }
fs::path mark_file(const fs::path& folder) { return folder / "high-water"; }

Result<void> make_database_file(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const bool ok = fd >= 0 && ::fchmod(fd, 0600) == 0;
  const int code = errno;
  if (fd >= 0) {
    ::close(fd);
  }
  if (!ok) {
    return Error{ErrorCode::kIo, "cannot open " + file.string() + ": " + std::strerror(code), ""};
  }
  return sync_folder(file.parent_path());
}

bool has_wal(const fs::path& folder) {
  return bytes_in(database_file(folder).string() + "-wal") > 0;
}

Result<void> require_database(const fs::path& folder) {
  const fs::path file = database_file(folder);
  if (bytes_in(file) > 0 || planted(Fault::kOpenEmptyDatabase)) {
    return {};
  }
  return Error{ErrorCode::kCorrupt,
               file.string() + (fs::exists(file) ? " is empty" : " is missing") +
                   ", but other files of the store are there. Restore the folder from a copy, or "
                   "choose an empty folder",
               ""};
}

Result<void> load_tables(OpenedStore& store) {
  HINDSIGHT_ASSIGN_OR_RETURN(store.meta, load_meta(store.db));
  HINDSIGHT_ASSIGN_OR_RETURN(store.progress, load_progress(store.db));
  HINDSIGHT_ASSIGN_OR_RETURN(store.logs, load_logs(store.db, store.progress.logs));
  return check_tables(store.db, store.logs);
}

Result<void> check_mark(const SqliteStoreOptions& options, const Mark& mark,
                        const OpenedStore& store) {
  const std::string file = database_file(options.folder).string();
  if (mark.commits > 0 && mark.store != store.meta.store) {
    return Error{ErrorCode::kCorrupt,
                 mark_file(options.folder).string() + " belongs to another store than " + file, ""};
  }
  const Progress& progress = store.progress;
  if (planted(Fault::kIgnoreMark)) {
    return {};
  }
  if (progress.commits < mark.commits) {
    const std::uint64_t entries = mark.entries - std::min(progress.entries, mark.entries);
    const std::string text = file + " has lost its end: " + std::to_string(entries) +
                             " entries in " + std::to_string(mark.commits - progress.commits) +
                             " transactions are missing";
    if (!options.accept_lost_end) {
      return lost(text);
    }
    warn(options, text);
  } else if (progress.commits == mark.commits &&
             (progress.entries != mark.entries || progress.digest != mark.digest)) {
    const std::string text = file + " is another one than high-water was written for";
    if (!options.accept_lost_end) {
      return lost(text);
    }
    warn(options, text);
  }
  return {};
}

Result<void> check_heads(const SqliteStoreOptions& options, OpenedStore& store) {
  std::uint64_t entries = store.progress.dropped;
  for (const LogRow& log : store.logs) {
    HINDSIGHT_ASSIGN_OR_RETURN(const Position head, find_head(store.db, log));
    store.heads.push_back(head);
    entries += head;
  }
  if (entries == store.progress.entries) {
    return {};
  }
  if (entries > store.progress.entries || !options.accept_lost_end) {
    return lost(store.db.file() + " is damaged: its logs reach to " + std::to_string(entries) +
                " entries, " + std::to_string(store.progress.entries) + " were written");
  }
  warn(options, store.db.file() + " lacks " + std::to_string(store.progress.entries - entries) +
                    " entries at the ends of its logs");
  store.progress.entries = entries;
  return {};
}

Result<OpenedStore> open_and_check(const SqliteStoreOptions& options) {
  OpenedStore store;
  HINDSIGHT_ASSIGN_OR_RETURN(store.lock, FolderLock::take(options.folder));
  store.high_water = std::make_unique<HighWater>(mark_file(options.folder), options.sync_mark);
  store.snapshots =
      std::make_unique<SnapshotFiles>(snapshot_folder(options.folder), options.at_point);
  HINDSIGHT_ASSIGN_OR_RETURN(const std::optional<Mark> mark, find_mark(options, store));
  HINDSIGHT_RETURN_IF_ERROR(open_database(options, mark, store));
  if (mark) {
    HINDSIGHT_RETURN_IF_ERROR(check_mark(options, *mark, store));
  }
  HINDSIGHT_RETURN_IF_ERROR(check_heads(options, store));
  HINDSIGHT_RETURN_IF_ERROR(check_snapshots(options, store));
  HINDSIGHT_RETURN_IF_ERROR(find_left_over(store));
  HINDSIGHT_RETURN_IF_ERROR(begin_epoch(mark, store));
  return store;
}

}  // namespace hindsight
