// Files that are whole or not there: writing, syncing and replacing them.
//
// Thread-safety: pure functions over the file system.

#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

/// Makes entries of a folder (new, renamed and removed files) durable. FAILS: kIo
Result<void> sync_folder(const std::filesystem::path& folder);

/// Writes a new file of mode 0600 beside `path`, syncs it, and renames it to `path`, durably: after
/// a crash `path` holds the old bytes or the new. `before_rename` is called when all but the rename
/// is done. FAILS: kIo (`path` is as it was)
Result<void> replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                          const std::function<void()>& before_rename = {});

/// RETURNS: all bytes of a file. FAILS: kNotFound, kIo
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path);

}  // namespace hindsight
