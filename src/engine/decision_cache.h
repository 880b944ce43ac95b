// DecisionCache: decisions by their position in the log, the latest kept at hand, others read back.
//
// Thread-safety: none; one owner at a time.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include "src/engine/event.h"

namespace hindsight {

class DecisionCache {
 public:
  using Shared = std::shared_ptr<const DecisionEvent>;
  /// Reads a decision from the log.
  using Loader = std::function<Result<Shared>(Position)>;

  DecisionCache(Loader loader, std::size_t max_bytes)
      : loader_(std::move(loader)), max_bytes_(max_bytes) {}

  void put(Position position, const Shared& decision);
  /// FAILS: as the loader
  Result<Shared> get(Position position);

  std::size_t bytes() const { return bytes_; }
  void limit(std::size_t max_bytes) { max_bytes_ = max_bytes; }

 private:
  static std::size_t size_of(const DecisionEvent& event);

  Loader loader_;
  std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::unordered_map<Position, Shared> decisions_;
  std::deque<Position> order_;  // oldest first
};

/// RETURNS: a loader that reads from a store's log, without the candidates. REQUIRES: the store
/// outlives it
DecisionCache::Loader decision_loader(const LogView& store, LogId log);

}  // namespace hindsight
