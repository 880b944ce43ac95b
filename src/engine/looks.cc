#include "src/engine/looks.h"

#include <utility>

namespace hindsight {
namespace {

Error shutting_down() { return {ErrorCode::kOverloaded, "the server is shutting down", ""}; }

Error too_many() {
  return {ErrorCode::kOverloaded,
          "too many questions about this collection wait for their answer; try again later", ""};
}

}  // namespace

void Looks::post(std::string_view collection, Callback<void> look) {
  std::unique_lock lock(mutex_);
  const auto place = waiting_.find(collection);
  const bool full = place != waiting_.end() && place->second.size() >= max_waiting_;
  if (full || stopped_) {
    const Error error = stopped_ ? shutting_down() : too_many();
    lock.unlock();
    return look(error);
  }
  waiting_[std::string(collection)].push_back(std::move(look));
  thread_.post([this] { take_turn(); });
}

void Looks::take_turn() {
  Callback<void> look;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      return;  // stopped
    }
    auto next = waiting_.upper_bound(last_);
    if (next == waiting_.end()) {
      next = waiting_.begin();
    }
    last_ = next->first;
    look = std::move(next->second.front());
    next->second.pop_front();
    if (next->second.empty()) {
      waiting_.erase(next);
    }
  }
  look(Result<void>());
}

void Looks::stop() {
  decltype(waiting_) waiting;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting.swap(waiting_);
  }
  for (const auto& [collection, looks] : waiting) {
    for (const Callback<void>& look : looks) {
      look(shutting_down());
    }
  }
  thread_.stop();
}

}  // namespace hindsight
