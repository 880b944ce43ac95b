// Collection: what callers look at without changing anything: items, and what was ranked.

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "src/core/check.h"
#include "src/engine/collection.h"

namespace hindsight {
namespace {

// Events that are read for one question about the past, positions without an event included; no
// more once their bytes are too many.
constexpr Position kLookBack = 4096;
constexpr Position kFirstStep = 4;  // then twice as many, for an event may be some megabytes
constexpr std::size_t kLookBackBytes = std::size_t{16} << 20;

/// A part of the past.
struct Past {
  std::vector<Event> events;  // decisions and clicks, in log order
  std::size_t decisions = 0;
  std::size_t bytes = 0;  // of what was read, whatever it was
};

/// Reads the positions from `begin` to before `end`.
Result<Past> read_past(const LogView& store, LogId log, Position begin, Position end) {
  Past past;
  Position after = begin - 1;
  while (after + 1 < end) {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogEntry> entries,
                               store.read(log, after, static_cast<std::size_t>(end - after - 1)));
    if (entries.empty()) {
      break;
    }
    for (const LogEntry& entry : entries) {
      if (entry.position >= end) {
        return past;
      }
      past.bytes += entry.payload.size();
      HINDSIGHT_ASSIGN_OR_RETURN(Event event, decode_event(entry.payload));
      if (auto* decided = std::get_if<DecisionEvent>(&event.body)) {
        ++past.decisions;
        decided->candidates = {};  // most of it, and nobody asks
        decided->decision.features = {};
        past.events.push_back(std::move(event));
      } else if (std::holds_alternative<ClicksEvent>(event.body)) {
        past.events.push_back(std::move(event));
      }
    }
    after = entries.back().position;
  }
  return past;
}

/// Goes back from `end` until there are so many decisions, or has gone far enough.
Result<Past> look_back(const LogView& store, LogId log, Position end, std::size_t decisions) {
  const Position first = end > kLookBack ? end - kLookBack : 1;
  Past past;
  Position until = end;
  Position step = kFirstStep;
  while (until > first && past.decisions < decisions && past.bytes < kLookBackBytes) {
    const Position begin = until > first + step ? until - step : first;
    HINDSIGHT_ASSIGN_OR_RETURN(Past earlier, read_past(store, log, begin, until));
    earlier.events.insert(earlier.events.end(), std::make_move_iterator(past.events.begin()),
                          std::make_move_iterator(past.events.end()));
    past.events = std::move(earlier.events);
    past.decisions += earlier.decisions;
    past.bytes += earlier.bytes;
    until = begin;
    // No step is to take more than what is left.
    const std::size_t left = kLookBackBytes - std::min(kLookBackBytes, past.bytes);
    const std::size_t typical = std::max<std::size_t>(1, past.bytes / (end - until));
    step = std::clamp<Position>(left / typical, 1, 2 * step);
  }
  return past;
}

/// What was clicked of a decision that is no longer remembered, as far as the events tell.
std::vector<std::string> clicks_among(const std::vector<Event>& events, const DecisionId& id,
                                      const std::vector<RankedItem>& shown) {
  std::vector<std::string> clicked;
  const auto note = [&](const ClickRecord& click) {
    const auto place = std::find_if(shown.begin(), shown.end(), [&](const RankedItem& item) {
      const auto position = static_cast<std::uint32_t>(&item - shown.data()) + 1;
      return click.position > 0 ? position == click.position : item.id == click.item;
    });
    if (click.issued_here && click.decision == id && place != shown.end() && !place->unknown &&
        std::find(clicked.begin(), clicked.end(), place->id) == clicked.end()) {
      clicked.push_back(place->id);
    }
  };
  for (const Event& event : events) {
    if (const auto* clicks = std::get_if<ClicksEvent>(&event.body)) {
      std::for_each(clicks->clicks.begin(), clicks->clicks.end(), note);
    }
  }
  return clicked;
}

// About what things take as JSON.
std::size_t json_bytes(std::string_view text) { return text.size() + std::size("\"\","); }

std::size_t json_bytes(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts) {
    bytes += json_bytes(text);
  }
  return bytes;
}

std::size_t json_bytes(const ItemView& item) {
  constexpr std::size_t kFixed = 200;  // the numbers, and the names of everything
  constexpr std::size_t kNumber = 20;
  std::size_t bytes =
      kFixed + json_bytes(item.id) + json_bytes(item.topics) + json_bytes(item.links);
  for (const auto& [name, value] : item.features) {
    bytes += json_bytes(name) + kNumber;
  }
  return bytes;
}

std::size_t json_bytes(const DecisionView& decision) {
  constexpr std::size_t kFixed = 300;
  constexpr std::size_t kPerItem = 70;  // score and probability, with their names
  std::size_t bytes = kFixed + json_bytes(decision.query) + json_bytes(decision.clicked);
  for (const RankedItem& item : decision.items) {
    bytes += kPerItem + json_bytes(item.id);
  }
  return bytes;
}

}  // namespace

Result<ItemPage> Collection::items(std::string_view cursor, std::size_t limit) const {
  std::uint32_t next = 0;
  if (!cursor.empty()) {
    const auto end = cursor.data() + cursor.size();
    const auto [stop, error] = std::from_chars(cursor.data(), end, next);
    if (error != std::errc() || stop != end) {
      return Error{ErrorCode::kInvalidArgument, "must be the next_cursor of an earlier page",
                   "cursor"};
    }
  }
  const Guard model = models_.read();
  ItemPage page;
  std::size_t bytes = 0;
  for (; next < model->items_added(); ++next) {
    if (!model->ranker().is_live(next)) {
      continue;
    }
    if (page.items.size() == limit || bytes >= kMaxPageBytes) {
      page.next_cursor = std::to_string(next);
      break;
    }
    page.items.push_back(view_of(*model, next));
    bytes += json_bytes(page.items.back());
  }
  return page;
}

Result<ItemPage> Collection::top_items(std::size_t limit) const {
  const Guard model = models_.read();
  const Ranker& ranker = model->ranker();
  const std::uint64_t max_scan = model->config().max_scan;
  if (model->items_added() > max_scan) {
    return Error{ErrorCode::kTooLarge,
                 "the library is larger than max_scan, " + std::to_string(max_scan) +
                     "; page through it, or raise max_scan",
                 "sort"};
  }
  std::vector<std::pair<double, ItemIndex>> scored;
  for (ItemIndex item = 0; item < model->items_added(); ++item) {
    if (ranker.is_live(item)) {
      scored.emplace_back(-ranker.item_score(item), item);
    }
  }
  const auto end = scored.begin() + static_cast<std::ptrdiff_t>(std::min(limit, scored.size()));
  std::partial_sort(scored.begin(), end, scored.end());
  ItemPage page;
  std::size_t bytes = 0;
  for (auto place = scored.begin(); place != end && bytes < kMaxPageBytes; ++place) {
    page.items.push_back(view_of(*model, place->second));
    bytes += json_bytes(page.items.back());
  }
  return page;
}

std::optional<Fold::DecisionState> Collection::decision_state(const DecisionId& id) const {
  const std::lock_guard lock(fold_mutex_);
  return fold_->decision(id);
}

DecisionView Collection::view_of(const DecisionEvent& event,
                                 const Fold::DecisionState& state) const {
  const Decision& decision = event.decision;
  DecisionView view{.decision = tokens_.decision_text(decision.id),
                    .time_ms = decision.time_ms,
                    .ranker = decision.ranker,
                    .model_version = decision.model_version,
                    .query = event.query,
                    .items = {},
                    .log_propensity = decision.log_propensity,
                    .control = event.control,
                    .open = state.open,
                    .clicked = {}};
  const Guard model = models_.read();
  for (std::size_t i = 0; i < decision.shown_count; ++i) {
    view.items.push_back({.id = std::string(model->id_of(decision.items[i])),
                          .score = decision.score[i],
                          .prob_first = decision.first_prob(i)});
  }
  for (const std::string& id : event.appended) {
    view.items.push_back({.id = id, .unknown = true});
  }
  for (const ItemIndex item : state.clicked) {
    view.clicked.emplace_back(model->id_of(item));
  }
  return view;
}

Result<DecisionView> Collection::decision(std::string_view text) const {
  const Error unknown{ErrorCode::kNotFound, "no such decision, or one that is no longer kept",
                      "decision"};
  const std::optional<Tokens::Parsed> parsed = tokens_.parse_decision(text);
  if (!parsed || !parsed->issued_here) {
    return unknown;
  }
  const std::optional<Fold::DecisionState> state = decision_state(parsed->id);
  if (!state) {
    return unknown;
  }
  HINDSIGHT_ASSIGN_OR_RETURN(const DecisionCache::Shared event,
                             decision_loader(shared_.store, log_.id)(state->position));
  return view_of(*event, *state);
}

Result<std::vector<DecisionView>> Collection::decisions(Position before, std::size_t limit) const {
  HINDSIGHT_ASSIGN_OR_RETURN(const Position head, shared_.store.head(log_.id));
  // What is not in the model yet may name items that the model does not know.
  Position folded = 0;
  {
    const std::lock_guard lock(stats_mutex_);
    folded = stats_.position;
  }
  const Position end = std::min({before, head + 1, folded + 1});
  HINDSIGHT_ASSIGN_OR_RETURN(const Past past, look_back(shared_.store, log_.id, end, limit));
  std::vector<DecisionView> found;
  std::size_t bytes = 0;
  for (auto event = past.events.rbegin();
       event != past.events.rend() && found.size() < limit && bytes < kMaxPageBytes; ++event) {
    const auto* decided = std::get_if<DecisionEvent>(&event->body);
    if (decided == nullptr) {
      continue;
    }
    const DecisionId id = decided->decision.id;
    const std::optional<Fold::DecisionState> state = decision_state(id);
    found.push_back(view_of(*decided, state.value_or(Fold::DecisionState{})));
    if (!state) {
      found.back().clicked = clicks_among(past.events, id, found.back().items);
    }
    bytes += json_bytes(found.back());
  }
  return found;
}

}  // namespace hindsight
