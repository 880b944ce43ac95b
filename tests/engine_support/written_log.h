// WrittenLog: a log written event by event, decisions with any law, to be folded afterwards.

#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/core/plackett_luce.h"
#include "src/engine/event.h"
#include "tests/store_support/memory_store.h"

namespace hindsight {

class WrittenLog {
 public:
  /// A collection with items "0", "1", ... of topic "t".
  explicit WrittenLog(std::size_t items, const std::string& ranker = "noregret-klrank") {
    log_ = *store_.create_log("log");
    CollectionConfig config;
    config.ranker = ranker;
    config.params = complete_choice({.ranker = ranker, .params = {}})->params;
    append(CollectionEvent{.config = config, .history = History::kDiscard});
    add_items(0, items);
  }

  void add_items(std::size_t begin, std::size_t end) {
    ItemsEvent event;
    for (std::size_t i = begin; i < end; ++i) {
      event.items.push_back(
          {.id = std::to_string(i), .topics = {"t"}, .features = {}, .links = {}});
    }
    append(std::move(event));
  }
  void remove(const std::string& id) { append(RemoveEvent{.id = id}); }

  /// A list drawn by Plackett-Luce from scores of all items, as the named ranker would have.
  DecisionEvent drawn(const std::vector<double>& scores, const std::vector<std::uint32_t>& list,
                      const std::string& ranker = "noregret-klrank") {
    DecisionEvent event;
    Decision& decision = event.decision;
    decision.id = {.source = 1, .counter = ++counter_};
    decision.ranker = ranker;
    decision.model_version = position_;
    decision.items.assign(list.begin(), list.end());
    decision.shown_count = list.size();
    std::vector<double> first(scores.size());
    first_slot_probs(scores, first);
    for (const std::uint32_t item : list) {
      decision.score.push_back(scores[item]);
      decision.prob_first.push_back(first[item]);
    }
    decision.log_propensity = log_propensity_plackett_luce(scores, list);
    event.candidates.kind = CandidateSet::Kind::kListed;
    for (std::uint32_t item = 0; item < scores.size(); ++item) {
      event.candidates.items.push_back(item);
    }
    return event;
  }
  DecisionId decide(DecisionEvent event) {
    const DecisionId id = event.decision.id;
    append(std::move(event));
    return id;
  }
  void click(const DecisionId& id, std::uint32_t item) {
    append(ClicksEvent{
        .clicks = {
            {.decision = id, .issued_here = true, .item = std::to_string(item), .event = ""}}});
  }
  /// Closes the windows of all decisions so far.
  void close() { append(WindowClosedEvent{.through_ms = clock_ms_}); }

  void append(decltype(Event::body) body) {
    ++clock_ms_;
    store_.append(log_,
                  {encode_event({.id = {.source = 1, .sequence = sequence_++},
                                 .clock_ms = clock_ms_,
                                 .body = std::move(body)})},
                  [this](const Result<Position>& position) { position_ = position.value(); });
    store_.flush();
  }

  MemoryStore& store() { return store_; }
  LogId log() const { return log_; }
  Position head() const { return position_; }

 private:
  MemoryStore store_;
  LogId log_ = 0;
  Position position_ = 0;
  std::uint64_t sequence_ = 0;
  std::uint64_t counter_ = 0;
  std::int64_t clock_ms_ = 1000;
};

}  // namespace hindsight
