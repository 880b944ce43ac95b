// Pressure: tells a burst from a load that is too much for a thread.
//
// In a burst a long queue is right: it is worked off in the next pause. Under lasting load there is
// no pause, and a long queue only makes everybody wait. So time without pauses adds up, and a pause
// takes off many times its length: a thread that is busy for less than some 95% of its time is
// never under pressure, however long that lasts.
//
// Thread-safety: belongs to one thread. Times are nanoseconds of a steady clock, given by the
// caller.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace hindsight {

class Pressure {
 public:
  /// `bearable_ns`: how long a thread may go without a pause before that is too long.
  explicit Pressure(std::int64_t bearable_ns) : bearable_ns_(bearable_ns) {}

  void pause_begins(std::int64_t now_ns) {
    note(now_ns);
    paused_ = true;
  }
  /// May be called at any time.
  void pause_ends(std::int64_t now_ns) {
    note(now_ns);
    paused_ = false;
  }
  bool too_long(std::int64_t now_ns) {
    pause_ends(now_ns);
    return busy_ns_ > bearable_ns_;
  }
  /// Somebody was refused, so that the others do not wait for too long.
  void note_refusal(std::int64_t now_ns) {
    refused_ns_ = now_ns;
    has_refused_ = true;
  }
  /// Whether the load lasts, and newcomers were refused for it just now.
  bool refuses(std::int64_t now_ns) {
    return too_long(now_ns) && has_refused_ && now_ns - refused_ns_ < bearable_ns_;
  }
  /// RETURNS: after how long a turn comes too late where newcomers are refused: what was expected
  /// to take less has met with a load that grew, or a processor that was away. To serve it all the
  /// same would make those behind it wait as long. It is what a short queue takes and half as much
  /// again, however long that is: a few clients whose requests are costly are not cut off.
  std::int64_t too_late_ns(std::int64_t typical_cost_ns) const {
    return busy_wait_ns(typical_cost_ns) * 3 / 2;
  }
  /// RETURNS: for how long a newcomer may be expected to wait, behind `waiting` others of which one
  /// costs `typical_cost_ns`. Under lasting load a short queue is enough to keep the thread busy. A
  /// few are not too many, whatever they cost: clients that only wait for answers are no load to be
  /// refused.
  std::int64_t most_wait_ns(std::int64_t now_ns, std::size_t waiting,
                            std::int64_t typical_cost_ns) {
    const bool lasting = too_long(now_ns);
    if (waiting < kFew) {
      return std::max(bearable_ns_, kFewTake * typical_cost_ns);
    }
    return lasting ? std::min(bearable_ns_, busy_wait_ns(typical_cost_ns)) : bearable_ns_;
  }

 private:
  static constexpr std::int64_t kPauseWorth = 20;
  static constexpr std::size_t kFew = 16;
  static constexpr std::int64_t kFewTake = 32;  // reading and writing beside it
  static constexpr std::int64_t kBusyQueue = 16;
  // Where requests cost little, reading and writing are most of it: some milliseconds are borne.
  static constexpr std::int64_t kBusyWaitNs = 4'000'000;

  std::int64_t busy_wait_ns(std::int64_t typical_cost_ns) const {
    return std::max(std::min(kBusyWaitNs, bearable_ns_), kBusyQueue * typical_cost_ns);
  }

  void note(std::int64_t now_ns) {
    const std::int64_t passed_ns = std::max<std::int64_t>(0, now_ns - noted_ns_);
    const std::int64_t change_ns =
        std::min(passed_ns, 2 * bearable_ns_) * (paused_ ? -kPauseWorth : 1);
    busy_ns_ = std::clamp(busy_ns_ + change_ns, std::int64_t{0}, 2 * bearable_ns_);
    noted_ns_ = now_ns;
  }

  const std::int64_t bearable_ns_;
  std::int64_t busy_ns_ = 0;
  std::int64_t noted_ns_ = 0;
  std::int64_t refused_ns_ = 0;
  bool has_refused_ = false;
  bool paused_ = true;  // until the thread begins
};

}  // namespace hindsight
