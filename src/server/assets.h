// Files that the program carries in itself; written by the build (cmake/EmbedText.cmake and
// cmake/EmbedAssets.cmake).
//
// Thread-safety: constants.

#pragma once

#include <span>
#include <string_view>

namespace hindsight {

/// docs/openapi.yaml
std::string_view openapi_text();

/// A script, a style or an image of the console. Its name changes with its content.
struct ConsoleFile {
  std::string_view name;
  std::string_view content_type;
  std::string_view bytes;
};

/// The console's page, which names its files under /assets/.
std::string_view console_page();
std::span<const ConsoleFile> console_files();

}  // namespace hindsight
