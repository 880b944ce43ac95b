// Writes a data folder with a log of N events: decisions of ten items, each with one click.
//
//   make_log FOLDER EVENTS RANKER

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "src/core/check.h"
#include "src/engine/event.h"
#include "src/store/sqlite_store.h"

namespace hindsight {
namespace {

constexpr std::size_t kItems = 10'000;
constexpr std::size_t kShown = 10;

class Writer {
 public:
  Writer(Store& store, LogId log) : store_(store), log_(log) {}

  void put(decltype(Event::body) body) {
    batch_.push_back(encode_event({.id = {.source = 1, .sequence = sequence_},
                                   .clock_ms = static_cast<std::int64_t>(sequence_),
                                   .body = std::move(body)}));
    ++sequence_;
    if (batch_.size() == 4096) {
      flush();
    }
  }

  void flush() {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    store_.append(log_, std::move(batch_), [&](const Result<Position>& result) {
      HINDSIGHT_CHECK(result.ok());
      const std::lock_guard lock(mutex);
      done = true;
      changed.notify_one();
    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return done; });
    batch_.clear();
  }

 private:
  Store& store_;
  LogId log_;
  std::uint64_t sequence_ = 0;
  std::vector<Payload> batch_;
};

DecisionEvent decision_of(const std::string& ranker, Rng& rng, std::uint64_t counter) {
  DecisionEvent event;
  Decision& decision = event.decision;
  decision.id = {.source = 1, .counter = counter};
  decision.ranker = ranker;
  const auto first = static_cast<ItemIndex>(rng.below(kItems - kShown));
  for (ItemIndex i = 0; i < kShown; ++i) {
    decision.items.push_back(first + i);
    decision.score.push_back(0.0);
    decision.prob_first.push_back(1.0 / kShown);
  }
  decision.shown_count = kShown;
  decision.log_propensity = -2.0;
  return event;
}

int make(const std::string& folder, std::uint64_t events, const std::string& ranker) {
  const auto known = find_ranker(ranker);
  if (!known.ok()) {
    std::fprintf(stderr, "make_log: %s\n", to_string(known.error()).c_str());
    return 2;
  }
  const auto store = open_sqlite_store({.folder = folder});
  HINDSIGHT_CHECK(store.ok());
  const auto log = (*store)->create_log("books");
  HINDSIGHT_CHECK(log.ok());
  Writer writer(**store, *log);
  CollectionConfig config;
  config.ranker = ranker;
  config.params = *check_params(**known, {});
  config.max_open = 100'000;
  writer.put(CollectionEvent{.config = config, .history = History::kDiscard});
  ItemsEvent items;
  for (std::size_t i = 0; i < kItems; ++i) {
    items.items.push_back(
        {.id = "item" + std::to_string(i), .topics = {}, .features = {}, .links = {}});
  }
  writer.put(std::move(items));
  Rng rng(7);
  for (std::uint64_t i = 0; i < events / 2; ++i) {
    DecisionEvent event = decision_of(ranker, rng, i + 1);
    const ItemIndex picked = event.decision.items[rng.below(kShown)];
    const ClickRecord click{.decision = event.decision.id,
                            .issued_here = true,
                            .item = "item" + std::to_string(picked),
                            .event = ""};
    writer.put(std::move(event));
    writer.put(ClicksEvent{.clicks = {click}});
  }
  writer.flush();
  return 0;
}

}  // namespace
}  // namespace hindsight

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: make_log FOLDER EVENTS RANKER\n");
    return 2;
  }
  return hindsight::make(argv[1], std::strtoull(argv[2], nullptr, 10), argv[3]);
}
