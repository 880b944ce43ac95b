// MemoryStore: a store in memory that behaves like a partitioned, replicated log.
//
// Several producers append to the same log; a producer that retries leaves an entry there twice;
// entries of different calls may arrive in another order than they were sent, within a bounded
// window. The order follows from the seed and the order of the calls, unless the callers pause:
// then what is held back is let go, so that waiting for an answer comes to an end. Entries are
// delivered by a thread of its own.
//
// Thread-safety: as Store.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "src/store/store.h"

namespace hindsight {

struct MemoryStoreOptions {
  std::uint16_t node = 0;
  std::uint64_t boot_epoch = 1;
  std::uint64_t seed = 1;
  double duplicate_prob = 0.0;     // that an append arrives once more, some time later
  std::size_t reorder_window = 0;  // how many later appends may overtake one; 0: none
};

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(MemoryStoreOptions options = {});
  ~MemoryStore() override;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  // What only a test can do.

  /// Entries of another producer, on the same road as those of append(). FAILS: kNotFound
  Result<void> inject(LogId log, std::vector<Payload> payloads);
  /// RETURNS: everything that arrived, in log order.
  std::vector<LogEntry> copy_of(LogId log) const;
  /// Every append from now on fails with this.
  void fail_with(Error error);
  /// Every append is refused for want of room, until it is taken back; nothing of it arrives.
  void refuse_appends(bool refuse);
  /// As if another program read the files: what rewrite() replaces can still be read there.
  void keep_old_bytes(bool keep);
  /// Waits until everything appended or injected has arrived and was delivered.
  void flush();
  /// The same logs as seen after another opening: the next epoch, no subscriptions. The snapshots
  /// come with them. REQUIRES: flush()
  std::unique_ptr<MemoryStore> reopened() const;

  const NodeIdentity& identity() const override { return identity_; }
  Result<std::vector<LogInfo>> logs() const override;
  Result<LogId> create_log(std::string_view name) override;
  Result<void> drop_log(LogId log) override;
  void append(LogId log, std::vector<Payload> payloads, Done done) override;
  Result<std::vector<LogEntry>> read(LogId log, Position after,
                                     std::size_t max_entries) const override;
  Result<Payload> read_at(LogId log, Position position) const override;
  Result<Position> head(LogId log) const override;
  Result<Position> first(LogId log) const override;
  Result<void> subscribe(LogId log, Position after, Sink sink) override;
  void unsubscribe(LogId log) override;
  Result<void> truncate_before(LogId log, Position position) override;
  Result<std::uint64_t> rewrite(LogId log, const Edit& edit) override;
  Result<void> put_snapshot(LogId log, Position position,
                            std::span<const std::byte> bytes) override;
  Result<std::vector<Position>> snapshots(LogId log) const override;
  Result<std::vector<std::byte>> get_snapshot(LogId log, Position position) const override;
  std::optional<Error> failure() const override;
  std::uint64_t size_bytes() const override;

 private:
  struct Log {
    std::string name;
    std::vector<LogEntry> entries;
    Position head = 0;
    std::map<Position, std::vector<std::byte>> snapshots;
    Sink sink;
    Position delivered = 0;
    bool delivering = false;
  };
  struct Arrival {
    LogId log = 0;
    std::vector<Payload> payloads;
    Done done;
    std::optional<Error> error;
    std::uint64_t due = 0;  // arrives in this order, once so many calls were made
  };

  void enqueue(Arrival arrival);
  void run();
  std::deque<Arrival>::iterator next_due();
  void let_go_held();
  void arrive(Arrival arrival, std::unique_lock<std::mutex>& lock);
  void deliver(LogId log, std::unique_lock<std::mutex>& lock);
  bool anything_to_deliver() const;
  double uniform();

  MemoryStoreOptions options_;
  NodeIdentity identity_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::map<LogId, Log> logs_;
  LogId next_log_ = 1;
  std::deque<Arrival> arrivals_;
  std::uint64_t sent_ = 0;
  std::uint64_t let_go_ = 0;  // what is due before this need not wait for more calls
  std::uint64_t random_state_;
  std::optional<Error> failure_;
  bool refusing_ = false;
  bool keeping_old_bytes_ = false;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace hindsight
