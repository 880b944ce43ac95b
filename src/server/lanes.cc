#include "src/server/lanes.h"

#include <algorithm>

#include "src/core/planted.h"

namespace hindsight {
namespace {

// A thread that has served for so much longer than it has done other things lets requests queue,
// and reads its sockets.
constexpr std::int64_t kTiredNs = 300'000;
constexpr std::int64_t kMostTiredNs = 2 * kTiredNs;
constexpr double kNewest = 0.1;  // weight of the newest cost in the average
// No more than so many times the average is believed of one measurement: a thread that was not
// given a processor for a while looks slow, but is not.
constexpr double kBelieved = 4.0;

}  // namespace

bool Lanes::must_wait(std::int64_t now_ns) {
  const std::int64_t elsewhere_ns = now_ns - looked_ns_ - charged_ns_;
  tired_ns_ = std::clamp(tired_ns_ + charged_ns_ - elsewhere_ns, std::int64_t{0}, kMostTiredNs);
  looked_ns_ = now_ns;
  charged_ns_ = 0;
  return queued_ > 0 || tired_ns_ >= kTiredNs;
}

std::int64_t Lanes::expected_wait_ns(LaneId lane) const {
  if (queued_ == 0) {
    return 0;
  }
  const auto found = lanes_.find(lane);
  if (found == lanes_.end() || found->second.jobs.empty()) {
    return 0;  // its turn comes next
  }
  // Every busy lane gets an equal part of the thread, and none waits for more than there is.
  const double own = static_cast<double>(found->second.jobs.size()) * found->second.cost_ns;
  return static_cast<std::int64_t>(stretch_ *
                                   std::min(queued_ns_, own * static_cast<double>(turns_.size())));
}

std::int64_t Lanes::typical_cost_ns() const {
  return queued_ == 0 ? 0 : static_cast<std::int64_t>(queued_ns_ / static_cast<double>(queued_));
}

Lanes::Lane& Lanes::lane_of(LaneId lane) {
  const auto found = lanes_.find(lane);
  if (found != lanes_.end()) {
    return found->second;
  }
  if (lanes_.size() >= kMaxIdleLanes) {
    std::erase_if(lanes_, [](const auto& entry) { return entry.second.jobs.empty(); });
  }
  return lanes_[lane];
}

void Lanes::push(LaneId id, Job job) {
  Lane& lane = lane_of(id);
  if (lane.jobs.empty()) {
    // Who was away has saved nothing up.
    lane.used_ns = std::max(lane.used_ns + lane.owed_ns, now_used_ns_);
    lane.owed_ns = 0.0;
    turns_.emplace(lane.used_ns, id);
  }
  lane.jobs.push_back(std::move(job));
  ++queued_;
  queued_ns_ += lane.cost_ns;
}

Lanes::Job Lanes::pop() {
  if (turns_.empty()) {
    return {};
  }
  const auto [used_ns, id] = *turns_.begin();
  turns_.erase(turns_.begin());
  now_used_ns_ = used_ns;
  Lane& lane = lanes_[id];
  Job job = std::move(lane.jobs.front());
  lane.jobs.pop_front();
  --queued_;
  queued_ns_ = queued_ == 0 ? 0.0 : std::max(0.0, queued_ns_ - lane.cost_ns);
  // Counted in advance, so that the lane is not the next one again; what it did cost is owed later.
  lane.used_ns = used_ns + lane.cost_ns + std::exchange(lane.owed_ns, -lane.cost_ns);
  if (!lane.jobs.empty()) {
    turns_.emplace(lane.used_ns, id);
  }
  return job;
}

void Lanes::charge(LaneId id, std::int64_t cost_ns) {
  Lane& lane = lane_of(id);
  const auto cost = static_cast<double>(std::max<std::int64_t>(0, cost_ns));
  charged_ns_ += static_cast<std::int64_t>(cost);
  charged_since_pace_ns_ += cost;
  lane.owed_ns += planted(Fault::kServeOneLane) ? 0.0 : cost;
  const double before = lane.cost_ns;
  lane.cost_ns += kNewest * (std::min(cost, kBelieved * before) - before);
  queued_ns_ =
      std::max(0.0, queued_ns_ + (lane.cost_ns - before) * static_cast<double>(lane.jobs.size()));
}

void Lanes::note_pace(std::int64_t elapsed_ns) {
  const double charged_ns = std::exchange(charged_since_pace_ns_, 0.0);
  if (charged_ns > 0.0 && elapsed_ns > 0) {
    const double stretch = static_cast<double>(elapsed_ns) / charged_ns;
    stretch_ += kNewest * (std::clamp(stretch, 1.0, kBelieved * stretch_) - stretch_);
  }
}

}  // namespace hindsight
