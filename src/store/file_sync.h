// Files that are whole or not there: writing, syncing and replacing them.
//
// Thread-safety: pure functions over the file system; use_file_faults_for_test is for one thread,
// while no other uses files.

#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

/// Makes entries of a folder (new, renamed and removed files) durable. FAILS: kIo
Result<void> sync_folder(const std::filesystem::path& folder);

/// Makes the bytes of a file durable that somebody else wrote. FAILS: kIo
Result<void> sync_file(const std::filesystem::path& path);

/// Like mkdir -p -m 0700, durably. FAILS: kIo
Result<void> make_folder(const std::filesystem::path& folder);

/// Gives a file that root has made to the owner of the folder that it stands in, so that a command
/// run by root beside a server of another user leaves nothing that the server cannot read. A file
/// that has a second name stays root's, and so does one on a device that knows no owners. For
/// others than root it does nothing. REQUIRES: opened without following a link
void give_to_owner_of_folder(int fd, const std::filesystem::path& path);

/// Writes a new file of mode 0600 beside `path`, syncs it, and renames it to `path`, durably: after
/// a crash `path` holds the old bytes or the new. `before_rename` is called when all but the rename
/// is done. The file belongs to the owner of its folder, even when root writes it.
/// FAILS: kIo (`path` is as it was)
Result<void> replace_file(const std::filesystem::path& path, std::span<const std::byte> bytes,
                          const std::function<void()>& before_rename = {});

enum class Links : std::uint8_t { kFollow, kRefuse };

/// RETURNS: all bytes of a file. With Links::kRefuse only those of a plain file that the path
/// itself names: for whoever may read more than those who can write to its folder. FAILS:
/// kNotFound, kIo
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path,
                                         Links links = Links::kFollow);

/// Writes all bytes at this place of an open file. RETURNS: false with errno set where it cannot.
bool write_at(int fd, std::span<const std::byte> bytes, std::uint64_t at);

// For tests of failing devices.

enum class FileStep : std::uint8_t { kOpen, kWrite, kSync, kTruncate, kRename };

class FileFaults {
 public:
  virtual ~FileFaults() = default;
  /// RETURNS: 0 to let the step happen, or the errno that it fails with. A write that fails has
  /// written the first half of its bytes.
  virtual int at(FileStep step) = 0;
};

/// Everything that the store does to files beside SQLite's passes through `faults`, until nullptr.
void use_file_faults_for_test(FileFaults* faults);
/// RETURNS: whether a test lets this step fail; errno says how.
bool fails_in_test(FileStep step);

}  // namespace hindsight
