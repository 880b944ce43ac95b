// DecisionTable: the decisions that clicks may still join, and those that they came too late for.
//
//   awaiting   a click has come for a decision that is not in the log (yet)
//   open       the decision is in the log and its window has not closed
//   closed     its window has closed; kept for a while to tell a late click from a repeated one
//   forgotten  only the highest number of each source is kept: clicks on those are late
//
// What was decided stays in the store; the table has its position. Memory is bounded by the caller,
// who closes and forgets the oldest.
//
// Thread-safety: none needed; one owner at a time.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "hindsight/types.h"
#include "src/core/bytes.h"
#include "src/engine/event.h"

namespace hindsight {

struct DecisionIdHash {
  std::size_t operator()(const DecisionId& id) const {
    // Consecutive counters fall into neighbouring buckets, which are in the cache together; sources
    // are spread by an odd constant (2^64 divided by the golden ratio).
    return static_cast<std::size_t>(id.counter + id.source * 0x9E3779B97F4A7C15ULL);
  }
};

/// What was clicked of one decision; most decisions have none.
struct DecisionClicks {
  std::vector<std::uint64_t> keys;    // idempotency keys that were seen
  std::vector<ItemIndex> clicked;     // distinct items in the order of their first click
  std::vector<ClickRecord> awaiting;  // clicks that came before the decision
  std::uint32_t pending = 0;          // joined clicks that wait for the window's close
};

struct DecisionSlot {
  enum class State : std::uint8_t { kAwaiting, kOpen, kClosed };

  Position position = 0;     // of the decision in the log; 0 while awaiting
  std::int64_t time_ms = 0;  // of the decision; of the first click while awaiting; of the close
  State state = State::kAwaiting;
  std::unique_ptr<DecisionClicks> clicks;  // null: none
};

class DecisionTable {
 public:
  /// So many clicks on one decision may be people's.
  static constexpr std::size_t kUsualKeys = 32;

  struct Entry {
    DecisionId id;
    DecisionSlot* slot = nullptr;
  };

  /// RETURNS: null for a decision that is not here.
  DecisionSlot* find(const DecisionId& id);
  const DecisionSlot* find(const DecisionId& id) const;
  /// RETURNS: whether a decision that is not here was closed long ago.
  bool forgotten(const DecisionId& id) const;

  /// REQUIRES: not here, or awaiting
  DecisionSlot& open(const DecisionId& id, Position position, std::int64_t time_ms);
  /// REQUIRES: not here, or awaiting
  DecisionSlot& await(const DecisionId& id, std::int64_t time_ms);
  /// RETURNS: the slot's clicks, which it has from now on. REQUIRES: the slot is one of this table
  DecisionClicks& clicks_of(DecisionSlot& slot);
  /// One more idempotency key of this slot.
  void add_key(DecisionSlot& slot, std::uint64_t key);
  /// REQUIRES: it is the oldest open one
  void close_oldest(std::int64_t time_ms);
  /// REQUIRES: there is one in that state
  void forget_oldest_closed();
  void drop_oldest_awaiting();

  // The oldest of each kind; a null slot where there is none.
  Entry oldest_open();
  Entry oldest_awaiting();
  Entry oldest_closed();

  std::size_t open_count() const { return open_.size(); }
  std::size_t closed_count() const { return closed_.size(); }
  std::size_t awaiting_count() const { return slots_.size() - open_.size() - closed_.size(); }
  /// About: of the keys that decisions have beyond the usual ones, in vectors that grow by
  /// doubling.
  std::uint64_t unusual_key_bytes() const { return unusual_keys_ * kKeyBytes; }
  /// About: of the decisions, of the clicks of those that have some, and of their keys.
  std::uint64_t memory_bytes() const {
    return slots_.size() * 160 + with_clicks_ * 96 + keys_ * kKeyBytes;
  }

  void save(ByteWriter& out) const;
  /// `by_item`: saved when clicks named items only. RETURNS: false for bytes that make no sense.
  bool load(ByteReader& in, bool by_item);

 private:
  static constexpr std::uint64_t kKeyBytes = 16;

  Entry entry_of(const DecisionId& id);
  void erase(const DecisionId& id);

  std::unordered_map<DecisionId, DecisionSlot, DecisionIdHash> slots_;
  std::uint64_t with_clicks_ = 0;
  std::uint64_t keys_ = 0;          // of all slots
  std::uint64_t unusual_keys_ = 0;  // of those, beyond the usual ones of each slot
  std::deque<DecisionId> open_;     // in log order, as the others
  std::deque<DecisionId> closed_;
  std::deque<DecisionId> awaiting_;  // may name decisions that have come since
  std::map<std::uint64_t, std::uint64_t> forgotten_through_;  // by source
};

}  // namespace hindsight
