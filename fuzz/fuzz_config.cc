// Reads arbitrary bytes as a configuration file: it parses, or says why not.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/core/check.h"
#include "src/server/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const hindsight::Result<hindsight::ServerConfig> config = hindsight::parse_config(text);
  if (config.ok()) {
    HINDSIGHT_CHECK(!config->data.empty() && !config->address.empty());
    HINDSIGHT_CHECK(config->threads >= 0 && config->max_connections > 0);
    (void)hindsight::check_config(*config);
  } else {
    HINDSIGHT_CHECK(!config.error().message.empty());
  }
  // The same bytes as words of the command line and of the environment.
  for (const hindsight::Setting& setting : hindsight::settings()) {
    hindsight::ServerConfig changed;
    (void)hindsight::set_from_text(changed, setting, text);
  }
  return 0;
}
