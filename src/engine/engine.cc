#include "src/engine/engine.h"

#include <openssl/rand.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <thread>

#include "src/core/check.h"
#include "src/engine/collection.h"
#include "src/engine/evaluation_jobs.h"
#include "src/engine/looks.h"

namespace hindsight {
namespace {

constexpr std::uint64_t kEpochBits = 48;

Error no_collection() {
  return {ErrorCode::kNotFound, "no such collection; make it with PUT first", "collection"};
}

bool valid_name(std::string_view name) {
  constexpr std::size_t kMaxName = 64;
  return !name.empty() && name.size() <= kMaxName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

class LocalEngine final : public Engine {
 public:
  LocalEngine(Store& store, EngineOptions options)
      : shared_(store, std::move(options)),
        evaluations_(store, shared_.options.decision_cache_bytes, shared_.options.warn),
        looks_(shared_.options.max_looks) {}

  ~LocalEngine() override {
    {
      const std::lock_guard lock(timer_mutex_);
      ending_ = true;
    }
    timer_wakes_.notify_all();
    if (timer_.joinable()) {
      timer_.join();
    }
    looks_.stop();
    shared_.pace.stop();
    shared_.insight.stop();
    evaluations_.stop();
    shared_.flusher.stop();
    shared_.background.stop();
    for (const auto& [name, collection] : all()) {
      if (!shared_.store.failure()) {
        collection->settle();
      }
      if (const Result<void> taken = collection->take_snapshot(); !taken.ok()) {
        shared_.warn("collection " + name +
                     ": no snapshot at the end: " + to_string(taken.error()));
      }
      collection->stop(Error{ErrorCode::kOverloaded, "the server is shutting down", ""});
    }
  }

  Result<void> start() {
    const NodeIdentity& self = shared_.store.identity();
    if (self.boot_epoch >> kEpochBits != 0) {
      return Error{ErrorCode::kCorrupt, "the boot epoch is beyond 48 bits", "store"};
    }
    shared_.source = (std::uint64_t{self.node} << kEpochBits) | self.boot_epoch;
    HINDSIGHT_ASSIGN_OR_RETURN(const std::vector<LogInfo> logs, shared_.store.logs());
    for (const LogInfo& log : logs) {
      HINDSIGHT_RETURN_IF_ERROR(open_collection(log));
    }
    if (shared_.options.timers) {
      timer_ = std::thread([this] { run_timer(); });
    }
    return {};
  }

  std::vector<CollectionInfo> collections() const override {
    std::vector<CollectionInfo> infos;
    for (const auto& [name, collection] : all()) {
      infos.push_back(collection->info());
    }
    return infos;
  }

  Result<CollectionInfo> collection(std::string_view name) const override {
    const auto found = find(name);
    return found == nullptr ? Result<CollectionInfo>(no_collection()) : found->info();
  }

  bool has_collection(std::string_view name) const override { return find(name) != nullptr; }

  void put_collection(std::string_view name, const CollectionPatch& patch,
                      Callback<PutOutcome> done) override {
    if (!valid_name(name)) {
      return done(Error{ErrorCode::kInvalidArgument,
                        "names have 1 to 64 of the letters a-z, 0-9, _ and -", "collection"});
    }
    // Reads the log and waits for the store: not on the caller's thread.
    put_in_background(std::string(name), patch, std::move(done));
  }

  void delete_collection(std::string_view name, Callback<void> done) override {
    std::shared_ptr<Collection> found;
    {
      const std::unique_lock lock(mutex_);
      const auto place = collections_.find(name);
      if (place == collections_.end()) {
        return done(no_collection());
      }
      found = place->second;
      collections_.erase(place);
      deleting_.emplace(name);
    }
    // Behind any PUT of the same name that is under way, and before those that follow.
    shared_.background.post([this, name = std::string(name), found, done = std::move(done)] {
      evaluations_.forget(found->log());
      found->stop(no_collection());
      Result<void> dropped = shared_.store.drop_log(found->log());
      {
        const std::unique_lock lock(mutex_);
        deleting_.erase(name);
      }
      done(std::move(dropped));
    });
  }

  void look(std::string_view name, Callback<void> at) override { looks_.post(name, std::move(at)); }

  void add_items(std::string_view name, std::vector<ItemInput> items,
                 Callback<ItemsReply> done) override {
    const auto found = find(name);
    found == nullptr ? done(no_collection()) : found->add_items(std::move(items), std::move(done));
  }

  void remove_item(std::string_view name, std::string_view id, Callback<void> done) override {
    const auto found = find(name);
    found == nullptr ? done(no_collection()) : found->remove_item(id, std::move(done));
  }

  Result<ItemView> item(std::string_view name, std::string_view id) const override {
    const auto found = find(name);
    return found == nullptr ? Result<ItemView>(no_collection()) : found->item(id);
  }

  Result<Explanation> explain(std::string_view name, std::string_view id,
                              const RankInput& wish) const override {
    const auto found = find(name);
    return found == nullptr ? Result<Explanation>(no_collection()) : found->explain(id, wish);
  }

  Result<ItemPage> items(std::string_view name, std::string_view cursor,
                         std::size_t limit) const override {
    const auto found = find(name);
    return found == nullptr ? Result<ItemPage>(no_collection()) : found->items(cursor, limit);
  }

  Result<ItemPage> top_items(std::string_view name, std::size_t limit) const override {
    const auto found = find(name);
    return found == nullptr ? Result<ItemPage>(no_collection()) : found->top_items(limit);
  }

  void rank(std::string_view name, RankInput input, Callback<RankReply> done) override {
    const auto found = find(name);
    found == nullptr ? done(no_collection()) : found->rank(std::move(input), std::move(done));
  }

  void click(std::string_view name, std::vector<ClickInput> clicks,
             Callback<ClicksReply> done) override {
    const auto found = find(name);
    found == nullptr ? done(no_collection()) : found->click(std::move(clicks), std::move(done));
  }

  Result<CollectionStats> stats(std::string_view name, bool with_hash) const override {
    const auto found = find(name);
    if (found == nullptr) {
      return no_collection();
    }
    CollectionStats stats = found->stats(with_hash);
    if (const Result<Position> head = shared_.store.head(found->log()); head.ok()) {
      stats.head = std::max(stats.head, *head);
    }
    return stats;
  }

  Result<std::vector<CurvePoint>> history(std::string_view name,
                                          std::size_t points) const override {
    const auto found = find(name);
    return found == nullptr ? Result<std::vector<CurvePoint>>(no_collection())
                            : found->history(points);
  }

  Result<DecisionView> decision(std::string_view name, std::string_view decision) const override {
    const auto found = find(name);
    return found == nullptr ? Result<DecisionView>(no_collection()) : found->decision(decision);
  }

  Result<EvaluationJob> start_evaluation(std::string_view name,
                                         const RankerChoice& choice) override {
    const auto found = find(name);
    return found == nullptr
               ? Result<EvaluationJob>(no_collection())
               : evaluations_.start(found->log(), choice, found->info().config.memory_budget);
  }

  Result<EvaluationJob> evaluation(std::string_view name) const override {
    const auto found = find(name);
    return found == nullptr ? Result<EvaluationJob>(no_collection())
                            : evaluations_.find(found->log());
  }

  Result<EvaluationJob> cancel_evaluation(std::string_view name) override {
    const auto found = find(name);
    return found == nullptr ? Result<EvaluationJob>(no_collection())
                            : evaluations_.cancel(found->log());
  }

  Result<std::vector<DecisionView>> decisions(std::string_view name, Position before,
                                              std::size_t limit) const override {
    const auto found = find(name);
    return found == nullptr ? Result<std::vector<DecisionView>>(no_collection())
                            : found->decisions(before, limit);
  }

  void erase_user(std::string_view name, std::string_view user,
                  Callback<std::uint64_t> done) override {
    const auto found = find(name);
    found == nullptr ? done(no_collection()) : found->erase_user(user, std::move(done));
  }

  std::optional<Error> failure() const override {
    if (auto failure = shared_.store.failure()) {
      return failure;
    }
    for (const auto& [name, collection] : all()) {
      if (auto failure = collection->failure()) {
        return failure;
      }
    }
    return std::nullopt;
  }

  void tick() override {
    if (const auto failed = shared_.store.failure(); failed && !failure_told_.exchange(true)) {
      shared_.alarm("nothing is acknowledged any more: " + to_string(*failed));
    }
    for (const auto& [name, collection] : all()) {
      collection->tick();
    }
  }

  Result<void> snapshot_all() override {
    for (const auto& [name, collection] : all()) {
      HINDSIGHT_RETURN_IF_ERROR(collection->take_snapshot());
    }
    return {};
  }

  void settle() override {
    for (const auto& [name, collection] : all()) {
      collection->settle();
    }
  }

 private:
  using Map = std::map<std::string, std::shared_ptr<Collection>, std::less<>>;

  std::shared_ptr<Collection> find(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const auto place = collections_.find(name);
    return place == collections_.end() ? nullptr : place->second;
  }

  Map all() const {
    const std::shared_lock lock(mutex_);
    return collections_;
  }

  FoldOptions fold_options() const {
    return {.cache_bytes = shared_.options.decision_cache_bytes,
            .cancelled = {},
            .warn = shared_.options.warn,
            .progress = {}};
  }

  Result<void> add(const LogInfo& log, Folded folded) {
    auto collection = std::make_shared<Collection>(shared_, log, std::move(folded));
    HINDSIGHT_RETURN_IF_ERROR(collection->start());
    const std::unique_lock lock(mutex_);
    collections_.emplace(log.name, std::move(collection));
    return {};
  }

  Result<void> open_collection(const LogInfo& log) {
    HINDSIGHT_ASSIGN_OR_RETURN(const Position head, shared_.store.head(log.id));
    if (head == 0) {
      // Its making was cut short before its first event.
      return shared_.store.drop_log(log.id);
    }
    Result<Folded> folded = recover(shared_.store, log, fold_options());
    if (!folded.ok()) {
      Error error = folded.error();
      error.message = "collection " + log.name + ": " + error.message;
      return error;
    }
    return add(log, *std::move(folded));
  }

  void put_in_background(std::string name, CollectionPatch patch, Callback<PutOutcome> done) {
    shared_.background.post([this, name = std::move(name), patch = std::move(patch),
                             done = std::move(done)]() mutable {
      if (const auto found = find(name)) {
        // One change after the other, each on top of what the one before has made.
        return done(wait_for<PutOutcome>(
            [&](Callback<PutOutcome> answered) { found->configure(patch, std::move(answered)); }));
      }
      if (is_deleting(name)) {
        // Deleted since this was asked for, and behind it in the queue: the name is not free yet.
        return put_in_background(std::move(name), std::move(patch), std::move(done));
      }
      const Result<void> made = make_collection(name, patch);
      done(made.ok() ? Result<PutOutcome>(PutOutcome::kCreated) : Result<PutOutcome>(made.error()));
    });
  }

  bool is_deleting(const std::string& name) const {
    const std::shared_lock lock(mutex_);
    return deleting_.contains(name);
  }

  Result<void> make_collection(const std::string& name, const CollectionPatch& patch) {
    CollectionConfig base;
    // Without a wish of the caller's, nobody should be able to foretell the draws.
    if (RAND_bytes(reinterpret_cast<unsigned char*>(&base.seed), sizeof(base.seed)) != 1) {
      return Error{ErrorCode::kIo, "no random numbers for the seed", ""};
    }
    HINDSIGHT_ASSIGN_OR_RETURN(const CollectionConfig config, apply_patch(base, patch, true));
    HINDSIGHT_ASSIGN_OR_RETURN(const LogId id, shared_.store.create_log(name));
    Result<void> begun = begin_collection({.id = id, .name = name}, config);
    if (!begun.ok() && !shared_.store.failure()) {
      // It could not be read back: the name must be free for another try.
      (void)shared_.store.drop_log(id).ok();
    }
    return begun;
  }

  Result<void> begin_collection(const LogInfo& log, const CollectionConfig& config) {
    // Sequence 0: the collection itself counts its events from 1.
    const Event event{.id = {.source = shared_.source, .sequence = 0},
                      .clock_ms = shared_.options.clock(),
                      .body = CollectionEvent{.config = config, .history = History::kDiscard}};
    const Result<Position> position = wait_for<Position>([&](Store::Done done) {
      shared_.store.append(log.id, {encode_event(event)}, std::move(done));
    });
    if (!position.ok()) {
      return position.error();
    }
    HINDSIGHT_ASSIGN_OR_RETURN(
        Folded folded, fold_log(shared_.store, log.id, nullptr, std::nullopt, fold_options()));
    return add(log, std::move(folded));
  }

  void run_timer() {
    std::unique_lock lock(timer_mutex_);
    const auto period = std::chrono::milliseconds(shared_.options.tick_ms);
    while (!timer_wakes_.wait_for(lock, period, [this] { return ending_; })) {
      lock.unlock();
      tick();
      lock.lock();
    }
  }

  EngineShared shared_;
  EvaluationJobs evaluations_;
  mutable std::shared_mutex mutex_;
  Map collections_;
  std::set<std::string> deleting_;  // names whose logs are still there
  Looks looks_;

  std::atomic<bool> failure_told_{false};
  std::mutex timer_mutex_;
  std::condition_variable timer_wakes_;
  bool ending_ = false;
  std::thread timer_;
};

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(Store& store, EngineOptions options) {
  if (options.learner_threads < 1 || !options.clock) {
    return Error{ErrorCode::kInvalidArgument, "an engine needs a learner thread and a clock", ""};
  }
  if (!(options.insight_share >= 0.0 && options.insight_share <= 1.0) ||
      options.insight_clicks == 0 || !(options.insight_growth >= 0.0)) {
    return Error{ErrorCode::kInvalidArgument, "the share of a core must be from 0 to 1",
                 "insight_share"};
  }
  auto engine = std::make_unique<LocalEngine>(store, std::move(options));
  HINDSIGHT_RETURN_IF_ERROR(engine->start());
  return std::unique_ptr<Engine>(std::move(engine));
}

}  // namespace hindsight
