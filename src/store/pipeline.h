// What goes from the writer to the delivery: groups of commands that are committed or have failed.
//
// Thread-safety: Batch and Completion belong to one thread at a time; FailureLatch and Budget may
// be used from any thread.

#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "src/store/high_water.h"
#include "src/store/store.h"

namespace hindsight {

/// The first error that stopped writing, for ever.
class FailureLatch {
 public:
  void set(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) {
      error_ = error;
    }
  }
  std::optional<Error> get() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Error> error_;
};

/// Bytes that wait to be written, synced or handed on.
class Budget {
 public:
  explicit Budget(std::size_t limit) : limit_(limit) {}

  /// RETURNS: whether there was room. One command always fits where nothing else waits.
  bool take(std::size_t bytes) {
    std::size_t used = used_.load();
    do {
      if (used > 0 && used + bytes > limit_) {
        return false;
      }
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return true;
  }
  void give_back(std::size_t bytes) { used_.fetch_sub(bytes); }

 private:
  std::size_t limit_;
  std::atomic<std::size_t> used_ = 0;
};

/// The end of one command.
struct Completion {
  LogId log = 0;
  Position last = 0;                         // of the payloads, which end there
  std::vector<Payload> payloads;             // what was appended
  Store::Done done;                          // either this
  std::function<void(Result<void>)> finish;  // or, for anything else than an append, this
  std::optional<Error> refused;              // it was not done, and the store goes on
  std::size_t charged = 0;                   // to give back to the budget
};

struct Batch {
  std::vector<Completion> completions;
  std::optional<Mark> mark;    // how far the database reaches with it; none: nothing was committed
  std::optional<Error> error;  // the store has failed
};

}  // namespace hindsight
