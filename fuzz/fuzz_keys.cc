// Reads arbitrary bytes as a key file. What parses must come out of the writer unchanged.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/check.h"
#include "src/server/key_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto records = hindsight::parse_keys(text);
  if (!records.ok()) {
    HINDSIGHT_CHECK(!records.error().message.empty());
    return 0;
  }
  const std::string written = hindsight::format_keys(*records);
  const auto again = hindsight::parse_keys(written);
  HINDSIGHT_CHECK(again.ok() && again->size() == records->size());
  HINDSIGHT_CHECK(hindsight::format_keys(*again) == written);
  return 0;
}
