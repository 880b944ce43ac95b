// Delivery: what happens to a group after its commit. The high-water mark is synced, entries go to
// the logs' subscribers, callers get their answers, in this order.
//
// A new subscriber first gets what is there, read by threads of its own kind, batch by batch; it is
// live once it has caught up. Answers to appends of a log whose subscriber is behind wait for it.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "src/store/high_water.h"
#include "src/store/log_reader.h"
#include "src/store/log_table.h"
#include "src/store/pipeline.h"
#include "src/store/store.h"

namespace hindsight {

class Delivery {
 public:
  struct Parts {
    std::unique_ptr<HighWater> high_water;
    LogTable& logs;
    const LogReader& reader;
    FailureLatch& failure;
    Budget& budget;
    std::function<void(std::string_view)> warn;
  };

  explicit Delivery(Parts parts);
  ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  /// In the order of their writing. Never waits.
  void push(Batch batch);

  /// As Store::subscribe and Store::unsubscribe.
  Result<void> subscribe(LogId log, Position after, Store::Sink sink);
  void unsubscribe(LogId log);

  /// Delivers what was pushed, then stops.
  void stop();

 private:
  struct Waiting {
    Position position = 0;
    Store::Done done;
  };
  struct Subscription {
    LogId log = 0;
    Store::Sink sink;
    std::mutex mutex;       // held while the sink runs
    Position position = 0;  // the last that was handed over
    bool live = false;
    bool ended = false;
    std::optional<Error> failed;  // it could not be read: no answer may say that all is well
    std::vector<Waiting> waiting;
  };

  void run();
  void finish_round(std::deque<Batch> round);
  void finish_batch(Batch batch, const std::optional<Error>& error);
  void hand_over(std::vector<Completion>& completions);
  void answer(Completion completion);
  std::shared_ptr<Subscription> find(LogId log) const;

  void catch_up();
  /// RETURNS: whether there is more to do. REQUIRES: called by one thread at a time for each
  bool catch_up_some(Subscription& subscription);
  static void answer_waiting(Subscription& subscription, bool all);

  Parts parts_;
  std::optional<Error> failed_;  // seen by the delivering thread

  mutable std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Batch> batches_;
  std::map<LogId, std::shared_ptr<Subscription>> subscriptions_;
  std::deque<std::shared_ptr<Subscription>> behind_;  // wait for a turn of catching up
  std::condition_variable more_behind_;
  bool stopping_ = false;
  bool stopping_catch_up_ = false;
  std::thread thread_;
  std::vector<std::thread> catch_up_threads_;
};

}  // namespace hindsight
