#include <algorithm>

#include "hindsight/signals.h"
#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/envelope.h"

namespace hindsight {
namespace {

constexpr std::string_view kMagic = "HINDSIGHT SIGNAL\n";
constexpr std::uint8_t kSaveVersion = 1;

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
  out.put(params_.half_life_ms[0]);
  out.put(params_.half_life_ms[1]);
  for (const std::size_t limit : {params_.neighbours_per_item, params_.groups_per_item,
                                  params_.picks_per_session, params_.max_sessions}) {
    out.put(static_cast<std::uint64_t>(limit));
  }
  out.put(now_ms_);
  out.put(static_cast<std::uint64_t>(items_.size()));
  const Relations none;
  for (ItemIndex item = 0; item < items_.size(); ++item) {
    const ItemState& state = items_[item];
    out.put(state.added_ms);
    out.put(state.picks);
    if (state.picks == 0) {
      continue;
    }
    out.put(state.last_pick_ms);
    out.put(state.faded[0]);
    out.put(state.faded[1]);
    const Relations* relations = find_relations(item);
    put_counts(out, (relations == nullptr ? none : *relations).neighbours);
    put_counts(out, (relations == nullptr ? none : *relations).groups);
  }
  out.put(static_cast<std::uint64_t>(sessions_.size()));
  for (std::uint32_t slot = oldest_; slot != kNowhere; slot = sessions_[slot].newer) {
    out.put(sessions_[slot].key);
    out.put(sessions_[slot].picks);
  }
}

bool Signals::get_item(ByteReader& in, std::size_t item_count) {
  ItemState state;
  const std::int64_t earliest_ms = items_.empty() ? kEarliestMs : items_.back().added_ms;
  if (!in.get(state.added_ms) || !in.get(state.picks) || state.added_ms < earliest_ms ||
      state.added_ms > now_ms_) {
    return false;
  }
  const auto item = static_cast<ItemIndex>(items_.size());
  items_.push_back(state);
  if (state.picks == 0) {
    return true;
  }
  if (!in.get(state.last_pick_ms) || !in.get(state.faded[0]) || !in.get(state.faded[1]) ||
      state.last_pick_ms < state.added_ms || state.last_pick_ms > now_ms_ ||
      state.picks > kMaxCount - total_picks_) {
    return false;
  }
  for (const double faded : state.faded) {
    // The last pick still counts whole and no pick more than once; NaN fails both.
    if (!(faded >= 1.0 && faded <= static_cast<double>(state.picks))) {
      return false;
    }
  }
  items_.back() = state;
  total_picks_ += state.picks;
  Relations relations;
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
  if (!relations.neighbours.empty() || !relations.groups.empty()) {
    relations_of(item) = std::move(relations);
  }
  return true;
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

Result<void> Signals::load(ByteReader& in) {
  const Error corrupt{ErrorCode::kCorrupt,
                      "the saved signals are truncated or damaged; use an older copy", ""};
  std::uint8_t version = 0;
  SignalsParams params;
  std::array<std::uint64_t, 4> limits{};
  in.get(version);
  in.get(params.half_life_ms[0]);
  in.get(params.half_life_ms[1]);
  for (std::uint64_t& limit : limits) {
    in.get(limit);
  }
  params.neighbours_per_item = limits[0];
  params.groups_per_item = limits[1];
  params.picks_per_session = limits[2];
  params.max_sessions = limits[3];
  if (!in.ok() || version != kSaveVersion || !params.valid()) {
    return corrupt;
  }
  Signals loaded(params);
  std::uint64_t item_count = 0;
  if (!in.get(loaded.now_ms_) || !in.get(item_count) || loaded.now_ms_ < kEarliestMs ||
      loaded.now_ms_ > kLatestMs || item_count >= kNowhere) {
    return corrupt;
  }
  for (std::uint64_t i = 0; i < item_count; ++i) {
    if (!loaded.get_item(in, item_count)) {
      return corrupt;
    }
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
