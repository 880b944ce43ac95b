// Events: what a collection's log consists of, and their form in bytes (docs/log-format.md).
//
// An event carries the id that its producer gave it, so that a fold can tell a repeat from a second
// event, and the producer's clock; the fold's own time is the latest clock so far.
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hindsight/types.h"
#include "src/engine/api.h"
#include "src/engine/candidate_set.h"

namespace hindsight {

/// The sequence-th event of a producer: (node, boot epoch) is used once, by one process.
struct EventId {
  std::uint64_t source = 0;
  std::uint64_t sequence = 0;

  friend bool operator==(const EventId&, const EventId&) = default;
};

/// The collection was made, or its settings changed.
struct CollectionEvent {
  CollectionConfig config;
  History history = History::kReplay;
};

struct ItemsEvent {
  std::vector<ItemInput> items;
  /// Names of features that a request mentioned for the first time.
  std::vector<std::string> feature_names;
  /// Items became known by being candidates: those that are there by now stay as they are.
  bool by_use = false;
};

struct RemoveEvent {
  std::string id;
};

struct DecisionEvent {
  Decision decision;
  std::string query;                  // empty unless the collection logs queries
  std::vector<std::string> appended;  // shown behind the ranked items, unknown to the library
  bool control = false;               // the caller's order
  bool drawn = false;  // between that and the ranker's: the list took part in the draw
  CandidateSet candidates;
};

/// One of item, position and ranking says what was done.
struct ClickRecord {
  DecisionId decision;
  bool issued_here = true;  // the decision id's MAC was right
  std::string item = {};
  std::string event = {};
  std::uint32_t position = 0;  // from 1
  std::vector<std::string> ranking = {};
};

struct ClicksEvent {
  std::vector<ClickRecord> clicks;
};

/// Decisions up to this log time have had their window.
struct WindowClosedEvent {
  std::int64_t through_ms = 0;
};

/// The best fixed policy in hindsight was looked for.
struct MeasuredEvent {
  CurvePoint point;  // with costs and hindsight
};

struct Event {
  EventId id;
  std::int64_t clock_ms = 0;
  std::variant<CollectionEvent, ItemsEvent, RemoveEvent, DecisionEvent, ClicksEvent,
               WindowClosedEvent, MeasuredEvent>
      body;
  /// False: its writer bounded idempotency keys by their number on a decision only.
  bool bounds_keys = true;
};

std::vector<std::byte> encode_event(const Event& event);

/// What a click says, without its decision: in the log, and in snapshots.
void put_click(ByteWriter& out, const ClickRecord& click);
/// `by_item`: written when clicks named items only. RETURNS: false for bytes that make no sense
bool get_click(ByteReader& in, ClickRecord& click, bool by_item);

/// Gives an encoded event another sequence.
void set_sequence(std::span<std::byte> bytes, std::uint64_t sequence);

/// FAILS: kCorrupt, kNewerVersion
Result<Event> decode_event(std::span<const std::byte> bytes);

}  // namespace hindsight
