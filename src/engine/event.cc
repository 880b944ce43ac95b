#include "src/engine/event.h"

#include <cstring>
#include <type_traits>

#include "src/core/bytes.h"
#include "src/core/check.h"
#include "src/engine/config_bytes.h"
#include "src/engine/curves.h"

namespace hindsight {
namespace {

// 2: measured; decisions hold their candidates. 3: clicks by position, and rankings. 4: decisions
// say whether their arm was drawn; those of before count for neither arm. 5: the same bytes, but
// what idempotency keys take is bounded.
constexpr std::uint8_t kFormat = 5;
constexpr std::uint8_t kWithCandidates = 2;
constexpr std::uint8_t kWithRankings = 3;
constexpr std::uint8_t kWithDraw = 4;
constexpr std::uint8_t kWithBoundedKeys = 5;

// A list whose entries take at least a byte each cannot be longer than what is left.
bool get_count(ByteReader& in, std::uint32_t& count) { return in.get(count) && count <= in.left(); }

void put_texts(ByteWriter& out, const std::vector<std::string>& texts) {
  out.put(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) {
    out.put(std::string_view(text));
  }
}

bool get_texts(ByteReader& in, std::vector<std::string>& texts) {
  std::uint32_t count = 0;
  if (!get_count(in, count)) {
    return false;
  }
  texts.resize(count);
  for (std::string& text : texts) {
    if (!in.get(text)) {
      return false;
    }
  }
  return true;
}

void put_id(ByteWriter& out, const DecisionId& id) {
  out.put(id.source);
  out.put(id.counter);
}

bool get_id(ByteReader& in, DecisionId& id) {
  in.get(id.source);
  return in.get(id.counter);
}

void put_body(ByteWriter& out, const CollectionEvent& body) {
  put_config(out, body.config);
  out.put(static_cast<std::uint8_t>(body.history));
}

bool get_body(ByteReader& in, CollectionEvent& body) {
  std::uint8_t history = 0;
  if (!get_config(in, body.config) || !in.get(history)) {
    return false;
  }
  body.history = static_cast<History>(history);
  return history <= static_cast<std::uint8_t>(History::kDiscard);
}

void put_body(ByteWriter& out, const ItemsEvent& body) {
  out.put(body.by_use);
  put_texts(out, body.feature_names);
  out.put(static_cast<std::uint32_t>(body.items.size()));
  for (const ItemInput& item : body.items) {
    out.put(std::string_view(item.id));
    put_texts(out, item.topics);
    out.put(static_cast<std::uint32_t>(item.features.size()));
    for (const auto& [name, value] : item.features) {
      out.put(std::string_view(name));
      out.put(value);
    }
    put_texts(out, item.links);
  }
}

bool get_item(ByteReader& in, ItemInput& item) {
  std::uint32_t features = 0;
  in.get(item.id);
  if (!get_texts(in, item.topics) || !get_count(in, features)) {
    return false;
  }
  item.features.resize(features);
  for (auto& [name, value] : item.features) {
    in.get(name);
    if (!in.get(value)) {
      return false;
    }
  }
  return get_texts(in, item.links);
}

bool get_body(ByteReader& in, ItemsEvent& body) {
  std::uint32_t count = 0;
  in.get(body.by_use);
  if (!get_texts(in, body.feature_names) || !get_count(in, count)) {
    return false;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!get_item(in, body.items.emplace_back())) {
      return false;
    }
  }
  return true;
}

void put_body(ByteWriter& out, const RemoveEvent& body) { out.put(std::string_view(body.id)); }
bool get_body(ByteReader& in, RemoveEvent& body) { return in.get(body.id); }

void put_body(ByteWriter& out, const DecisionEvent& body) {
  const Decision& decision = body.decision;
  put_id(out, decision.id);
  out.put(decision.time_ms);
  out.put(std::string_view(decision.ranker));
  out.put(decision.model_version);
  out.put(static_cast<std::uint8_t>(decision.choice_set));
  out.put(decision.items);
  out.put(static_cast<std::uint64_t>(decision.shown_count));
  out.put(decision.score);
  out.put(decision.prob_first);
  out.put(decision.prior);
  put_rows(out, decision.features);
  out.put(decision.log_propensity.has_value());
  out.put(decision.log_propensity.value_or(0.0));
  out.put(decision.user);
  out.put(decision.session);
  out.put(decision.group);
  out.put(decision.context_key);
  out.put(static_cast<std::uint32_t>(decision.aux.size()));
  out.put_raw(decision.aux);
  out.put(std::string_view(body.query));
  put_texts(out, body.appended);
  out.put(body.control);
  put_candidates(out, body.candidates);
  out.put(body.drawn);
}

bool get_aux(ByteReader& in, std::vector<std::byte>& aux) {
  std::uint32_t size = 0;
  if (!in.get(size) || size > Decision::kMaxAuxBytes) {
    return false;
  }
  const auto bytes = in.take(size);
  aux.assign(bytes.begin(), bytes.end());
  return in.ok();
}

bool get_body(ByteReader& in, DecisionEvent& body, std::uint8_t format) {
  Decision& decision = body.decision;
  std::uint8_t choice_set = 0;
  std::uint64_t shown = 0;
  bool has_propensity = false;
  double log_propensity = 0.0;
  get_id(in, decision.id);
  in.get(decision.time_ms);
  in.get(decision.ranker);
  in.get(decision.model_version);
  in.get(choice_set);
  in.get(decision.items);
  in.get(shown);
  in.get(decision.score);
  in.get(decision.prob_first);
  in.get(decision.prior);
  get_rows(in, decision.features);
  in.get(has_propensity);
  in.get(log_propensity);
  in.get(decision.user);
  in.get(decision.session);
  in.get(decision.group);
  in.get(decision.context_key);
  if (!get_aux(in, decision.aux) || !in.get(body.query) || !get_texts(in, body.appended) ||
      !in.get(body.control) ||
      (format >= kWithCandidates && !get_candidates(in, body.candidates)) ||
      (format >= kWithDraw && !in.get(body.drawn))) {
    return false;
  }
  decision.choice_set = static_cast<ChoiceSet>(choice_set);
  decision.shown_count = shown;
  if (has_propensity) {
    decision.log_propensity = log_propensity;
  }
  return choice_set <= static_cast<std::uint8_t>(ChoiceSet::kCandidates) &&
         shown <= decision.items.size() && decision.score.size() == decision.items.size() &&
         (decision.prob_first.empty() || decision.prob_first.size() == decision.items.size());
}

void put_body(ByteWriter& out, const ClicksEvent& body) {
  out.put(static_cast<std::uint32_t>(body.clicks.size()));
  for (const ClickRecord& click : body.clicks) {
    put_id(out, click.decision);
    out.put(click.issued_here);
    put_click(out, click);
  }
}

bool get_body(ByteReader& in, ClicksEvent& body, std::uint8_t format) {
  std::uint32_t count = 0;
  if (!get_count(in, count)) {
    return false;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    ClickRecord& click = body.clicks.emplace_back();
    get_id(in, click.decision);
    in.get(click.issued_here);
    if (!get_click(in, click, format < kWithRankings)) {
      return false;
    }
  }
  return true;
}

void put_body(ByteWriter& out, const WindowClosedEvent& body) { out.put(body.through_ms); }
bool get_body(ByteReader& in, WindowClosedEvent& body) { return in.get(body.through_ms); }

void put_body(ByteWriter& out, const MeasuredEvent& body) { put_point(out, body.point); }
bool get_body(ByteReader& in, MeasuredEvent& body) {
  return get_point(in, body.point) && body.point.hindsight.has_value();
}

template <class Body>
bool get_as(ByteReader& in, Event& event, std::uint8_t format) {
  if constexpr (std::is_same_v<Body, DecisionEvent> || std::is_same_v<Body, ClicksEvent>) {
    return get_body(in, event.body.emplace<Body>(), format);
  } else {
    return get_body(in, event.body.emplace<Body>());
  }
}

// About as many bytes as the event takes, so that a decision, of which there are many, is written
// without growing.
std::size_t size_hint(const Event& event) {
  constexpr std::size_t kHead = 320;
  constexpr std::size_t kPerItem = 28;
  const DecisionEvent* decided = std::get_if<DecisionEvent>(&event.body);
  return decided == nullptr ? kHead
                            : kHead + kPerItem * decided->decision.items.size() +
                                  sizeof(ItemIndex) * decided->candidates.items.size();
}

// In the order of Event::body: the kind in the bytes is the index of the alternative.
constexpr bool (*kReaders[])(ByteReader&, Event&, std::uint8_t format) = {
    get_as<CollectionEvent>, get_as<ItemsEvent>,        get_as<RemoveEvent>,  get_as<DecisionEvent>,
    get_as<ClicksEvent>,     get_as<WindowClosedEvent>, get_as<MeasuredEvent>};

}  // namespace

void put_click(ByteWriter& out, const ClickRecord& click) {
  out.put(std::string_view(click.item));
  out.put(std::string_view(click.event));
  out.put(click.position);
  put_texts(out, click.ranking);
}

bool get_click(ByteReader& in, ClickRecord& click, bool by_item) {
  in.get(click.item);
  in.get(click.event);
  return by_item ? in.ok() : in.get(click.position) && get_texts(in, click.ranking);
}

std::vector<std::byte> encode_event(const Event& event) {
  ByteWriter out;
  out.reserve(size_hint(event));
  out.put(event.bounds_keys ? kFormat : kWithDraw);
  out.put(static_cast<std::uint8_t>(event.body.index()));
  out.put(event.id.source);
  out.put(event.id.sequence);
  out.put(event.clock_ms);
  std::visit([&](const auto& body) { put_body(out, body); }, event.body);
  return out.take();
}

void set_sequence(std::span<std::byte> bytes, std::uint64_t sequence) {
  // Behind format, kind and source.
  constexpr std::size_t kPlace = 2 * sizeof(std::uint8_t) + sizeof(std::uint64_t);
  std::memcpy(bytes.subspan(kPlace).first(sizeof(sequence)).data(), &sequence, sizeof(sequence));
}

Result<Event> decode_event(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  Event event;
  std::uint8_t format = 0;
  std::uint8_t kind = 0;
  in.get(format);
  if (in.ok() && format > kFormat) {
    return Error{ErrorCode::kNewerVersion, "the event was written by a newer program", "event"};
  }
  in.get(kind);
  in.get(event.id.source);
  in.get(event.id.sequence);
  in.get(event.clock_ms);
  if (!in.ok() || format == 0 || kind >= std::size(kReaders) ||
      !kReaders[kind](in, event, format) || in.left() != 0) {
    return Error{ErrorCode::kCorrupt, "the event's bytes do not fit together", "event"};
  }
  event.bounds_keys = format >= kWithBoundedKeys;
  return event;
}

}  // namespace hindsight
