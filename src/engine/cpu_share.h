// CpuShare: keeps a thread's work below a share of one core.
//
// The thread that works asks go_on() every few milliseconds. What it has used of its processor
// since it last slept is slept off: with a share of 0.1, nine times as long. So the share holds
// whatever else the machine does, and over every stretch of time that is longer than a piece of
// work.
//
// Thread-safety: go_on() from one thread; wake() and stop() from any.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

namespace hindsight {

/// RETURNS: nanoseconds of processor time that the calling thread has used.
std::int64_t thread_cpu_ns();

class CpuShare {
 public:
  using CpuClock = std::function<std::int64_t()>;
  using Sleeper = std::function<void(std::int64_t ns)>;

  /// Without a sleeper it sleeps itself, and can be woken. REQUIRES: 0 < share <= 1
  explicit CpuShare(double share, CpuClock cpu_ns = thread_cpu_ns, Sleeper sleeper = {});

  /// Sleeps where it is time to. RETURNS: false when the work is to end: after stop(), or with
  /// `ended` set (call wake() after setting it).
  bool go_on(const std::atomic<bool>& ended);
  void wake();
  void stop();

 private:
  const double idle_per_work_;
  const CpuClock cpu_ns_;
  const Sleeper sleeper_;
  std::int64_t slept_off_ns_ = 0;  // processor time up to here
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stopped_{false};
};

}  // namespace hindsight
