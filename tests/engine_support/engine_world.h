// EngineWorld: an engine over a store, with the time in the test's hands and calls that wait.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/engine.h"
#include "tests/store_support/memory_store.h"

namespace hindsight {

class EngineWorld {
 public:
  using Adjust = std::function<void(EngineOptions&)>;

  explicit EngineWorld(MemoryStoreOptions options = {}, int learner_threads = 2, Adjust adjust = {})
      : store_(std::make_unique<MemoryStore>(options)),
        learner_threads_(learner_threads),
        adjust_(std::move(adjust)) {
    open();
  }

  Engine& engine() { return *engine_; }
  MemoryStore& store() { return *store_; }
  std::int64_t now() const { return *now_ms_; }
  void pass(std::int64_t ms) { *now_ms_ += ms; }
  const std::vector<std::string>& warnings() const { return *warnings_; }

  /// Ends the engine and opens another over the same logs, as after a restart.
  void restart() {
    engine_.reset();
    store_->flush();
    store_ = store_->reopened();
    open();
  }

  /// The same, as after a crash: no snapshot at the end.
  void crash() {
    store_->flush();
    auto again = store_->reopened();
    engine_.reset();
    store_ = std::move(again);
    open();
  }

  Result<PutOutcome> put(const std::string& name, const CollectionPatch& patch) {
    return wait_for<PutOutcome>([&](auto done) { engine_->put_collection(name, patch, done); });
  }
  Result<ItemsReply> add(const std::string& name, std::vector<ItemInput> items) {
    return wait_for<ItemsReply>(
        [&](auto done) { engine_->add_items(name, std::move(items), done); });
  }
  Result<ItemsReply> add_ids(const std::string& name, const std::vector<std::string>& ids) {
    std::vector<ItemInput> items;
    for (const std::string& id : ids) {
      items.push_back({.id = id, .topics = {}, .features = {}, .links = {}});
    }
    return add(name, std::move(items));
  }
  Result<void> remove(const std::string& name, const std::string& id) {
    return wait_for<void>([&](auto done) { engine_->remove_item(name, id, done); });
  }
  Result<RankReply> rank(const std::string& name, RankInput input) {
    return wait_for<RankReply>([&](auto done) { engine_->rank(name, std::move(input), done); });
  }
  Result<RankReply> rank_ids(const std::string& name, const std::vector<std::string>& ids,
                             std::size_t k = 10) {
    RankInput input;
    for (const std::string& id : ids) {
      input.candidates.push_back({.id = id, .features = {}, .prior = 0.0});
    }
    input.k = k;
    return rank(name, std::move(input));
  }
  Result<ClicksReply> click(const std::string& name, const std::string& decision,
                            const std::string& item, const std::string& event = "") {
    return clicks(name, {{.decision = decision, .item = item, .event = event}});
  }
  Result<ClicksReply> clicks(const std::string& name, std::vector<ClickInput> clicks) {
    return wait_for<ClicksReply>([&](auto done) { engine_->click(name, std::move(clicks), done); });
  }
  CollectionStats stats(const std::string& name, bool with_hash = true) {
    store_->flush();
    engine_->settle();
    Result<CollectionStats> stats = engine_->stats(name, with_hash);
    return stats.ok() ? *std::move(stats) : CollectionStats{};
  }
  /// Lets the timers do their work, and waits for it.
  void tick() {
    store_->flush();
    engine_->settle();
    engine_->tick();
    store_->flush();
    engine_->settle();
  }

 private:
  void open() {
    EngineOptions options;
    options.clock = [now = now_ms_] { return now->load(); };
    options.timers = false;
    options.learner_threads = learner_threads_;
    options.insight_share = 0.0;
    if (adjust_) {
      adjust_(options);
    }
    options.warn = [warnings = warnings_](std::string_view text) { warnings->emplace_back(text); };
    Result<std::unique_ptr<Engine>> engine = Engine::open(*store_, std::move(options));
    if (!engine.ok()) {
      warnings_->push_back("cannot open: " + to_string(engine.error()));
      std::abort();
    }
    engine_ = *std::move(engine);
  }

  std::shared_ptr<std::atomic<std::int64_t>> now_ms_ =
      std::make_shared<std::atomic<std::int64_t>>(1'000'000);
  std::shared_ptr<std::vector<std::string>> warnings_ =
      std::make_shared<std::vector<std::string>>();
  std::unique_ptr<MemoryStore> store_;
  std::unique_ptr<Engine> engine_;
  int learner_threads_;
  Adjust adjust_;
};

/// The identity of the accounting.
inline bool adds_up(const ClickCounts& counts) {
  return counts.received == counts.pending + counts.learned + counts.duplicate + counts.late +
                                counts.unjoined + counts.quarantined;
}

}  // namespace hindsight
