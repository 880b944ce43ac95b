#include "src/store/snapshot_files.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/envelope.h"
#include "src/core/planted.h"
#include "src/store/file_sync.h"

namespace hindsight {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "HSSNAP";
constexpr std::size_t kKept = 2;

Error failed(const std::string& what, const fs::path& path, const std::error_code& code) {
  return {ErrorCode::kIo, what + " " + path.string() + ": " + code.message(), ""};
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || std::to_string(value) != text) {
    return std::nullopt;
  }
  return value;
}

std::optional<Position> position_of(const std::string& name) {
  if (!name.ends_with(kSnapshotSuffix)) {
    return std::nullopt;
  }
  return parse_number(std::string_view(name).substr(0, name.size() - kSnapshotSuffix.size()));
}

/// RETURNS: the names in a folder, none where there is no folder.
Result<std::vector<std::string>> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    names.push_back(it->path().filename().string());
  }
  if (code && code != std::errc::no_such_file_or_directory) {
    return failed("cannot list", folder, code);
  }
  return names;
}

}  // namespace

SnapshotFiles::SnapshotFiles(fs::path folder, AtPoint at_point)
    : folder_(std::move(folder)),
      at_point_(at_point ? std::move(at_point) : [](std::string_view) {}) {}

fs::path SnapshotFiles::folder_of(LogId log) const { return folder_ / std::to_string(log); }

fs::path SnapshotFiles::file_of(LogId log, Position position) const {
  return folder_.parent_path() / snapshot_name(log, position);
}

Result<void> SnapshotFiles::put(LogId log, Position position, std::span<const std::byte> bytes) {
  ByteWriter record = begin_record(kMagic);
  record.put(log);
  record.put(position);
  record.put_raw(bytes);
  const std::vector<std::byte> sealed = seal_record(std::move(record));

  const std::lock_guard lock(mutex_);
  HINDSIGHT_RETURN_IF_ERROR(make_folder(folder_of(log)));
  HINDSIGHT_RETURN_IF_ERROR(replace_file(file_of(log, position), sealed,
                                         [this] { at_point_("before_snapshot_rename"); }));
  at_point_("after_snapshot");
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<Position> positions, list(log));
  for (std::size_t i = kKept; i < positions.size(); ++i) {
    HINDSIGHT_RETURN_IF_ERROR(remove(log, positions[i]));
  }
  return {};
}

Result<std::vector<Position>> SnapshotFiles::list(LogId log) const {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::string> names, names_in(folder_of(log)));
  std::vector<Position> positions;
  for (const std::string& name : names) {
    if (const std::optional<Position> position = position_of(name)) {
      positions.push_back(*position);
    }
  }
  std::sort(positions.begin(), positions.end(), std::greater<>());
  return positions;
}

Result<std::vector<std::byte>> SnapshotFiles::get(LogId log, Position position) const {
  const fs::path file = file_of(log, position);
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::byte> sealed, read_file(file));
  const auto body = open_record(kMagic, sealed);
  if (!body.ok()) {
    return Error{body.error().code, file.string() + ": " + body.error().message, ""};
  }
  ByteReader in(*body);
  LogId stored_log = 0;
  Position stored_position = 0;
  in.get(stored_log);
  in.get(stored_position);
  const bool here =
      stored_log == log && (stored_position == position || planted(Fault::kSkipSnapshotPlace));
  if (!in.ok() || !here) {
    return Error{ErrorCode::kCorrupt, file.string() + " is the snapshot of another place", ""};
  }
  const auto bytes = in.take(in.left());
  return std::vector<std::byte>(bytes.begin(), bytes.end());
}

Result<std::vector<LogId>> SnapshotFiles::logs() const {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::string> names, names_in(folder_));
  std::vector<LogId> logs;
  for (const std::string& name : names) {
    if (const std::optional<LogId> log = parse_number(name)) {
      logs.push_back(*log);
    }
  }
  return logs;
}

Result<void> SnapshotFiles::remove_log(LogId log) {
  const std::lock_guard lock(mutex_);
  std::error_code code;
  fs::remove_all(folder_of(log), code);
  if (code) {
    return failed("cannot remove", folder_of(log), code);
  }
  return {};
}

Result<void> SnapshotFiles::remove(LogId log, Position position) {
  std::error_code code;
  fs::remove(file_of(log, position), code);
  if (code) {
    return failed("cannot remove", file_of(log, position), code);
  }
  return {};
}

Result<void> SnapshotFiles::remove_parts() {
  HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogId> with_folder, logs());
  for (const LogId log : with_folder) {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<std::string> names, names_in(folder_of(log)));
    for (const std::string& name : names) {
      std::error_code code;
      if (name.ends_with(".part") && !fs::remove(folder_of(log) / name, code) && code) {
        return failed("cannot remove", folder_of(log) / name, code);
      }
    }
  }
  return {};
}

std::uint64_t SnapshotFiles::size_bytes() const {
  std::uint64_t bytes = 0;
  std::error_code code;
  for (fs::recursive_directory_iterator it(folder_, code), end; !code && it != end;
       it.increment(code)) {
    std::error_code gone;
    const std::uint64_t size = it->is_regular_file(gone) ? it->file_size(gone) : 0;
    bytes += gone ? 0 : size;
  }
  return bytes;
}

}  // namespace hindsight
