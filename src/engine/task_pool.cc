#include "src/engine/task_pool.h"

namespace hindsight {

TaskPool::TaskPool(int threads) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { run(); });
  }
}

void TaskPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  threads_.clear();
}

void TaskPool::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_) {
      return;
    }
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void TaskPool::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (tasks_.empty()) {
      return;
    }
    {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
    lock.lock();
  }
}

}  // namespace hindsight
