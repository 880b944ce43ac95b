#include "src/engine/flusher.h"

namespace hindsight {

void Flusher::ask(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) {
      return;
    }
    tasks_.push_back(std::move(task));
    if (tasks_.size() > 1) {
      return;  // it wakes for the first
    }
  }
  changed_.notify_one();
}

void Flusher::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Flusher::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    changed_.wait_for(lock, delay_, [this] { return ending_; });
    std::vector<std::function<void()>> tasks = std::move(tasks_);
    tasks_.clear();
    const bool last = ending_;
    lock.unlock();
    for (const auto& task : tasks) {
      task();
    }
    if (last) {
      return;
    }
    lock.lock();
  }
}

}  // namespace hindsight
