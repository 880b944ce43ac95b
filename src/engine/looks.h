// Looks: questions that may take long, answered one after the other on a thread of their own.
//
// The collections take turns, so that one that is asked much waits for itself.
//
// Thread-safety: every function may be called from any thread; stop() by one.

#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "src/engine/engine.h"
#include "src/engine/task_pool.h"

namespace hindsight {

class Looks {
 public:
  /// Of each collection, so many may wait beside the one that is being answered.
  explicit Looks(std::size_t max_waiting) : max_waiting_(max_waiting) {}
  ~Looks() { stop(); }
  Looks(const Looks&) = delete;
  Looks& operator=(const Looks&) = delete;

  /// Calls `look` once: in its turn, or at once with kOverloaded where too many wait.
  void post(std::string_view collection, Callback<void> look);
  /// Who still waits gets kOverloaded, and so does who comes later. No look is under way once this
  /// returns.
  void stop();

 private:
  void take_turn();

  const std::size_t max_waiting_;
  std::mutex mutex_;
  std::map<std::string, std::deque<Callback<void>>, std::less<>> waiting_;  // none is empty
  std::string last_;                                                        // whose turn it was
  bool stopped_ = false;
  TaskPool thread_{1};  // has a turn for each that waits
};

}  // namespace hindsight
