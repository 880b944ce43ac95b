// A copy of a data folder, made beside the server that uses it.
//
// Everything committed when the copying begins is in the copy, and nothing later. The copy grows in
// TO.part and becomes TO by its last step: one that was cut short never bears the name of a whole
// one. It is a data folder like any other; to restore it is to copy it back.
//
// Of the database there is one file: hindsight.db and high-water are a store.
//
// The original goes on, and hands out decision ids that the copy does not know of. So the copy
// skips some epochs: a server that is started on it never issues an id again.
//
// Thread-safety: one thread.

#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

struct BackupOptions {
  std::filesystem::path from;
  std::filesystem::path to;  // is not there, or empty
  /// Copied where they are there: files that are replaced as a whole, or of which any part is good.
  std::vector<std::string> other_files;
  std::function<void(std::uint64_t done, std::uint64_t pages)> progress = {};
  /// Called at named points, for tests that end the process there: after_backup_snapshots,
  /// during_backup_database, before_backup_rename.
  std::function<void(std::string_view)> at_point = {};
};

struct BackupReport {
  std::uint64_t logs = 0;
  std::uint64_t entries = 0;  // that are kept
  std::uint64_t snapshots = 0;
};

/// A store of an older version is copied as it is, for the program that wrote it or a newer one.
/// FAILS: kNotFound (no store there), kConflict (`to` or TO.part is there; never started; no
/// snapshot fits the log), kNewerVersion, kCorrupt, kIo (also for a file that is a link)
Result<BackupReport> backup_sqlite_store(const BackupOptions& options);

}  // namespace hindsight
