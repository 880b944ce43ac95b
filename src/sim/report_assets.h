// The style and the script of a report, put into the program by cmake/EmbedAssets.cmake.
//
// Thread-safety: constants.

#pragma once

#include <cstddef>
#include <string_view>

namespace hindsight {

struct ReportAsset {
  std::string_view text;
  std::string_view hash;  // as a Content-Security-Policy names it: sha256-…
};

ReportAsset report_style();
ReportAsset report_script();

}  // namespace hindsight
