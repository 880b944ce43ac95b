// Signals: what the log says about items, as any ranker may read it.
//
// A small deterministic fold over the log: picks, picks that fade over two half-lives, ages, what
// was picked together in a session, and by which group. Time is the log's time; nothing here reads
// a clock.
//
// Memory is bounded: per item a fixed number of neighbours and groups (the rarest gives way), and a
// fixed number of sessions (the one that slept longest gives way).
//
// Thread-safety: const functions may run concurrently with each other, not with the others.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "hindsight/result.h"
#include "hindsight/types.h"

namespace hindsight {

class ByteReader;
class ByteWriter;

struct SignalsParams {
  std::array<std::int64_t, 2> half_life_ms = {86'400'000, 30LL * 86'400'000};
  std::size_t neighbours_per_item = 32;
  std::size_t groups_per_item = 16;
  std::size_t max_sessions = 65'536;
  std::size_t picks_per_session = 32;
};

class Signals {
 public:
  explicit Signals(SignalsParams params = {});

  // The fold. Unknown indices are a programmer's mistake: the caller has checked them.
  void item_added(ItemIndex item, std::int64_t time_ms);
  /// A learned click. 0 for a session or group that was not given.
  void picked(ItemIndex item, std::int64_t time_ms, std::uint64_t session, std::uint64_t group);

  // What is known. REQUIRES: item < size()
  std::size_t size() const { return items_.size(); }
  std::uint64_t picks(ItemIndex item) const;
  std::uint64_t total_picks() const { return total_picks_; }
  /// Picks, each worth 2^-(age / half-life). which: 0 or 1, the two half-lives.
  double decayed_picks(ItemIndex item, std::size_t which, std::int64_t now_ms) const;
  std::int64_t age_ms(ItemIndex item, std::int64_t now_ms) const;
  /// -1 where the item was never picked.
  std::int64_t since_last_pick_ms(ItemIndex item, std::int64_t now_ms) const;
  /// How often `item` was picked in one session with `other` (a lower bound once the neighbours are
  /// full).
  std::uint32_t co_picks(ItemIndex item, ItemIndex other) const;
  std::uint32_t group_picks(ItemIndex item, std::uint64_t group) const;
  /// What the session picked so far, oldest first, as long as it is remembered.
  std::span<const ItemIndex> session_picks(std::uint64_t session) const;

  void save(ByteWriter& out) const;
  /// FAILS: kCorrupt; the signals are unchanged then
  Result<void> load(ByteReader& in);

 private:
  struct Count {
    std::uint64_t key = 0;
    std::uint32_t count = 0;
  };
  struct ItemState {
    std::int64_t added_ms = 0;
    std::int64_t last_pick_ms = -1;
    std::uint64_t picks = 0;
    std::array<double, 2> faded{};  // as of last_pick_ms
    std::vector<Count> neighbours;
    std::vector<Count> groups;
  };
  struct Session {
    std::vector<ItemIndex> picks;
    std::uint64_t last_used = 0;  // position in the fold
  };

  static void bump(std::vector<Count>& counts, std::uint64_t key, std::size_t capacity);
  void forget_oldest_session();

  SignalsParams params_;
  std::vector<ItemState> items_;
  std::unordered_map<std::uint64_t, Session> sessions_;
  std::uint64_t total_picks_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace hindsight
