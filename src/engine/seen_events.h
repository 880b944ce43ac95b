// SeenEvents: which events a fold has met, so that a repeat changes nothing.
//
// Per producer: everything below a mark, and a bounded number of later events that came before an
// earlier one. An event that stays away for longer than `kReach` others counts as seen when it
// comes: producers keep their order far better than that.
//
// Thread-safety: none needed; one owner at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "src/core/bytes.h"
#include "src/engine/event.h"

namespace hindsight {

class SeenEvents {
 public:
  static constexpr std::size_t kReach = 4096;

  /// RETURNS: whether the event is new. Sequences begin at 1.
  bool insert(const EventId& id);

  void save(ByteWriter& out) const;
  /// RETURNS: false for bytes that make no sense.
  bool load(ByteReader& in);

 private:
  struct Source {
    std::uint64_t through = 0;      // all sequences up to this one
    std::set<std::uint64_t> later;  // and these
  };
  std::map<std::uint64_t, Source> sources_;
};

}  // namespace hindsight
