#include "hindsight/signals.h"

#include <algorithm>
#include <limits>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/core/det_math.h"

namespace hindsight {
namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;

}  // namespace

bool SignalsParams::valid() const {
  return half_life[0] > 0 && half_life[1] > 0 && neighbours_per_item <= kMaxListLength &&
         groups_per_item <= kMaxListLength && picks_per_session <= kMaxListLength &&
         links_per_item <= kMaxListLength && max_sessions <= kMaxSessions;
}

Signals::Signals(SignalsParams params) : params_(params), now_ms_(kEarliestMs) {
  HINDSIGHT_CHECK(params_.valid());
}

// --- the fold

void Signals::item_added(ItemIndex item, std::int64_t time_ms) {
  HINDSIGHT_CHECK(item == items_.size());
  items_.push_back(
      {.added_ms = advance(time_ms), .added_at = total_picks_, .last_pick_at = total_picks_});
}

void Signals::set_links(ItemIndex item, std::span<const ItemIndex> links) {
  HINDSIGHT_CHECK(item < items_.size());
  std::vector<ItemIndex> kept;
  for (std::size_t i = 0; i < links.size() && kept.size() < params_.links_per_item; ++i) {
    if (links[i] != item && links[i] < items_.size() &&
        std::find(kept.begin(), kept.end(), links[i]) == kept.end()) {
      kept.push_back(links[i]);
    }
  }
  if (!kept.empty() || items_[item].relations != kNowhere) {
    std::vector<ItemIndex>& now = relations_of(item).links;
    kept.shrink_to_fit();
    list_bytes_ += kept.capacity() * sizeof(ItemIndex);
    list_bytes_ -= now.capacity() * sizeof(ItemIndex);
    now = std::move(kept);
  }
}

void Signals::picked(ItemIndex item, std::int64_t time_ms, std::uint64_t session,
                     std::uint64_t group) {
  HINDSIGHT_CHECK(item < items_.size());
  const std::int64_t now_ms = advance(time_ms);
  ItemState& state = items_[item];
  count_up(total_picks_);
  for (std::size_t which = 0; which < state.faded.size(); ++which) {
    state.faded[which] = state.faded[which] * fade(which, total_picks_ - state.last_pick_at) + 1.0;
  }
  state.last_pick_at = total_picks_;
  state.last_pick_ms = now_ms;
  count_up(state.picks);
  if (group != 0 && params_.groups_per_item > 0) {
    bump(relations_of(item).groups, group, params_.groups_per_item);
  }
  if (session != 0 && params_.max_sessions > 0 && params_.picks_per_session > 0) {
    join_session(wake_session(session), item);
  }
}

std::int64_t Signals::elapsed(std::int64_t from_ms, std::int64_t to_ms) {
  return std::max<std::int64_t>(0, std::clamp(to_ms, kEarliestMs, kLatestMs) - from_ms);
}

std::int64_t Signals::advance(std::int64_t time_ms) {
  return now_ms_ = std::max(now_ms_, std::min(time_ms, kLatestMs));
}

double Signals::fade(std::size_t which, std::uint64_t picks_ago) const {
  if (picks_ago == 0) {
    return 1.0;
  }
  const double half_lives =
      static_cast<double>(picks_ago) / static_cast<double>(params_.half_life[which]);
  // 2^-x = e^(-x ln 2). An ulp above 1 would let a pick gain weight by ageing.
  return std::min(1.0, det_exp(-half_lives * kLn2));
}

template <class Entry>
void Signals::append(std::vector<Entry>& list, Entry entry) {
  list_bytes_ -= list.capacity() * sizeof(Entry);
  list.push_back(entry);
  list_bytes_ += list.capacity() * sizeof(Entry);
}

void Signals::bump(Counts& counts, std::uint64_t key, std::size_t capacity) {
  const auto same = [key](const Count& count) { return count.key == key; };
  if (const auto at = std::find_if(counts.begin(), counts.end(), same); at != counts.end()) {
    at->count += at->count < std::numeric_limits<std::uint32_t>::max() ? 1 : 0;
    return;
  }
  if (counts.size() == capacity) {
    const auto rarer = [](const Count& a, const Count& b) { return a.count < b.count; };
    counts.erase(std::min_element(counts.begin(), counts.end(), rarer));
  }
  append(counts, Count{key, 1});
}

void Signals::join_session(Session& session, ItemIndex item) {
  std::vector<ItemIndex>& picks = session.picks;
  if (const auto at = std::find(picks.begin(), picks.end(), item); at != picks.end()) {
    std::rotate(at, at + 1, picks.end());  // its pairs were counted when it joined
    return;
  }
  if (params_.neighbours_per_item > 0) {
    for (const ItemIndex other : picks) {
      bump(relations_of(item).neighbours, other, params_.neighbours_per_item);
      bump(relations_of(other).neighbours, item, params_.neighbours_per_item);
    }
  }
  if (picks.size() == params_.picks_per_session) {
    picks.erase(picks.begin());
  }
  append(picks, item);
}

Signals::Relations& Signals::relations_of(ItemIndex item) {
  if (items_[item].relations == kNowhere) {
    items_[item].relations = static_cast<std::uint32_t>(relations_.size());
    relations_.emplace_back();
  }
  return relations_[items_[item].relations];
}

Signals::Session& Signals::wake_session(std::uint64_t key) {
  if (const auto at = session_slot_.find(key); at != session_slot_.end()) {
    unlink(at->second);
    link_newest(at->second);
    return sessions_[at->second];
  }
  std::uint32_t slot = oldest_;
  if (sessions_.size() < params_.max_sessions) {
    slot = static_cast<std::uint32_t>(sessions_.size());
    sessions_.emplace_back();
  } else {
    session_slot_.erase(sessions_[slot].key);
    unlink(slot);
    sessions_[slot].picks.clear();
  }
  sessions_[slot].key = key;
  session_slot_.emplace(key, slot);
  link_newest(slot);
  return sessions_[slot];
}

void Signals::unlink(std::uint32_t slot) {
  const Session& session = sessions_[slot];
  (session.older == kNowhere ? oldest_ : sessions_[session.older].newer) = session.newer;
  (session.newer == kNowhere ? newest_ : sessions_[session.newer].older) = session.older;
}

void Signals::link_newest(std::uint32_t slot) {
  sessions_[slot].older = newest_;
  sessions_[slot].newer = kNowhere;
  (newest_ == kNowhere ? oldest_ : sessions_[newest_].newer) = slot;
  newest_ = slot;
}

// --- what is known

std::uint64_t Signals::picks(ItemIndex item) const {
  HINDSIGHT_CHECK(item < items_.size());
  return items_[item].picks;
}

double Signals::decayed_picks(ItemIndex item, std::size_t which) const {
  HINDSIGHT_CHECK(item < items_.size() && which < params_.half_life.size());
  return items_[item].faded[which] * fade(which, picks_since_last(item));
}

std::uint64_t Signals::picks_since_added(ItemIndex item) const {
  HINDSIGHT_CHECK(item < items_.size());
  return total_picks_ - items_[item].added_at;
}

std::uint64_t Signals::picks_since_last(ItemIndex item) const {
  HINDSIGHT_CHECK(item < items_.size());
  return total_picks_ - items_[item].last_pick_at;
}

std::int64_t Signals::age_ms(ItemIndex item, std::int64_t now_ms) const {
  HINDSIGHT_CHECK(item < items_.size());
  return elapsed(items_[item].added_ms, now_ms);
}

std::int64_t Signals::since_last_pick_ms(ItemIndex item, std::int64_t now_ms) const {
  HINDSIGHT_CHECK(item < items_.size());
  return items_[item].picks == 0 ? -1 : elapsed(items_[item].last_pick_ms, now_ms);
}

const Signals::Relations* Signals::find_relations(ItemIndex item) const {
  HINDSIGHT_CHECK(item < items_.size());
  const std::uint32_t place = items_[item].relations;
  return place == kNowhere ? nullptr : &relations_[place];
}

std::uint32_t Signals::count_of(const Counts& counts, std::uint64_t key) {
  for (const Count& count : counts) {
    if (count.key == key) {
      return count.count;
    }
  }
  return 0;
}

std::uint32_t Signals::co_picks(ItemIndex item, ItemIndex other) const {
  const Relations* relations = find_relations(item);
  return relations == nullptr ? 0 : count_of(relations->neighbours, other);
}

std::span<const Signals::Count> Signals::neighbours(ItemIndex item) const {
  const Relations* relations = find_relations(item);
  return relations == nullptr ? std::span<const Count>()
                              : std::span<const Count>(relations->neighbours);
}

std::uint32_t Signals::group_picks(ItemIndex item, std::uint64_t group) const {
  const Relations* relations = find_relations(item);
  return relations == nullptr ? 0 : count_of(relations->groups, group);
}

std::span<const ItemIndex> Signals::links(ItemIndex item) const {
  const Relations* relations = find_relations(item);
  return relations == nullptr ? std::span<const ItemIndex>()
                              : std::span<const ItemIndex>(relations->links);
}

std::span<const ItemIndex> Signals::session_picks(std::uint64_t session) const {
  const auto at = session_slot_.find(session);
  return at == session_slot_.end() ? std::span<const ItemIndex>() : sessions_[at->second].picks;
}

std::size_t Signals::memory_bytes() const {
  constexpr std::size_t kAllocation = 16;  // what the heap adds to a list
  constexpr std::size_t kHashEntry = 48;
  return items_.capacity() * sizeof(ItemState) +
         relations_.capacity() * (sizeof(Relations) + 3 * kAllocation) +
         sessions_.capacity() * (sizeof(Session) + kAllocation + kHashEntry) + list_bytes_;
}

}  // namespace hindsight
