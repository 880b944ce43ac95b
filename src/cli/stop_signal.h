// StopSignal: SIGINT and SIGTERM, as something to wait for.
//
// While the program starts, a signal ends it at once: a start may take long, and nothing is lost by
// it. Then the first signal is the wish to stop, and a second one ends the program at once.
//
// REQUIRES: made before any other thread, for threads inherit which signals they leave alone.
// Thread-safety: used from one thread.

#pragma once

#include <atomic>
#include <future>
#include <thread>

namespace hindsight::cli {

class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// From now on the first signal is waited for, not obeyed at once.
  void started() { started_ = true; }
  /// Blocks until a signal comes. REQUIRES: called once, after started()
  void wait() { came_.get_future().wait(); }

 private:
  void listen();

  std::atomic<bool> started_ = false;
  std::atomic<bool> done_ = false;
  std::promise<void> came_;
  std::thread thread_;
};

}  // namespace hindsight::cli
