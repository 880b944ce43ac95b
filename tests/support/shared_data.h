// Where the real data sets lie: $HINDSIGHT_DATA, or ../shared/data beside the repository.

#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace hindsight {

/// RETURNS: the folder of a data set, or nothing where it is missing; tests then skip, in a line.
inline std::optional<std::filesystem::path> shared_data(std::string_view name) {
  const char* given = std::getenv("HINDSIGHT_DATA");
  const std::filesystem::path root =
      given != nullptr ? std::filesystem::path(given)
                       : std::filesystem::path(HINDSIGHT_SOURCE_DIR) / ".." / "shared" / "data";
  std::error_code ignored;
  if (!std::filesystem::is_directory(root / name, ignored)) {
    return std::nullopt;
  }
  return root / name;
}

}  // namespace hindsight
