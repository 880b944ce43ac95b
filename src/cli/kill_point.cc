#include "src/cli/kill_point.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>

namespace hindsight::cli {

Result<std::function<void(std::string_view)>> kill_point(std::string_view text) {
  if (text.empty()) {
    return std::function<void(std::string_view)>();
  }
  constexpr std::array<std::string_view, 9> kPoints = {
      "before_commit",          "after_commit",           "before_snapshot_rename",
      "after_snapshot",         "during_migration",       "after_migration",
      "after_backup_snapshots", "during_backup_database", "before_backup_rename"};
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
  if (std::find(kPoints.begin(), kPoints.end(), point) == kPoints.end()) {
    return Error{ErrorCode::kInvalidArgument,
                 "there is no such point; docs/operations.md (Testing) names them",
                 "HINDSIGHT_KILL_AT"};
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
