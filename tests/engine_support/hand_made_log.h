// HandMadeLog: a log written event by event, folded as it grows.

#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/fold.h"
#include "src/engine/recovery.h"
#include "tests/store_support/memory_store.h"

namespace hindsight {

/// Writes down what it is told, and ranks in the order of the candidates.
class ListeningRanker final : public Ranker {
 public:
  explicit ListeningRanker(std::shared_ptr<std::vector<Feedback>> heard)
      : heard_(std::move(heard)) {}
  Description describe() const override { return {}; }
  double item_score(ItemIndex /*item*/) const override { return 0.0; }

 protected:
  Result<Decision> do_rank(const Request& /*request*/, const Signals& /*signals*/,
                           Rng& /*rng*/) const override {
    return Error{ErrorCode::kUnsupported, "it only listens", ""};
  }
  Result<LearnReport> do_learn(const Decision& /*decision*/, const Feedback& feedback,
                               const Signals& /*signals*/) override {
    heard_->push_back(feedback);
    return LearnReport{};
  }
  void do_add_items(std::span<const Item> /*items*/) override {}
  void do_save(ByteWriter& /*out*/) const override {}
  Result<void> do_load(ByteReader& /*in*/) override { return {}; }

 private:
  std::shared_ptr<std::vector<Feedback>> heard_;
};

class HandMadeLog {
 public:
  explicit HandMadeLog(const std::string& ranker = "noregret-klrank", const ParamMap& params = {}) {
    const Result<LogId> log = store_.create_log("log");
    log_ = log.ok() ? *log : 0;
    CollectionConfig config;
    config.ranker = ranker;
    config.params = *check_params(**find_ranker(ranker), params);
    append({.id = {.source = 1, .sequence = 0},
            .clock_ms = 0,
            .body = CollectionEvent{.config = config, .history = History::kDiscard}});
  }

  HandMadeLog& at(std::int64_t ms) {
    clock_ms_ = ms;
    return *this;
  }
  void repeat_every_event() { repeat_ = true; }
  void save_and_load_after(std::size_t events) { save_after_ = events; }

  Event add_items(const std::vector<std::string>& ids, const std::string& topic = "") {
    ItemsEvent items;
    for (const std::string& id : ids) {
      items.items.push_back(
          {.id = id,
           .topics = topic.empty() ? std::vector<std::string>() : std::vector<std::string>{topic},
           .features = {},
           .links = {}});
    }
    return append(next(std::move(items)));
  }
  void remove(const std::string& id) { append(next(RemoveEvent{.id = id})); }
  void decide(std::uint64_t counter, const std::vector<ItemIndex>& items) {
    DecisionEvent event;
    event.decision.id = {.source = 1, .counter = counter};
    event.decision.items = items;
    event.decision.shown_count = items.size();
    event.decision.score.assign(items.size(), 0.0);
    event.decision.prob_first.assign(items.size(), 1.0 / static_cast<double>(items.size()));
    append(next(std::move(event)));
  }
  void click(std::uint64_t counter, const std::string& item, const std::string& event = "") {
    click({.decision = {.source = 1, .counter = counter}, .item = item, .event = event});
  }
  void click(const ClickRecord& click) { append(next(ClicksEvent{.clicks = {click}})); }
  void close(std::int64_t through_ms) { append(next(WindowClosedEvent{.through_ms = through_ms})); }

  Event append(const Event& event) {
    for (int i = 0; i < (repeat_ ? 2 : 1); ++i) {
      store_.append(log_, {encode_event(event)}, [](const Result<Position>&) {});
      store_.flush();
      const std::vector<LogEntry> entries = store_.copy_of(log_);
      fold_entry(entries.back());
      if (++size_ == save_after_) {
        Result<Folded> loaded = load_snapshot(store_, log_, snapshot(), {});
        if (!loaded.ok()) {
          std::abort();
        }
        fold_ = std::move(loaded->fold);
        model_ = std::move(loaded->model);
      }
    }
    return event;
  }

  /// From here on a ranker that writes down what it hears stands in the ranker's place.
  std::shared_ptr<const std::vector<Feedback>> use_listener(Learns learns) {
    auto heard = std::make_shared<std::vector<Feedback>>();
    model_->use_ranker(std::make_unique<ListeningRanker>(heard), learns);
    return heard;
  }

  MemoryStore& store() { return store_; }
  LogId id() const { return log_; }
  std::size_t size() const { return size_; }
  Fold& fold() { return *fold_; }
  Model& model() { return *model_; }
  const ClickCounts& counts() const { return fold_->counts(); }
  CollectionStats stats() const {
    CollectionStats stats;
    fold_->fill_stats(stats);
    return stats;
  }
  std::string hash() const { return model_hash(model_->ranker()); }
  std::vector<std::byte> snapshot() const { return snapshot_bytes(*fold_, *model_); }
  bool loads(std::span<const std::byte> bytes) const {
    return load_snapshot(store_, log_, bytes, {}).ok();
  }

 private:
  Event next(decltype(Event::body) body) {
    return {.id = {.source = 1, .sequence = ++sequence_},
            .clock_ms = clock_ms_,
            .body = std::move(body)};
  }

  void fold_entry(const LogEntry& entry) {
    if (fold_ == nullptr) {
      fold_ = std::make_unique<Fold>(decision_loader(store_, log_), 1 << 20);
      model_ = *fold_->begin(entry);
    } else if (!fold_->apply(entry, *model_, nullptr).ok()) {
      std::abort();
    }
    model_->set_version(entry.position);
  }

  MemoryStore store_;
  LogId log_ = 0;
  std::uint64_t sequence_ = 0;
  std::int64_t clock_ms_ = 0;
  bool repeat_ = false;
  std::size_t save_after_ = 0;
  std::size_t size_ = 0;
  std::unique_ptr<Fold> fold_;
  std::unique_ptr<Model> model_;
};

}  // namespace hindsight
