#include "src/store/log_table.h"

#include <mutex>
#include <utility>

namespace hindsight {

void LogTable::add(LogId log, LogState state) {
  const std::unique_lock lock(mutex_);
  logs_.insert_or_assign(log, std::move(state));
}

void LogTable::remove(LogId log) {
  const std::unique_lock lock(mutex_);
  logs_.erase(log);
}

void LogTable::set_head(LogId log, Position head) {
  const std::unique_lock lock(mutex_);
  if (const auto found = logs_.find(log); found != logs_.end()) {
    found->second.head = head;
  }
}

void LogTable::set_first(LogId log, Position first) {
  const std::unique_lock lock(mutex_);
  if (const auto found = logs_.find(log); found != logs_.end()) {
    found->second.first = first;
  }
}

std::optional<LogState> LogTable::find(LogId log) const {
  const std::shared_lock lock(mutex_);
  const auto found = logs_.find(log);
  return found == logs_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<LogInfo> LogTable::list() const {
  const std::shared_lock lock(mutex_);
  std::vector<LogInfo> logs;
  logs.reserve(logs_.size());
  for (const auto& [id, state] : logs_) {
    logs.push_back({id, state.name});
  }
  return logs;
}

Error no_such_log(LogId log) {
  return {ErrorCode::kNotFound, "there is no log " + std::to_string(log), ""};
}

}  // namespace hindsight
