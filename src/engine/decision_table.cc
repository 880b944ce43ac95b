#include "src/engine/decision_table.h"

#include <algorithm>

#include "src/core/check.h"

namespace hindsight {
namespace {

std::uint64_t unusual(const std::vector<std::uint64_t>& keys) {
  return keys.size() - std::min(keys.size(), DecisionTable::kUsualKeys);
}

}  // namespace

DecisionSlot* DecisionTable::find(const DecisionId& id) {
  const auto place = slots_.find(id);
  return place == slots_.end() ? nullptr : &place->second;
}

const DecisionSlot* DecisionTable::find(const DecisionId& id) const {
  const auto place = slots_.find(id);
  return place == slots_.end() ? nullptr : &place->second;
}

bool DecisionTable::forgotten(const DecisionId& id) const {
  const auto place = forgotten_through_.find(id.source);
  return place != forgotten_through_.end() && id.counter <= place->second;
}

DecisionSlot& DecisionTable::open(const DecisionId& id, Position position, std::int64_t time_ms) {
  DecisionSlot& slot = slots_[id];
  HINDSIGHT_CHECK(slot.state == DecisionSlot::State::kAwaiting);
  slot.position = position;
  slot.time_ms = time_ms;
  slot.state = DecisionSlot::State::kOpen;
  open_.push_back(id);
  return slot;
}

DecisionSlot& DecisionTable::await(const DecisionId& id, std::int64_t time_ms) {
  const auto [place, is_new] = slots_.try_emplace(id);
  if (is_new) {
    place->second.time_ms = time_ms;
    awaiting_.push_back(id);
  }
  HINDSIGHT_CHECK(place->second.state == DecisionSlot::State::kAwaiting);
  return place->second;
}

void DecisionTable::close_oldest(std::int64_t time_ms) {
  const Entry entry = oldest_open();
  entry.slot->state = DecisionSlot::State::kClosed;
  entry.slot->time_ms = time_ms;
  open_.pop_front();
  closed_.push_back(entry.id);
}

void DecisionTable::forget_oldest_closed() {
  const DecisionId id = closed_.front();
  closed_.pop_front();
  erase(id);
  std::uint64_t& through = forgotten_through_[id.source];
  through = std::max(through, id.counter);
}

void DecisionTable::drop_oldest_awaiting() {
  const Entry entry = oldest_awaiting();
  HINDSIGHT_CHECK(entry.slot != nullptr);
  awaiting_.pop_front();
  erase(entry.id);
}

DecisionClicks& DecisionTable::clicks_of(DecisionSlot& slot) {
  if (slot.clicks == nullptr) {
    slot.clicks = std::make_unique<DecisionClicks>();
    ++with_clicks_;
  }
  return *slot.clicks;
}

void DecisionTable::add_key(DecisionSlot& slot, std::uint64_t key) {
  std::vector<std::uint64_t>& keys = clicks_of(slot).keys;
  keys.push_back(key);
  ++keys_;
  unusual_keys_ += keys.size() > kUsualKeys ? 1 : 0;
}

void DecisionTable::erase(const DecisionId& id) {
  const auto place = slots_.find(id);
  HINDSIGHT_CHECK(place != slots_.end());
  if (const auto& clicks = place->second.clicks) {
    --with_clicks_;
    keys_ -= clicks->keys.size();
    unusual_keys_ -= unusual(clicks->keys);
  }
  slots_.erase(place);
}

DecisionTable::Entry DecisionTable::entry_of(const DecisionId& id) { return {id, find(id)}; }

DecisionTable::Entry DecisionTable::oldest_open() {
  return open_.empty() ? Entry{} : entry_of(open_.front());
}

DecisionTable::Entry DecisionTable::oldest_closed() {
  return closed_.empty() ? Entry{} : entry_of(closed_.front());
}

DecisionTable::Entry DecisionTable::oldest_awaiting() {
  while (!awaiting_.empty()) {
    const Entry entry = entry_of(awaiting_.front());
    if (entry.slot != nullptr && entry.slot->state == DecisionSlot::State::kAwaiting) {
      return entry;
    }
    awaiting_.pop_front();
  }
  return {};
}

namespace {

void put_clicks(ByteWriter& out, const DecisionClicks& clicks) {
  out.put(clicks.keys);
  out.put(clicks.clicked);
  out.put(clicks.pending);
  out.put(static_cast<std::uint32_t>(clicks.awaiting.size()));
  for (const ClickRecord& click : clicks.awaiting) {
    put_click(out, click);
  }
}

bool get_clicks(ByteReader& in, const DecisionId& id, DecisionClicks& clicks, bool by_item) {
  std::uint32_t awaiting = 0;
  in.get(clicks.keys);
  in.get(clicks.clicked);
  in.get(clicks.pending);
  in.get(awaiting);
  for (std::uint32_t i = 0; i < awaiting && in.ok(); ++i) {
    ClickRecord& click = clicks.awaiting.emplace_back();
    click.decision = id;
    if (!get_click(in, click, by_item)) {
      return false;
    }
  }
  return in.ok();
}

}  // namespace

void DecisionTable::save(ByteWriter& out) const {
  std::vector<DecisionId> awaiting;
  for (const DecisionId& id : awaiting_) {
    const DecisionSlot* slot = find(id);
    if (slot != nullptr && slot->state == DecisionSlot::State::kAwaiting) {
      awaiting.push_back(id);
    }
  }
  const auto put_all = [&](const auto& ids) {
    out.put(static_cast<std::uint64_t>(ids.size()));
    for (const DecisionId& id : ids) {
      const DecisionSlot& slot = slots_.at(id);
      out.put(id.source);
      out.put(id.counter);
      out.put(slot.position);
      out.put(slot.time_ms);
      out.put(slot.clicks != nullptr);
      if (slot.clicks != nullptr) {
        put_clicks(out, *slot.clicks);
      }
    }
  };
  put_all(open_);
  put_all(closed_);
  put_all(awaiting);
  out.put(static_cast<std::uint64_t>(forgotten_through_.size()));
  for (const auto& [source, through] : forgotten_through_) {
    out.put(source);
    out.put(through);
  }
}

bool DecisionTable::load(ByteReader& in, bool by_item) {
  *this = DecisionTable();
  const auto get_all = [&](DecisionSlot::State state, std::deque<DecisionId>& ids) {
    std::uint64_t count = 0;
    in.get(count);
    for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
      DecisionId id;
      bool has_clicks = false;
      in.get(id.source);
      in.get(id.counter);
      const auto [place, is_new] = slots_.try_emplace(id);
      DecisionSlot& slot = place->second;
      in.get(slot.position);
      in.get(slot.time_ms);
      in.get(has_clicks);
      slot.state = state;
      if (!is_new || (has_clicks && !get_clicks(in, id, clicks_of(slot), by_item))) {
        return false;
      }
      if (has_clicks) {
        keys_ += slot.clicks->keys.size();
        unusual_keys_ += unusual(slot.clicks->keys);
      }
      ids.push_back(id);
    }
    return in.ok();
  };
  if (!get_all(DecisionSlot::State::kOpen, open_) ||
      !get_all(DecisionSlot::State::kClosed, closed_) ||
      !get_all(DecisionSlot::State::kAwaiting, awaiting_)) {
    return false;
  }
  std::uint64_t count = 0;
  in.get(count);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    std::uint64_t source = 0;
    in.get(source);
    in.get(forgotten_through_[source]);
  }
  return in.ok();
}

}  // namespace hindsight
