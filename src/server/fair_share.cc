#include "src/server/fair_share.h"

#include "src/core/check.h"
#include "src/core/planted.h"

namespace hindsight {

/// REQUIRES: mutex_ is held
bool FairShare::fits(std::uint64_t who) const {
  const auto found = held_.find(who);
  const std::int64_t left = limit_ - (planted(Fault::kTakeAllRoom) ? 0 : taken_);
  return (found == held_.end() ? 0 : found->second) < left;
}

bool FairShare::has_room(std::uint64_t who) const {
  const std::lock_guard lock(mutex_);
  return fits(who);
}

bool FairShare::take(std::uint64_t who, std::int64_t amount) {
  const std::lock_guard lock(mutex_);
  if (!fits(who)) {
    return false;
  }
  taken_ += amount;
  held_[who] += amount;
  return true;
}

void FairShare::give_back(std::uint64_t who, std::int64_t amount) {
  const std::lock_guard lock(mutex_);
  const auto found = held_.find(who);
  HINDSIGHT_CHECK(found != held_.end() && found->second >= amount && taken_ >= amount);
  taken_ -= amount;
  found->second -= amount;
  if (found->second == 0) {
    held_.erase(found);
  }
}

std::int64_t FairShare::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

}  // namespace hindsight
