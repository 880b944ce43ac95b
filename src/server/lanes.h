// Lanes: who is next on a busy thread, and how long a newcomer would wait.
//
// Requests of one collection share a lane. Lanes take turns by the time that their requests have
// used (start-time fair queueing over measured cost), so that a collection with ten times its share
// of requests waits for itself, and the others hardly notice it. While a thread has time to spare
// nobody waits and nothing is queued.
//
// Thread-safety: belongs to one thread. Times are nanoseconds of a steady clock, given by the
// caller.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace hindsight {

class Lanes {
 public:
  using LaneId = std::uint64_t;
  using Job = std::function<void()>;

  /// RETURNS: the lane of a number; never 0.
  static constexpr LaneId in_line(std::uint64_t number) { return (number & ~kLast) | 1U; }
  /// RETURNS: a lane for the same requests where they come after all others (Worker says how).
  static constexpr LaneId last_in_line(LaneId lane) { return lane | kLast; }
  static constexpr bool is_last(LaneId lane) { return (lane & kLast) != 0; }

  /// Whether a request that is complete has to queue: others do, or this thread has worked for a
  /// while without looking at its sockets.
  bool must_wait(std::int64_t now_ns);
  /// RETURNS: about how long a request would wait that joined its lane now; 0 while nobody waits.
  std::int64_t expected_wait_ns(LaneId lane) const;

  /// RETURNS: about how long all of those who wait will take.
  std::int64_t total_wait_ns() const { return static_cast<std::int64_t>(stretch_ * queued_ns_); }

  /// RETURNS: what one of those who wait will cost, on average.
  std::int64_t typical_cost_ns() const;

  void push(LaneId lane, Job job);
  /// RETURNS: the job whose turn it is, none when nobody waits.
  Job pop();
  /// Notes what a request of this lane has cost, whether it waited or not.
  void charge(LaneId lane, std::int64_t cost_ns);
  /// Notes how long the thread has taken since it last noted this, with requests waiting all the
  /// while: beside serving it reads, writes and refuses. 0: a new beginning.
  void note_pace(std::int64_t elapsed_ns);

  bool empty() const { return queued_ == 0; }
  std::size_t queued() const { return queued_; }

 private:
  struct Lane {
    std::deque<Job> jobs;
    double cost_ns = kFirstCost;  // of one request, a moving average
    double used_ns = 0.0;         // virtual time: what the lane has had of the thread
    double owed_ns = 0.0;         // what its last requests cost beyond what was counted for them
  };
  using Turn = std::pair<double, LaneId>;

  static constexpr LaneId kLast = LaneId{1} << 63U;
  static constexpr double kFirstCost = 20'000.0;
  static constexpr std::size_t kMaxIdleLanes = 4096;

  Lane& lane_of(LaneId lane);

  std::unordered_map<LaneId, Lane> lanes_;
  std::set<Turn> turns_;  // of lanes with jobs, the least used first
  std::size_t queued_ = 0;
  double queued_ns_ = 0.0;    // what all that waits will cost
  double now_used_ns_ = 0.0;  // virtual time of the job that was last
  double stretch_ = 1.0;      // how much longer things take than the requests cost
  double charged_since_pace_ns_ = 0.0;
  std::int64_t looked_ns_ = 0;   // when must_wait was last asked
  std::int64_t charged_ns_ = 0;  // since then
  std::int64_t tired_ns_ = 0;    // work that was not yet made up for by other things
};

}  // namespace hindsight
