#include "src/cli/kill_point.h"

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <memory>
#include <string>

namespace hindsight::cli {

Result<std::function<void(std::string_view)>> kill_point(std::string_view text) {
  if (text.empty()) {
    return std::function<void(std::string_view)>();
  }
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view point = text.substr(0, colon);
  long passes = 1;
  if (colon < text.size()) {
    const std::string_view number = text.substr(colon + 1);
    const auto [end, problem] =
        std::from_chars(number.data(), number.data() + number.size(), passes);
    if (problem != std::errc() || end != number.data() + number.size() || passes < 1) {
      return Error{ErrorCode::kInvalidArgument, "must be POINT or POINT:N with N from 1",
                   "HINDSIGHT_KILL_AT"};
    }
  }
  auto left = std::make_shared<std::atomic<long>>(passes);
  return std::function<void(std::string_view)>(
      [name = std::string(point), left](std::string_view passed) {
        if (passed == name && left->fetch_sub(1) == 1) {
          ::kill(::getpid(), SIGKILL);
        }
      });
}

}  // namespace hindsight::cli
