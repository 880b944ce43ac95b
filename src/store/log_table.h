// LogTable: which logs there are and how far each is durable.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "src/store/store.h"

namespace hindsight {

struct LogState {
  std::string name;
  Position first = 1;  // entries before it are dropped
  Position head = 0;   // of the last durable entry
};

class LogTable {
 public:
  void add(LogId log, LogState state);
  void remove(LogId log);
  void set_head(LogId log, Position head);
  void set_first(LogId log, Position first);

  std::optional<LogState> find(LogId log) const;
  std::vector<LogInfo> list() const;

 private:
  mutable std::shared_mutex mutex_;
  std::map<LogId, LogState> logs_;  // ids grow, so this is the order of their making
};

Error no_such_log(LogId log);

}  // namespace hindsight
