// Flusher: calls back soon after it was asked to, once for many asks.
//
// Decisions are logged behind their replies; writing a few milliseconds' worth of them at once
// costs hardly more than writing one.
//
// Thread-safety: ask() from any thread.

#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hindsight {

class Flusher {
 public:
  explicit Flusher(std::chrono::milliseconds delay) : delay_(delay), thread_([this] { run(); }) {}
  ~Flusher() { stop(); }
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;

  /// Runs `task` after the delay, with all others that were asked for until then.
  void ask(std::function<void()> task);
  /// Runs what was asked for, then ends the thread.
  void stop();

 private:
  void run();

  std::chrono::milliseconds delay_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::function<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace hindsight
