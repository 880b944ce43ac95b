#include "src/engine/evaluation_jobs.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "src/core/check.h"
#include "src/engine/background.h"
#include "src/engine/evaluate.h"
#include "src/engine/recovery.h"

namespace hindsight {
namespace {

using State = EvaluationJob::State;

Error never_evaluated() {
  return {ErrorCode::kNotFound,
          "no evaluation of this collection since the server was started; POST to begin one",
          "evaluate"};
}

/// Another copy of the model may be more than there is memory for.
Result<Evaluated> evaluate_or_fail(const LogView& store, LogId log, const RankerChoice& choice,
                                   const EvaluateOptions& options) {
  try {
    return evaluate(store, log, choice, options);
  } catch (const std::bad_alloc&) {
    return Error{ErrorCode::kOverloaded, "there is not enough memory for this evaluation", ""};
  }
}

}  // namespace

Result<void> EvaluationJobs::check_free() const {
  const std::lock_guard lock(mutex_);
  if (stopped_) {
    return Error{ErrorCode::kOverloaded, "the server is shutting down", ""};
  }
  const bool running = std::any_of(jobs_.begin(), jobs_.end(), [](const auto& entry) {
    return entry.second->job.state == State::kRunning;
  });
  if (running) {
    return Error{ErrorCode::kConflict,
                 "an evaluation is running on this server, which does one at a time; wait for it, "
                 "or cancel it with DELETE",
                 "evaluate"};
  }
  return {};
}

Result<EvaluationJob> EvaluationJobs::start(LogId log, const RankerChoice& choice,
                                            std::optional<std::uint64_t> memory_budget) {
  HINDSIGHT_ASSIGN_OR_RETURN(RankerChoice complete, complete_choice(choice));
  HINDSIGHT_ASSIGN_OR_RETURN(const Position head, store_.head(log));
  if (!keeps_whole_log(store_, log)) {
    return beginning_dropped();
  }
  const std::lock_guard worker_lock(worker_mutex_);
  HINDSIGHT_RETURN_IF_ERROR(check_free());
  if (forgotten_.contains(log)) {
    return Error{ErrorCode::kNotFound, "the collection is being deleted", "collection"};
  }
  if (worker_.joinable()) {
    worker_.join();  // done, or cancelled and about to be
  }
  auto entry = std::make_shared<Entry>();
  entry->job.choice = std::move(complete);
  entry->job.head = head;
  entry->memory_budget = memory_budget;
  const EvaluationJob begun = entry->job;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) {
      return Error{ErrorCode::kOverloaded, "the server is shutting down", ""};
    }
    jobs_.insert_or_assign(log, entry);
  }
  worker_log_ = log;
  try {
    worker_ = std::thread([this, log, entry] { run(log, *entry); });
  } catch (const std::system_error&) {
    const std::lock_guard lock(mutex_);
    jobs_.erase(log);
    return Error{ErrorCode::kOverloaded, "no thread for an evaluation at the moment", ""};
  }
  return begun;
}

void EvaluationJobs::run(LogId log, Entry& entry) {
  const BackgroundThreads behind;
  EvaluateOptions options;
  options.through = entry.job.head;
  options.cache_bytes = cache_bytes_;
  options.memory_budget = entry.memory_budget;
  options.cancelled = [&entry] { return entry.cancelled.load(); };
  options.progress = [this, &entry](Position position) {
    const std::lock_guard lock(mutex_);
    entry.job.position = position;
  };
  Result<Evaluated> evaluated = evaluate_or_fail(store_, log, entry.job.choice, options);
  const std::lock_guard lock(mutex_);
  if (entry.job.state != State::kRunning) {
    return;  // cancelled
  }
  if (evaluated.ok()) {
    entry.job.state = State::kDone;
    entry.job.position = evaluated->evaluation.through;
    entry.job.result = std::move(evaluated->evaluation);
  } else {
    entry.job.state = State::kFailed;
    entry.job.error = evaluated.error();
    if (warn_) {
      warn_("an evaluation failed: " + to_string(evaluated.error()));
    }
  }
}

Result<EvaluationJob> EvaluationJobs::find(LogId log) const {
  const std::lock_guard lock(mutex_);
  const auto place = jobs_.find(log);
  return place == jobs_.end() ? Result<EvaluationJob>(never_evaluated()) : place->second->job;
}

Result<EvaluationJob> EvaluationJobs::cancel(LogId log) {
  const std::lock_guard lock(mutex_);
  const auto place = jobs_.find(log);
  if (place == jobs_.end()) {
    return never_evaluated();
  }
  Entry& entry = *place->second;
  if (entry.job.state == State::kRunning) {
    entry.cancelled = true;
    entry.job.state = State::kCancelled;
  }
  return entry.job;
}

void EvaluationJobs::forget(LogId log) {
  const std::lock_guard worker_lock(worker_mutex_);
  forgotten_.insert(log);
  if (!cancel(log).ok()) {
    return;
  }
  if (worker_.joinable() && worker_log_ == log) {
    worker_.join();
  }
  const std::lock_guard lock(mutex_);
  jobs_.erase(log);
}

void EvaluationJobs::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& [log, entry] : jobs_) {
      entry->cancelled = true;
      if (entry->job.state == State::kRunning) {
        entry->job.state = State::kCancelled;
      }
    }
  }
  const std::lock_guard worker_lock(worker_mutex_);
  if (worker_.joinable()) {
    worker_.join();
  }
}

}  // namespace hindsight
