#include <algorithm>

#include "hindsight/signals.h"
#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/envelope.h"

namespace hindsight {
namespace {

constexpr std::string_view kMagic = "HINDSIGHT SIGNAL\n";
constexpr std::uint8_t kSaveVersion = 2;
// Half-lives in milliseconds, no links (docs/save-format.md).
constexpr std::uint8_t kVersionOfClocks = 1;

template <class T>
bool all_distinct(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}

}  // namespace

void Signals::put_counts(ByteWriter& out, const Counts& counts) {
  out.put(static_cast<std::uint64_t>(counts.size()));
  for (const Count& count : counts) {
    out.put(count.key);
    out.put(count.count);
  }
}

bool Signals::get_counts(ByteReader& in, std::size_t capacity, Counts& counts) {
  std::uint64_t size = 0;
  if (!in.get(size) || size > capacity) {
    return false;
  }
  std::vector<std::uint64_t> keys;
  for (std::uint64_t i = 0; i < size; ++i) {
    Count count;
    if (!in.get(count.key) || !in.get(count.count) || count.count == 0) {
      return false;
    }
    counts.push_back(count);
    keys.push_back(count.key);
  }
  return all_distinct(std::move(keys));
}

// Items in order, then sessions from the longest asleep: nothing depends on the hash map.
void Signals::save(ByteWriter& out) const {
  out.put(kSaveVersion);
  out.put(params_.half_life[0]);
  out.put(params_.half_life[1]);
  for (const std::size_t limit :
       {params_.neighbours_per_item, params_.groups_per_item, params_.picks_per_session,
        params_.max_sessions, params_.links_per_item}) {
    out.put(static_cast<std::uint64_t>(limit));
  }
  out.put(now_ms_);
  out.put(total_picks_);
  out.put(static_cast<std::uint64_t>(items_.size()));
  const Relations none;
  for (ItemIndex item = 0; item < items_.size(); ++item) {
    const ItemState& state = items_[item];
    const Relations* found = find_relations(item);
    const Relations& relations = found == nullptr ? none : *found;
    out.put(state.added_ms);
    out.put(state.added_at);
    out.put(relations.links);
    out.put(state.picks);
    if (state.picks == 0) {
      continue;
    }
    out.put(state.last_pick_ms);
    out.put(state.last_pick_at);
    out.put(state.faded[0]);
    out.put(state.faded[1]);
    put_counts(out, relations.neighbours);
    put_counts(out, relations.groups);
  }
  out.put(static_cast<std::uint64_t>(sessions_.size()));
  for (std::uint32_t slot = oldest_; slot != kNowhere; slot = sessions_[slot].newer) {
    out.put(sessions_[slot].key);
    out.put(sessions_[slot].picks);
  }
}

bool Signals::get_links(ByteReader& in, std::size_t item_count,
                        std::vector<ItemIndex>& links) const {
  const auto item = static_cast<ItemIndex>(items_.size());
  return in.get(links) && links.size() <= params_.links_per_item && all_distinct(links) &&
         std::all_of(links.begin(), links.end(),
                     [&](ItemIndex other) { return other < item_count && other != item; });
}

bool Signals::get_item(ByteReader& in, std::uint8_t version, std::size_t item_count) {
  ItemState state;
  Relations relations;
  const bool dated = version > kVersionOfClocks;
  const std::int64_t earliest_ms = items_.empty() ? kEarliestMs : items_.back().added_ms;
  const std::uint64_t earliest = items_.empty() ? 0 : items_.back().added_at;
  if (!in.get(state.added_ms) || (dated && !in.get(state.added_at)) ||
      (dated && !get_links(in, item_count, relations.links)) || !in.get(state.picks) ||
      state.added_ms < earliest_ms || state.added_ms > now_ms_ || state.added_at < earliest) {
    return false;
  }
  const auto item = static_cast<ItemIndex>(items_.size());
  state.last_pick_at = state.added_at;
  items_.push_back(state);
  if (state.picks > 0 && (!in.get(state.last_pick_ms) || (dated && !in.get(state.last_pick_at)) ||
                          !get_picks(in, state, item_count, relations))) {
    return false;
  }
  items_.back() = state;
  if (!relations.neighbours.empty() || !relations.groups.empty() || !relations.links.empty()) {
    relations_of(item) = std::move(relations);
  }
  return true;
}

// What only an item that was picked has.
bool Signals::get_picks(ByteReader& in, ItemState& state, std::size_t item_count,
                        Relations& relations) {
  const auto item = static_cast<ItemIndex>(items_.size() - 1);
  if (!in.get(state.faded[0]) || !in.get(state.faded[1]) || state.last_pick_ms < state.added_ms ||
      state.last_pick_ms > now_ms_ || state.picks > kMaxCount - total_picks_) {
    return false;
  }
  for (const double faded : state.faded) {
    // The last pick still counts whole and no pick more than once; NaN fails both.
    if (!(faded >= 1.0 && faded <= static_cast<double>(state.picks))) {
      return false;
    }
  }
  total_picks_ += state.picks;
  if (!get_counts(in, params_.neighbours_per_item, relations.neighbours) ||
      !get_counts(in, params_.groups_per_item, relations.groups)) {
    return false;
  }
  for (const Count& neighbour : relations.neighbours) {
    if (neighbour.key >= item_count || neighbour.key == item) {
      return false;
    }
  }
  std::uint64_t group_total = 0;
  for (const Count& group : relations.groups) {
    group_total += group.count;
    if (group.key == 0 || group_total > state.picks) {
      return false;
    }
  }
  return true;
}

// Saves of the first version do not say at which pick something happened: every last pick counts as
// of now, every item as there from the beginning.
void Signals::date_picks() {
  for (ItemState& state : items_) {
    state.last_pick_at = state.picks > 0 ? total_picks_ : 0;
  }
}

bool Signals::dates_fit() const {
  return std::all_of(items_.begin(), items_.end(), [this](const ItemState& state) {
    return state.added_at <= state.last_pick_at && state.last_pick_at <= total_picks_ &&
           state.picks <= state.last_pick_at - state.added_at;
  });
}

bool Signals::get_session(ByteReader& in) {
  std::uint64_t key = 0;
  std::vector<ItemIndex> picks;
  if (!in.get(key) || !in.get(picks) || key == 0 || session_slot_.contains(key) || picks.empty() ||
      picks.size() > params_.picks_per_session || !all_distinct(picks)) {
    return false;
  }
  for (const ItemIndex item : picks) {
    if (item >= items_.size() || items_[item].picks == 0) {
      return false;
    }
  }
  wake_session(key).picks = std::move(picks);
  return true;
}

std::size_t Signals::count_list_bytes() const {
  std::size_t bytes = 0;
  const auto count = [&bytes](const auto& list) { bytes += list.capacity() * sizeof(list[0]); };
  for (const Relations& relations : relations_) {
    count(relations.neighbours);
    count(relations.groups);
    count(relations.links);
  }
  for (const Session& session : sessions_) {
    count(session.picks);
  }
  return bytes;
}

Result<void> Signals::load(ByteReader& in) {
  const Error corrupt{ErrorCode::kCorrupt,
                      "the saved signals are truncated or damaged; use an older copy", ""};
  std::uint8_t version = 0;
  SignalsParams params;
  in.get(version);
  if (!in.ok() || version < kVersionOfClocks || version > kSaveVersion) {
    return corrupt;
  }
  const bool dated = version > kVersionOfClocks;
  std::array<std::int64_t, 2> half_life{};
  std::array<std::uint64_t, 5> limits{};
  limits[4] = params.links_per_item;
  in.get(half_life[0]);
  in.get(half_life[1]);
  for (std::uint64_t& limit : std::span(limits).first(dated ? 5 : 4)) {
    in.get(limit);
  }
  params.half_life = dated ? half_life : params.half_life;
  params.neighbours_per_item = limits[0];
  params.groups_per_item = limits[1];
  params.picks_per_session = limits[2];
  params.max_sessions = limits[3];
  params.links_per_item = limits[4];
  if (!in.ok() || half_life[0] <= 0 || half_life[1] <= 0 || !params.valid()) {
    return corrupt;
  }
  Signals loaded(params);
  std::uint64_t total_picks = 0;
  std::uint64_t item_count = 0;
  if (!in.get(loaded.now_ms_) || (dated && !in.get(total_picks)) || !in.get(item_count) ||
      loaded.now_ms_ < kEarliestMs || loaded.now_ms_ > kLatestMs || item_count >= kNowhere) {
    return corrupt;
  }
  for (std::uint64_t i = 0; i < item_count; ++i) {
    if (!loaded.get_item(in, version, item_count)) {
      return corrupt;
    }
  }
  if (!dated) {
    loaded.date_picks();
  } else if (loaded.total_picks_ != total_picks || !loaded.dates_fit()) {
    return corrupt;
  }
  std::uint64_t session_count = 0;
  if (!in.get(session_count) || session_count > params.max_sessions) {
    return corrupt;
  }
  for (std::uint64_t i = 0; i < session_count; ++i) {
    if (!loaded.get_session(in)) {
      return corrupt;
    }
  }
  loaded.list_bytes_ = loaded.count_list_bytes();
  *this = std::move(loaded);
  return {};
}

std::vector<std::byte> save_signals(const Signals& signals) {
  ByteWriter out = begin_record(kMagic);
  signals.save(out);
  return seal_record(std::move(out));
}

Result<Signals> load_signals(std::span<const std::byte> bytes) {
  HINDSIGHT_ASSIGN_OR_RETURN(const auto body, open_record(kMagic, bytes));
  ByteReader in(body);
  Signals signals;
  HINDSIGHT_RETURN_IF_ERROR(signals.load(in));
  if (in.left() != 0) {
    return Error{ErrorCode::kCorrupt, "the saved signals have bytes after their end", ""};
  }
  return signals;
}

}  // namespace hindsight
