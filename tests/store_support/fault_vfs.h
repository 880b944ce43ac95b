// FaultVfs: a device whose writes, syncs, openings, truncations and renames fail when a test says
// so.
//
// SQLite reaches it by its name, as a file system; the store's other files through file_sync. Both
// are counted together.
//
// Thread-safety: every function may be called from any thread. One device at a time.

#pragma once

#include <sqlite3.h>

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "src/store/file_sync.h"

namespace hindsight {

/// What a device does from its n-th step of a kind on.
struct DeviceFault {
  std::string name;
  FileStep step = FileStep::kWrite;
  int code = SQLITE_IOERR;  // of SQLite; other files get the errno that fits
  bool for_ever = false;    // else once
};

class FaultVfs final : public FileFaults {
 public:
  explicit FaultVfs(std::string name);
  ~FaultVfs() override;
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  const std::string& name() const { return name_; }

  /// The `nth` such step from now on (1: the next) fails. A write that fails has written the first
  /// half of its bytes.
  void fail(const DeviceFault& fault, long nth);
  /// From now on all is well.
  void mend();
  bool has_failed() const;
  /// How many writes and syncs of SQLite came after the failure.
  long after_failure() const;
  /// How many steps of a kind there were before mend(), and how many of them were SQLite's.
  long steps(FileStep step) const;
  long sqlite_steps(FileStep step) const;

  // For the file system's own functions.
  sqlite3_vfs* real() const { return real_; }
  int count(FileStep step, bool of_sqlite = true);
  int at(FileStep step) override;

 private:
  std::string name_;
  sqlite3_vfs* real_;
  sqlite3_vfs vfs_;
  mutable std::mutex mutex_;
  std::map<FileStep, long> sqlite_steps_;
  std::map<FileStep, long> other_steps_;
  std::optional<DeviceFault> fault_;
  long left_ = 0;
  bool failed_ = false;
  bool mended_ = false;
  long after_failure_ = 0;
};

}  // namespace hindsight
