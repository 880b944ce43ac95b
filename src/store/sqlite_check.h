// Checking a data folder that no server uses: is everything there, and is it whole?
//
// Asks what opening the store asks, and reads what opening does not, and changes nothing. What the
// entries mean is the engine's part (src/engine/folder_check.h).
//
// Thread-safety: one thread.

#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "hindsight/result.h"
#include "src/store/finding.h"
#include "src/store/folder_lock.h"
#include "src/store/store.h"

namespace hindsight {

struct CheckedStore {
  std::unique_ptr<FolderLock> lock;  // no server starts meanwhile
  std::vector<Finding> findings;
  std::unique_ptr<LogView> view;  // none where the database cannot be read at all
};

/// FAILS: kNotFound (no such folder, or nothing of a store in it), kConflict (a server uses it),
/// kIo
Result<CheckedStore> check_sqlite_store(const std::filesystem::path& folder);

}  // namespace hindsight
