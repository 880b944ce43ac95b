// Files of docs/ that the program carries in itself; written by the build (cmake/EmbedText.cmake).
//
// Thread-safety: constants.

#pragma once

#include <string_view>

namespace hindsight {

/// docs/openapi.yaml
std::string_view openapi_text();

}  // namespace hindsight
