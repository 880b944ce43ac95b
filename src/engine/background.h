// BackgroundThreads: threads that do not interrupt those which somebody waits for.
//
// Where a processor is short, the kernel lets a thread that wakes up interrupt the one that runs.
// For a commit, a fold or an evaluation that is a bad trade: a request would wait for all of it.
// Threads in the background get the same share of the time, but only begin where another one ends
// or has had its turn (Linux: SCHED_BATCH).
//
// Thread-safety: belongs to the thread that makes it.

#pragma once

namespace hindsight {

class BackgroundThreads {
 public:
  /// From here on this thread is in the background, and so are those that it starts, for as long
  /// as they run. A system that does not allow it has them all alike, as they were.
  BackgroundThreads();
  /// This thread alone is as it was before.
  ~BackgroundThreads();
  BackgroundThreads(const BackgroundThreads&) = delete;
  BackgroundThreads& operator=(const BackgroundThreads&) = delete;

 private:
  bool changed_ = false;
};

}  // namespace hindsight
