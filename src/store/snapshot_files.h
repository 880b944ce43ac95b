// SnapshotFiles: DIR/snapshots/<log>/<position>.snapshot, each whole or not there.
//
// File: the envelope of everything saved (src/core/envelope.h), in it the log, the position and the
// bytes.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hindsight/result.h"
#include "src/store/store.h"

namespace hindsight {

inline constexpr std::string_view kSnapshotFolder = "snapshots";
inline constexpr std::string_view kSnapshotSuffix = ".snapshot";

inline std::filesystem::path snapshot_folder(const std::filesystem::path& data) {
  return data / kSnapshotFolder;
}
/// RETURNS: the name of a snapshot's file in the data folder.
inline std::string snapshot_name(LogId log, Position position) {
  return std::string(kSnapshotFolder) + "/" + std::to_string(log) + "/" + std::to_string(position) +
         std::string(kSnapshotSuffix);
}

class SnapshotFiles {
 public:
  using AtPoint = std::function<void(std::string_view)>;

  SnapshotFiles(std::filesystem::path folder, AtPoint at_point);

  /// As the functions of Store, for a log that is there.
  Result<void> put(LogId log, Position position, std::span<const std::byte> bytes);
  Result<std::vector<Position>> list(LogId log) const;
  Result<std::vector<std::byte>> get(LogId log, Position position) const;

  /// RETURNS: the logs that have a folder.
  Result<std::vector<LogId>> logs() const;
  Result<void> remove_log(LogId log);
  Result<void> remove(LogId log, Position position);
  /// Removes what a crash left half written.
  Result<void> remove_parts();
  std::uint64_t size_bytes() const;

 private:
  std::filesystem::path folder_of(LogId log) const;
  std::filesystem::path file_of(LogId log, Position position) const;

  std::filesystem::path folder_;
  AtPoint at_point_;
  std::mutex mutex_;  // one snapshot is put at a time
};

}  // namespace hindsight
