// UTF-8 for pages and JSON, whatever the names of folders hold.
//
// Thread-safety: pure functions.

#pragma once

#include <string>
#include <string_view>

namespace hindsight {

/// RETURNS: the text with every byte that is not UTF-8 shown as the sign for it (U+FFFD).
std::string as_utf8(std::string_view text);

}  // namespace hindsight
