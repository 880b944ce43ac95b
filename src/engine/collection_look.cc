// Collection: what callers look at without changing anything: the best items, and what was ranked.

#include <algorithm>
#include <limits>
#include <utility>

#include "src/core/check.h"
#include "src/engine/collection.h"

namespace hindsight {
namespace {

// Events that are read for one question about the past; positions without an event count, too.
constexpr Position kLookBack = 4096;
constexpr Position kFirstStep = 128;

/// RETURNS: the events at the positions from `begin` to before `end`, in log order.
Result<std::vector<Event>> read_events(const LogView& store, LogId log, Position begin,
                                       Position end) {
  std::vector<Event> events;
  Position after = begin - 1;
  while (after + 1 < end) {
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogEntry> entries,
                               store.read(log, after, static_cast<std::size_t>(end - after - 1)));
    if (entries.empty()) {
      break;
    }
    for (const LogEntry& entry : entries) {
      if (entry.position >= end) {
        return events;
      }
      HINDSIGHT_ASSIGN_OR_RETURN(Event event, decode_event(entry.payload));
      events.push_back(std::move(event));
    }
    after = entries.back().position;
  }
  return events;
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

}  // namespace

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
  for (auto place = scored.begin(); place != end; ++place) {
    page.items.push_back(view_of(*model, place->second));
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
  const Position first = end > kLookBack ? end - kLookBack : 1;
  std::vector<Event> later;  // what was read already, newest part first
  std::vector<DecisionView> found;
  Position until = end;
  for (Position step = kFirstStep; until > first && found.size() < limit; step *= 2) {
    const Position begin = until > first + step ? until - step : first;
    HINDSIGHT_ASSIGN_OR_RETURN(std::vector<Event> events,
                               read_events(shared_.store, log_.id, begin, until));
    events.insert(events.end(), std::make_move_iterator(later.begin()),
                  std::make_move_iterator(later.end()));
    later = std::move(events);
    found.clear();
    for (auto event = later.rbegin(); event != later.rend() && found.size() < limit; ++event) {
      const auto* decided = std::get_if<DecisionEvent>(&event->body);
      if (decided == nullptr) {
        continue;
      }
      const DecisionId id = decided->decision.id;
      const std::optional<Fold::DecisionState> state = decision_state(id);
      found.push_back(view_of(*decided, state.value_or(Fold::DecisionState{})));
      if (!state) {
        found.back().clicked = clicks_among(later, id, found.back().items);
      }
    }
    until = begin;
  }
  return found;
}

}  // namespace hindsight
