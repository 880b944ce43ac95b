#include "src/sim/utf8.h"

#include "src/sim/table_reader.h"

namespace hindsight {

std::string as_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    std::size_t size = 1;
    while (size <= 4 && !is_utf8(text.substr(0, size))) {
      ++size;
    }
    valid += size > 4 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, size);
    text.remove_prefix(size > 4 ? 1 : size);
  }
  return valid;
}

}  // namespace hindsight
