#include "src/store/delivery.h"

#include <iterator>
#include <utility>

#include "src/core/planted.h"

namespace hindsight {
namespace {

constexpr std::size_t kCatchUpEntries = 4096;  // handed over at once
constexpr int kCatchUpThreads = 2;

}  // namespace

Delivery::Delivery(Parts parts) : parts_(std::move(parts)) {
  thread_ = std::thread([this] { run(); });
  for (int i = 0; i < kCatchUpThreads; ++i) {
    catch_up_threads_.emplace_back([this] { catch_up(); });
  }
}

Delivery::~Delivery() { stop(); }

void Delivery::push(Batch batch) {
  const std::lock_guard lock(mutex_);
  batches_.push_back(std::move(batch));
  more_.notify_one();
}

void Delivery::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    more_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
  {
    const std::lock_guard lock(mutex_);
    stopping_catch_up_ = true;
    more_behind_.notify_all();
  }
  for (std::thread& thread : catch_up_threads_) {
    thread.join();
  }
  catch_up_threads_.clear();
  std::map<LogId, std::shared_ptr<Subscription>> rest;
  {
    const std::lock_guard lock(mutex_);
    rest.swap(subscriptions_);
  }
  for (auto& [log, subscription] : rest) {
    const std::lock_guard delivering(subscription->mutex);
    subscription->ended = true;
    answer_waiting(*subscription, true);
  }
}

void Delivery::run() {
  for (;;) {
    std::deque<Batch> round;
    {
      std::unique_lock lock(mutex_);
      more_.wait(lock, [this] { return stopping_ || !batches_.empty(); });
      if (batches_.empty()) {
        return;
      }
      round.swap(batches_);
    }
    finish_round(std::move(round));
  }
}

void Delivery::finish_round(std::deque<Batch> round) {
  // One sync answers for every group that was committed while the last one was under way.
  std::optional<Mark> newest;
  for (const Batch& batch : round) {
    if (!batch.error && batch.mark) {
      newest = batch.mark;
    }
  }
  if (newest && !failed_ && !planted(Fault::kForgetMark)) {
    const Result<void> written = parts_.high_water->write(*newest);
    if (!written.ok()) {
      failed_ = written.error();
      parts_.failure.set(*failed_);
    }
  }
  for (Batch& batch : round) {
    const std::optional<Error> error = batch.error  ? batch.error
                                       : batch.mark ? failed_
                                                    : std::nullopt;
    finish_batch(std::move(batch), error);
  }
}

void Delivery::finish_batch(Batch batch, const std::optional<Error>& error) {
  if (error) {
    for (Completion& completion : batch.completions) {
      if (!completion.refused) {
        completion.refused = error;
      }
      answer(std::move(completion));
    }
    return;
  }
  hand_over(batch.completions);
  for (Completion& completion : batch.completions) {
    answer(std::move(completion));
  }
}

void Delivery::hand_over(std::vector<Completion>& completions) {
  std::map<LogId, std::vector<LogEntry>> entries;
  for (Completion& completion : completions) {
    if (completion.refused || completion.payloads.empty()) {
      continue;
    }
    std::vector<LogEntry>& of_log = entries[completion.log];
    Position position = completion.last - completion.payloads.size();
    for (Payload& payload : completion.payloads) {
      of_log.push_back({++position, std::move(payload)});
    }
    completion.payloads.clear();
  }
  for (auto& [log, of_log] : entries) {
    const Position last = of_log.back().position;
    parts_.logs.set_head(log, last);
    const std::shared_ptr<Subscription> subscription = find(log);
    if (!subscription) {
      continue;
    }
    const std::lock_guard delivering(subscription->mutex);
    if (subscription->ended || !subscription->live || subscription->position >= last) {
      continue;  // what is behind reads them itself
    }
    // A subscriber may have started in the midst of them.
    std::erase_if(of_log,
                  [&](const LogEntry& entry) { return entry.position <= subscription->position; });
    subscription->position = last;
    subscription->sink(std::move(of_log));
  }
}

void Delivery::answer(Completion completion) {
  parts_.budget.give_back(completion.charged);
  if (completion.finish) {
    completion.finish(completion.refused ? Result<void>(*completion.refused) : Result<void>());
    return;
  }
  if (!completion.done) {
    return;
  }
  if (completion.refused) {
    completion.done(*completion.refused);
    return;
  }
  if (const std::shared_ptr<Subscription> subscription = find(completion.log)) {
    const std::lock_guard delivering(subscription->mutex);
    if (subscription->failed) {
      completion.done(*subscription->failed);
      return;
    }
    if (!subscription->ended && subscription->position < completion.last) {
      subscription->waiting.push_back({completion.last, std::move(completion.done)});
      return;
    }
  }
  completion.done(completion.last);
}

std::shared_ptr<Delivery::Subscription> Delivery::find(LogId log) const {
  const std::lock_guard lock(mutex_);
  const auto found = subscriptions_.find(log);
  return found == subscriptions_.end() ? nullptr : found->second;
}

Result<void> Delivery::subscribe(LogId log, Position after, Store::Sink sink) {
  if (!parts_.logs.find(log)) {
    return no_such_log(log);
  }
  auto subscription = std::make_shared<Subscription>();
  subscription->log = log;
  subscription->sink = std::move(sink);
  subscription->position = after;
  const std::lock_guard lock(mutex_);
  if (!subscriptions_.emplace(log, subscription).second) {
    return Error{ErrorCode::kConflict, "log " + std::to_string(log) + " has a subscriber already",
                 ""};
  }
  behind_.push_back(std::move(subscription));
  more_behind_.notify_one();
  return {};
}

void Delivery::unsubscribe(LogId log) {
  std::shared_ptr<Subscription> subscription;
  {
    const std::lock_guard lock(mutex_);
    const auto found = subscriptions_.find(log);
    if (found == subscriptions_.end()) {
      return;
    }
    subscription = std::move(found->second);
    subscriptions_.erase(found);
  }
  const std::lock_guard delivering(subscription->mutex);
  subscription->ended = true;
  answer_waiting(*subscription, true);
}

void Delivery::answer_waiting(Subscription& subscription, bool all) {
  std::vector<Waiting> waiting;
  waiting.swap(subscription.waiting);
  for (Waiting& one : waiting) {
    if (all || one.position <= subscription.position) {
      one.done(subscription.failed ? Result<Position>(*subscription.failed)
                                   : Result<Position>(one.position));
    } else {
      subscription.waiting.push_back(std::move(one));
    }
  }
}

void Delivery::catch_up() {
  for (;;) {
    std::shared_ptr<Subscription> subscription;
    {
      std::unique_lock lock(mutex_);
      more_behind_.wait(lock, [this] { return stopping_catch_up_ || !behind_.empty(); });
      if (stopping_catch_up_) {
        return;
      }
      subscription = std::move(behind_.front());
      behind_.pop_front();
    }
    if (catch_up_some(*subscription)) {
      const std::lock_guard lock(mutex_);
      behind_.push_back(std::move(subscription));
      more_behind_.notify_one();
    }
  }
}

bool Delivery::catch_up_some(Subscription& subscription) {
  // Only this thread moves the position while the subscription is behind.
  auto entries = parts_.reader.read(subscription.log, subscription.position, kCatchUpEntries);
  const std::lock_guard delivering(subscription.mutex);
  if (subscription.ended) {
    return false;
  }
  if (!entries.ok()) {
    // A log that cannot be read cannot be followed: better no more answers than a gap.
    if (entries.error().code != ErrorCode::kNotFound) {
      parts_.failure.set(entries.error());
      subscription.failed = entries.error();
      if (parts_.warn) {
        parts_.warn(to_string(entries.error()));
      }
    }
    subscription.ended = true;
    answer_waiting(subscription, true);
    return false;
  }
  if (!entries->empty()) {
    subscription.position = entries->back().position;
    subscription.sink(*std::move(entries));
    answer_waiting(subscription, false);
    return true;
  }
  // The head is published before the subscription is looked at: either this sees it and goes on, or
  // the delivering thread sees that the subscription is live.
  const std::optional<LogState> state = parts_.logs.find(subscription.log);
  if (state && state->head > subscription.position && state->first <= state->head) {
    return true;
  }
  subscription.live = true;
  answer_waiting(subscription, true);
  return false;
}

}  // namespace hindsight
