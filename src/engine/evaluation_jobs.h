// EvaluationJobs: evaluations in the background, one at a time; the last of each log is kept.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <utility>

#include "src/engine/evaluation.h"
#include "src/store/store.h"

namespace hindsight {

class EvaluationJobs {
 public:
  /// `warn` is told why an evaluation failed; none: nobody is. REQUIRES: the store outlives it
  EvaluationJobs(const LogView& store, std::size_t cache_bytes,
                 std::function<void(std::string_view)> warn = {})
      : store_(store), cache_bytes_(cache_bytes), warn_(std::move(warn)) {}
  ~EvaluationJobs() { stop(); }
  EvaluationJobs(const EvaluationJobs&) = delete;
  EvaluationJobs& operator=(const EvaluationJobs&) = delete;

  /// Evaluates up to where the log ends now, with a model of at most so many bytes. The log's last
  /// evaluation makes room. FAILS: as evaluate; kConflict (one is running, of this or another log;
  /// the log's beginning is no longer kept), kOverloaded (stopped)
  Result<EvaluationJob> start(LogId log, const RankerChoice& choice,
                              std::optional<std::uint64_t> memory_budget = {});
  /// FAILS: kNotFound (the log was not evaluated since the start of the program)
  Result<EvaluationJob> find(LogId log) const;
  /// Ends the job where it is running; one that is over stays as it is. FAILS: as find
  Result<EvaluationJob> cancel(LogId log);
  /// Ends the log's job and forgets it; nothing reads the log once this returns, and none can be
  /// started for it: a log's id is never used again.
  void forget(LogId log);
  /// Ends what is running; nothing can be started any more.
  void stop();

 private:
  struct Entry {
    EvaluationJob job;
    std::optional<std::uint64_t> memory_budget;
    std::atomic<bool> cancelled{false};
  };

  Result<void> check_free() const;
  void run(LogId log, Entry& entry);

  const LogView& store_;
  const std::size_t cache_bytes_;
  const std::function<void(std::string_view)> warn_;

  std::mutex worker_mutex_;  // taken before the other; held while waiting for the worker
  std::thread worker_;
  LogId worker_log_ = 0;
  std::set<LogId> forgotten_;

  mutable std::mutex mutex_;
  bool stopped_ = false;
  std::map<LogId, std::shared_ptr<Entry>> jobs_;
};

}  // namespace hindsight
