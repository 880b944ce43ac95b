// FaultVfs: a file system for SQLite whose writes and syncs fail when a test says so.
//
// Thread-safety: the counters may be read and set from any thread.

#pragma once

#include <sqlite3.h>

#include <atomic>
#include <string>

namespace hindsight {

class FaultVfs {
 public:
  enum class Kind { kWrite, kSync };

  explicit FaultVfs(std::string name);
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  const std::string& name() const { return name_; }

  /// The `nth` such operation from now on (1: the next) fails with this code of SQLite, once. A
  /// write that fails has written the first half of its bytes.
  void fail(Kind kind, long nth, int code);
  bool has_failed() const { return failed_; }
  /// How many writes and syncs came after the failure.
  long after_failure() const { return after_failure_; }

  // For the file system's own functions.
  sqlite3_vfs* real() const { return real_; }
  int count(Kind kind);

 private:
  std::string name_;
  sqlite3_vfs* real_;
  sqlite3_vfs vfs_;
  std::atomic<long> writes_left_ = 0;
  std::atomic<long> syncs_left_ = 0;
  std::atomic<int> code_ = SQLITE_OK;
  std::atomic<bool> failed_ = false;
  std::atomic<long> after_failure_ = 0;
};

}  // namespace hindsight
