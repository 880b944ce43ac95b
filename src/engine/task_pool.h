// TaskPool: a few threads that run what they are given, in the order of its coming.
//
// Thread-safety: post() from any thread.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hindsight {

class TaskPool {
 public:
  /// REQUIRES: threads > 0
  explicit TaskPool(int threads);
  ~TaskPool() { stop(); }
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// After stop() the task is dropped.
  void post(std::function<void()> task);
  /// Runs what was posted before, then ends the threads.
  void stop();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace hindsight
