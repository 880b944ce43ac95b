// Signals: what the log says about items, as any ranker may read it.
//
// A small deterministic fold over the log: picks, picks that fade over two half-lives, ages, what
// was picked together in a session, by which group, and what items point to. Time is the log's
// time; nothing here reads a clock. Fading is not a matter of clocks at all: half-lives are counted
// in decisions that were learned from, one for each pick, so that a collection that is used a
// hundred times a day and one that is used a hundred times a second forget alike, and a clock that
// stands still or jumps changes nothing.
//
// Memory is bounded: per item a fixed number of neighbours and groups (the rarest gives way; among
// equals the one that came first) and links (the first are kept), and a fixed number of sessions
// (the one that slept longest gives way) with their latest picks. An event costs O(1) in items,
// sessions, groups and links.
//
// Time never runs backwards in the fold: an event with an earlier time than one before it counts as
// of that later time, and a question about an earlier moment is answered as of the last pick.
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
  /// What limits the four lists below.
  static constexpr std::size_t kMaxListLength = 1024;
  static constexpr std::size_t kMaxSessions = std::size_t{1} << 24;

  std::array<std::int64_t, 2> half_life = {300, 3000};  // in picks of any item; positive
  std::size_t neighbours_per_item = 32;
  std::size_t groups_per_item = 16;
  std::size_t picks_per_session = 32;
  std::size_t links_per_item = 64;
  std::size_t max_sessions = 65'536;

  bool valid() const;
  friend bool operator==(const SignalsParams&, const SignalsParams&) = default;
};

class Signals {
 public:
  struct Count {
    std::uint64_t key = 0;
    std::uint32_t count = 0;
  };

  /// REQUIRES: params.valid()
  explicit Signals(SignalsParams params = {});

  // The fold. Unknown indices are a programmer's mistake: the caller has checked them.

  /// REQUIRES: item == size(): indices are dense
  void item_added(ItemIndex item, std::int64_t time_ms);
  /// What the item points to, in place of what it pointed to before. Repeats, the item itself and
  /// items that are not there (yet) are passed over, and so is what follows after links_per_item.
  /// REQUIRES: item < size()
  void set_links(ItemIndex item, std::span<const ItemIndex> links);
  /// A learned click. 0 for a session or group that was not given. REQUIRES: item < size()
  void picked(ItemIndex item, std::int64_t time_ms, std::uint64_t session, std::uint64_t group);

  // What is known. REQUIRES: item < size()
  const SignalsParams& params() const { return params_; }
  std::size_t size() const { return items_.size(); }
  std::uint64_t picks(ItemIndex item) const;
  std::uint64_t total_picks() const { return total_picks_; }
  /// Picks, each worth 2^-(picks since then, of any item / half-life). which: 0 or 1, the two
  /// half-lives.
  double decayed_picks(ItemIndex item, std::size_t which) const;
  /// How many picks of any item there were since the item was added, and since its last pick (also
  /// since it was added, where it was never picked).
  std::uint64_t picks_since_added(ItemIndex item) const;
  std::uint64_t picks_since_last(ItemIndex item) const;
  std::int64_t age_ms(ItemIndex item, std::int64_t now_ms) const;
  /// -1 where the item was never picked.
  std::int64_t since_last_pick_ms(ItemIndex item, std::int64_t now_ms) const;
  /// In how many sessions `item` was picked together with `other`, as far as sessions and
  /// neighbours are remembered: a lower bound once a list is full.
  std::uint32_t co_picks(ItemIndex item, ItemIndex other) const;
  /// The items (keys) that were picked together with `item`, as far as they are remembered, and how
  /// often.
  std::span<const Count> neighbours(ItemIndex item) const;
  std::uint32_t group_picks(ItemIndex item, std::uint64_t group) const;
  /// What the item points to, as far as it is remembered.
  std::span<const ItemIndex> links(ItemIndex item) const;
  /// The distinct items that the session picked, the latest pick last, as far as it is remembered.
  /// The span lives until the next event.
  std::span<const ItemIndex> session_picks(std::uint64_t session) const;
  std::size_t sessions_remembered() const { return sessions_.size(); }
  /// About what all this takes.
  std::size_t memory_bytes() const;

  /// Equal folds write equal bytes.
  void save(ByteWriter& out) const;
  /// Replaces everything, the parameters too. FAILS: kCorrupt; the signals are unchanged then
  Result<void> load(ByteReader& in);

 private:
  using Counts = std::vector<Count>;  // in the order of their first mention

  struct ItemState {
    std::int64_t added_ms = 0;
    std::int64_t last_pick_ms = 0;   // 0 before the first pick
    std::uint64_t added_at = 0;      // the number of picks of any item by then
    std::uint64_t last_pick_at = 0;  // likewise, this one included; added_at before the first pick
    std::uint64_t picks = 0;
    std::array<double, 2> faded{};       // as of last_pick_at
    std::uint32_t relations = kNowhere;  // its place in relations_: most items never have any
  };
  struct Relations {
    Counts neighbours;
    Counts groups;
    std::vector<ItemIndex> links;
  };
  /// Sessions form a list from the longest asleep to the latest used.
  struct Session {
    std::uint64_t key = 0;
    std::uint32_t older = kNowhere;
    std::uint32_t newer = kNowhere;
    std::vector<ItemIndex> picks;
  };

  static constexpr std::uint32_t kNowhere = 0xFFFFFFFF;
  // Half of the range, so that no difference of two times overflows.
  static constexpr std::int64_t kEarliestMs = -(std::int64_t{1} << 62);
  static constexpr std::int64_t kLatestMs = (std::int64_t{1} << 62) - 1;

  /// Adds to a list, keeping count of its bytes.
  template <class Entry>
  void append(std::vector<Entry>& list, Entry entry);
  void bump(Counts& counts, std::uint64_t key, std::size_t capacity);
  static std::uint32_t count_of(const Counts& counts, std::uint64_t key);
  static void put_counts(ByteWriter& out, const Counts& counts);
  static bool get_counts(ByteReader& in, std::size_t capacity, Counts& counts);

  static std::int64_t elapsed(std::int64_t from_ms, std::int64_t to_ms);
  std::int64_t advance(std::int64_t time_ms);
  double fade(std::size_t which, std::uint64_t picks_ago) const;
  Relations& relations_of(ItemIndex item);
  const Relations* find_relations(ItemIndex item) const;
  Session& wake_session(std::uint64_t key);
  void unlink(std::uint32_t slot);
  void link_newest(std::uint32_t slot);
  void join_session(Session& session, ItemIndex item);
  bool get_item(ByteReader& in, std::uint8_t version, std::size_t item_count);
  bool get_links(ByteReader& in, std::size_t item_count, std::vector<ItemIndex>& links) const;
  bool get_picks(ByteReader& in, ItemState& state, std::size_t item_count, Relations& relations);
  std::size_t count_list_bytes() const;
  void date_picks();
  bool dates_fit() const;
  bool get_session(ByteReader& in);

  SignalsParams params_;
  std::vector<ItemState> items_;
  std::vector<Relations> relations_;
  std::vector<Session> sessions_;
  std::unordered_map<std::uint64_t, std::uint32_t> session_slot_;
  std::uint32_t oldest_ = kNowhere;
  std::uint32_t newest_ = kNowhere;
  std::uint64_t total_picks_ = 0;
  std::size_t list_bytes_ = 0;  // of neighbours, groups, links and picks of sessions
  std::int64_t now_ms_;         // the latest time of any event
};

/// Signals as bytes, versioned and checksummed (docs/save-format.md).
std::vector<std::byte> save_signals(const Signals& signals);

/// FAILS: kCorrupt, kNewerVersion
Result<Signals> load_signals(std::span<const std::byte> bytes);

}  // namespace hindsight
