// FairShare: a bounded amount of something, divided among those who want it without asking how many
// they are.
//
// Whoever wants more must hold less than what is still free. One alone can have half of all; two
// that take all they can get a third each, and so on: a newcomer always finds room.
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace hindsight {

class FairShare {
 public:
  explicit FairShare(std::int64_t limit) : limit_(limit) {}

  /// RETURNS: whether `who` might take more now.
  bool has_room(std::uint64_t who) const;
  /// RETURNS: whether it was taken; then it is to be given back. What is larger than its share goes
  /// through alone.
  bool take(std::uint64_t who, std::int64_t amount);
  void give_back(std::uint64_t who, std::int64_t amount);

  std::int64_t taken() const;

 private:
  bool fits(std::uint64_t who) const;

  const std::int64_t limit_;
  mutable std::mutex mutex_;
  std::int64_t taken_ = 0;
  std::unordered_map<std::uint64_t, std::int64_t> held_;
};

}  // namespace hindsight
