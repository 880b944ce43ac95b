// FolderLock: a folder that belongs to one process at a time.
//
// Thread-safety: one owner at a time.

#pragma once

#include <filesystem>
#include <memory>

#include "hindsight/result.h"

namespace hindsight {

class FolderLock {
 public:
  /// Locks `folder`/lock until the object goes; the system lets go when a process dies. Makes the
  /// folder, of mode 0700, where it is missing. FAILS: kConflict, kIo
  static Result<std::unique_ptr<FolderLock>> take(const std::filesystem::path& folder);

  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  explicit FolderLock(int fd) : fd_(fd) {}

  int fd_;
};

}  // namespace hindsight
