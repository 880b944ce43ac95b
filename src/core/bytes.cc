#include "src/core/bytes.h"

namespace hindsight {

Result<void> ByteReader::check(std::string_view what) const {
  if (ok_) {
    return {};
  }
  return Error{ErrorCode::kCorrupt,
               "the saved " + std::string(what) + " is truncated or damaged; use an older copy",
               ""};
}

}  // namespace hindsight
