#include "src/engine/collection.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "src/core/check.h"
#include "src/core/planted.h"

namespace hindsight {
namespace {

std::string at(std::string_view list, std::size_t i) {
  return std::string(list) + "[" + std::to_string(i) + "]";
}

// After the log had no room, a collection tries again when so much time has passed,
constexpr std::int64_t kFullForMs = 1000;
// and tells what was lost then, but not again and again.
constexpr std::int64_t kTellAgainMs = 10'000;

// What lists that may be paged through, or that wait for clicks, may take beside the model.
std::uint64_t folded_budget(const CollectionConfig& config) { return config.memory_budget / 8; }

std::array<std::unique_ptr<Model>, 2> two_of(std::unique_ptr<Model> model) {
  std::unique_ptr<Model> copy = model->clone();
  return {std::move(model), std::move(copy)};
}

}  // namespace

Collection::Collection(EngineShared& shared, LogInfo log, Folded folded)
    : shared_(shared),
      log_(std::move(log)),
      tokens_(shared.store.identity().secret, log_.id),
      models_(two_of(std::move(folded.model))),
      pages_(shared.options.page_cache_entries,
             std::min<std::uint64_t>(shared.options.page_cache_bytes,
                                     folded_budget(models_.read()->config()))),
      fold_(std::move(folded.fold)),
      first_event_since_snapshot_ms_(shared.options.clock()) {
  // What was folded at the start need not be folded at the next.
  const Result<std::vector<Position>> snapshots = shared.store.snapshots(log_.id);
  if (snapshots.ok() && !snapshots->empty()) {
    stats_.snapshot_position = snapshots->front();
  }
  events_since_snapshot_ =
      fold_->position() - std::min(fold_->position(), stats_.snapshot_position);
  if (folded.anew) {
    events_since_snapshot_ = std::max<std::uint64_t>(1, events_since_snapshot_);
  }
  note_first_kept();
  publish_stats();
  if (!same_ranker(models_.read()->config(), logged_config_)) {
    stats_.build_error =
        Error{ErrorCode::kConflict,
              "it could not before this start of the server, whose log of then says why", ""};
  }
}

Collection::~Collection() {
  stopping_ = true;
  if (builder_.joinable()) {
    builder_.join();
  }
}

Result<void> Collection::start() {
  return shared_.store.subscribe(log_.id, fold_->position(),
                                 [weak = weak_from_this()](std::vector<LogEntry> entries) {
                                   if (const auto self = weak.lock()) {
                                     self->take_entries(std::move(entries));
                                   }
                                 });
}

void Collection::stop(const Error& reason) {
  stopping_ = true;
  shared_.pace.wake();
  shared_.store.unsubscribe(log_.id);
  {
    std::unique_lock lock(inbox_mutex_);
    inbox_.clear();
    inbox_idle_.wait(lock, [this] { return !scheduled_; });
  }
  {
    const std::lock_guard lock(builder_mutex_);
    if (builder_.joinable()) {
      builder_.join();
    }
  }
  std::unordered_map<std::uint64_t, Waiter> waiting;
  {
    const std::lock_guard lock(waiters_mutex_);
    stopped_ = true;
    stop_reason_ = reason;
    waiting.swap(waiters_);
  }
  for (auto& [sequence, waiter] : waiting) {
    waiter(reason);
  }
}

Event Collection::make_event(decltype(Event::body) body) const {
  return Event{.id = {.source = shared_.source, .sequence = 0},
               .clock_ms = shared_.options.clock(),
               .body = std::move(body)};
}

void Collection::append(const Event& event, Waiter waiter) {
  Payload payload = encode_event(event);
  // Numbered and appended under one lock: a click never overtakes its decision, and no event comes
  // so much later than its number that the fold would take it for a repeat.
  std::unique_lock lock(decisions_mutex_);
  const std::uint64_t sequence = next_sequence_;
  if (waiter) {
    std::unique_lock waiters_lock(waiters_mutex_);
    if (stopped_) {
      const Error reason = stop_reason_;
      waiters_lock.unlock();
      lock.unlock();
      return waiter(reason);
    }
    waiters_.emplace(sequence, std::move(waiter));
  }
  const std::size_t decisions = decisions_.size();
  decisions_.push_back(number(std::move(payload)));
  decisions_bytes_ = 0;
  shared_.store.append(
      log_.id, std::exchange(decisions_, {}),
      [self = shared_from_this(), sequence, decisions](const Result<Position>& result) {
        if (!result.ok()) {
          self->note_refused(decisions + 1, decisions, result.error());
          self->answer(sequence, result.error());
        }
      });
}

void Collection::note_refused(std::size_t events, std::size_t decisions, const Error& error) {
  on_their_way_.fetch_sub(static_cast<std::int64_t>(events), std::memory_order_relaxed);
  lost_decisions_.fetch_add(decisions, std::memory_order_relaxed);
  if (error.code == ErrorCode::kOverloaded) {
    const std::int64_t now = shared_.options.clock();
    refused_ms_ = now;
    std::int64_t told = told_ms_;
    if (decisions > 0 && std::abs(now - told) >= kTellAgainMs &&
        told_ms_.compare_exchange_strong(told, now)) {
      shared_.warn("collection " + log_.name + ": " + std::to_string(decisions) +
                   " decisions were not logged, for too much waits to be written; their clicks "
                   "will be unjoined");
    }
  }
}

Payload Collection::number(Payload payload) {
  set_sequence(payload, next_sequence_++);
  on_their_way_.fetch_add(1, std::memory_order_relaxed);
  return payload;
}

void Collection::append_behind(const Event& event) {
  constexpr std::size_t kEnough = std::size_t{1} << 18;
  Payload payload = encode_event(event);
  bool first = false;
  bool enough = false;
  {
    const std::lock_guard lock(decisions_mutex_);
    first = decisions_.empty();
    decisions_bytes_ += payload.size();
    enough = decisions_bytes_ >= kEnough;
    decisions_.push_back(number(std::move(payload)));
  }
  if (enough) {
    flush_decisions();
  } else if (first) {
    shared_.flusher.ask([self = shared_from_this()] { self->flush_decisions(); });
  }
}

void Collection::flush_decisions() {
  const std::lock_guard lock(decisions_mutex_);
  if (decisions_.empty()) {
    return;
  }
  decisions_bytes_ = 0;
  ++flushes_under_way_;
  // A store that fails says so by itself; the decisions' clicks will find no decision.
  const std::size_t count = decisions_.size();
  shared_.store.append(log_.id, std::exchange(decisions_, {}),
                       [self = shared_from_this(), count](const Result<Position>& result) {
                         if (!result.ok()) {
                           self->note_refused(count, count, result.error());
                         }
                         const std::lock_guard lock_again(self->decisions_mutex_);
                         --self->flushes_under_way_;
                         self->decisions_written_.notify_all();
                       });
}

void Collection::answer(std::uint64_t sequence, Result<Applied> result) {
  Waiter waiter;
  {
    const std::lock_guard lock(waiters_mutex_);
    const auto place = waiters_.find(sequence);
    if (place == waiters_.end()) {
      return;
    }
    waiter = std::move(place->second);
    waiters_.erase(place);
  }
  waiter(std::move(result));
}

Result<void> Collection::check_backlog() const {
  // Where the log has failed nothing is on its way any more, and rankings go on from memory.
  if (shared_.store.failure() || failure()) {
    return {};
  }
  // A list whose decision would be lost is better not made.
  const std::int64_t since_ms = shared_.options.clock() - refused_ms_.load();
  if (since_ms >= 0 && since_ms < kFullForMs) {
    return Error{ErrorCode::kOverloaded,
                 "too much waits to be written to the log at the moment; try again later", ""};
  }
  const std::int64_t on_their_way = on_their_way_.load(std::memory_order_relaxed);
  if (on_their_way <= static_cast<std::int64_t>(shared_.options.max_backlog) ||
      planted(Fault::kIgnoreBacklog)) {
    return {};
  }
  return Error{ErrorCode::kOverloaded,
               "this collection has too much to learn at the moment; try again later", ""};
}

CollectionInfo Collection::info() const {
  CollectionInfo info;
  {
    const std::lock_guard lock(stats_mutex_);
    info.config = logged_config_;
    info.era = stats_.era;
    info.items = stats_.items;
    info.build_error = stats_.build_error;
    info.building = building_;
  }
  info.name = log_.name;
  return info;
}

void Collection::configure(const CollectionPatch& patch, Callback<PutOutcome> done) {
  const CollectionInfo before = info();
  const CollectionConfig& now = before.config;
  Result<CollectionConfig> wanted = apply_patch(now, patch, false);
  if (!wanted.ok()) {
    return done(wanted.error());
  }
  const bool other_ranker = !same_ranker(*wanted, now);
  const bool retry = !other_ranker && (patch.ranker || patch.params) && before.build_error;
  if (*wanted == now && !retry) {
    return done(PutOutcome::kUnchanged);
  }
  if (retry && patch.history == History::kDiscard) {
    // To the log it is no change: a model made from the log would have learned the history.
    return done(Error{ErrorCode::kConflict,
                      "this ranker was to learn the history, and could not (build_error); put "
                      "another one with \"history\": \"discard\" first, then this one",
                      "history"});
  }
  if (other_ranker || retry) {
    if (building_) {
      return done(Error{ErrorCode::kConflict,
                        "a new ranker is still learning the history; try again when it is done",
                        "ranker"});
    }
    const Result<void> fits = models_.read()->check_ranker(wanted->ranker, wanted->params);
    if (!fits.ok()) {
      return done(fits.error());
    }
    if (patch.history == History::kReplay && !keeps_whole_log(shared_.store, log_.id)) {
      return done(Error{ErrorCode::kConflict,
                        "the beginning of the log is no longer kept; use \"history\": \"discard\"",
                        "history"});
    }
  }
  if (retry) {
    if (*wanted != now) {
      return done(Error{ErrorCode::kConflict,
                        "put the ranker that could not learn the history again without other "
                        "changes, or the changes without the ranker",
                        "ranker"});
    }
    const std::lock_guard lock(fold_mutex_);
    start_build();
    return done(PutOutcome::kChanged);
  }
  append(make_event(CollectionEvent{.config = *std::move(wanted), .history = patch.history}),
         [done = std::move(done)](const Result<Applied>& applied) {
           done(applied.ok() ? Result<PutOutcome>(PutOutcome::kChanged)
                             : Result<PutOutcome>(applied.error()));
         });
}

Result<void> Collection::check_budget(const Model& model, std::uint64_t more) const {
  std::uint64_t joins = 0;
  {
    const std::lock_guard lock(stats_mutex_);
    joins = fold_bytes_;
  }
  const std::uint64_t used = 2 * model.memory_bytes() + joins;  // two copies of the model
  if (used + more > model.config().memory_budget) {
    return Error{ErrorCode::kOverBudget,
                 "the collection uses about " + std::to_string(used) +
                     " bytes of its memory_budget of " +
                     std::to_string(model.config().memory_budget) + ", and this would take about " +
                     std::to_string(more) + " more; raise memory_budget",
                 "memory_budget"};
  }
  return {};
}

namespace {

// About what items take in both copies of the model.
std::uint64_t memory_of(const std::vector<ItemInput>& items) {
  constexpr std::uint64_t kPerItem = 480;
  std::uint64_t bytes = 0;
  for (const ItemInput& item : items) {
    bytes += kPerItem + 2 * item.id.size() + 12 * item.features.size() + 4 * item.links.size() +
             12 * item.topics.size();
  }
  return bytes;
}

}  // namespace

void Collection::add_items(std::vector<ItemInput> items, Callback<ItemsReply> done) {
  if (const Result<void> room = check_backlog(); !room.ok()) {
    return done(room.error());
  }
  ItemsEvent event{.items = std::move(items), .feature_names = {}, .by_use = false};
  {
    const Guard model = models_.read();
    Result<void> fits = check_budget(*model, memory_of(event.items));
    if (fits.ok()) {
      const Result<ItemsChange> change = model->resolve(event);
      fits = change.ok() ? model->check(*change) : Result<void>(change.error());
    }
    if (!fits.ok()) {
      return done(fits.error());
    }
  }
  append(make_event(std::move(event)), [done = std::move(done)](const Result<Applied>& applied) {
    if (!applied.ok() || applied->error) {
      return done(applied.ok() ? *applied->error : applied.error());
    }
    const ItemsReply* reply = std::get_if<ItemsReply>(&applied->reply);
    done(reply != nullptr ? *reply : ItemsReply{});
  });
}

void Collection::remove_item(std::string_view id, Callback<void> done) {
  if (!models_.read()->find(id)) {
    return done(Error{ErrorCode::kUnknownItem, "no such item in the library", "id"});
  }
  append(make_event(RemoveEvent{.id = std::string(id)}),
         [done = std::move(done)](const Result<Applied>& applied) {
           if (!applied.ok() || applied->error) {
             return done(applied.ok() ? *applied->error : applied.error());
           }
           done(Result<void>());
         });
}

ItemView Collection::view_of(const Model& model, ItemIndex item) const {
  ItemView view;
  view.id = model.id_of(item);
  if (const ItemInfo* info = model.info_of(item)) {
    for (const std::uint32_t topic : info->topics) {
      view.topics.emplace_back(model.topic_name(topic));
    }
    for (std::size_t i = 0; i < info->columns.size(); ++i) {
      view.features.emplace_back(model.column_name(info->columns[i]), info->values[i]);
    }
    for (const ItemIndex link : info->links) {
      view.links.emplace_back(model.id_of(link));
    }
  }
  const std::int64_t now = shared_.options.clock();
  const Signals& signals = model.signals();
  view.score = model.ranker().item_score(item);
  view.picks = signals.picks(item);
  view.decayed_picks = {signals.decayed_picks(item, 0), signals.decayed_picks(item, 1)};
  view.age_ms = signals.age_ms(item, now);
  view.added_ms = now - view.age_ms;
  return view;
}

Result<ItemView> Collection::item(std::string_view id) const {
  const Guard model = models_.read();
  const std::optional<ItemIndex> item = model->find(id);
  if (!item) {
    return Error{ErrorCode::kUnknownItem, "no such item in the library", "id"};
  }
  return view_of(*model, *item);
}

void Collection::click(std::vector<ClickInput> clicks, Callback<ClicksReply> done) {
  if (const Result<void> room = check_backlog(); !room.ok()) {
    return done(room.error());
  }
  ClicksEvent event;
  event.clicks.reserve(clicks.size());
  for (std::size_t i = 0; i < clicks.size(); ++i) {
    const std::optional<Tokens::Parsed> parsed = tokens_.parse_decision(clicks[i].decision);
    if (!parsed) {
      return done(Error{ErrorCode::kInvalidArgument, "must be a decision id as rank returned it",
                        at("clicks", i) + ".decision"});
    }
    if (!clicks[i].ranking.empty() && !models_.read()->ranker().learns_rankings()) {
      return done(
          Error{ErrorCode::kUnsupported,
                "this collection's ranker learns from clicks, not from whole rankings; take "
                "one with a parameter feedback, and set it to rankings",
                at("clicks", i) + ".ranking"});
    }
    event.clicks.push_back({.decision = parsed->id,
                            .issued_here = parsed->issued_here,
                            .item = std::move(clicks[i].item),
                            .event = std::move(clicks[i].event),
                            .position = clicks[i].position,
                            .ranking = std::move(clicks[i].ranking)});
  }
  append(make_event(std::move(event)), [done = std::move(done)](const Result<Applied>& applied) {
    if (!applied.ok()) {
      return done(applied.error());
    }
    const ClicksReply* reply = std::get_if<ClicksReply>(&applied->reply);
    done(reply != nullptr ? Result<ClicksReply>(*reply)
                          : Result<ClicksReply>(Error{ErrorCode::kConflict,
                                                      "the clicks were logged twice", "clicks"}));
  });
}

CollectionStats Collection::stats(bool with_hash) const {
  CollectionStats stats;
  {
    const std::lock_guard lock(stats_mutex_);
    stats = stats_;
    stats.building = building_;
  }
  stats.lost_decisions = lost_decisions_.load(std::memory_order_relaxed);
  const Guard model = models_.read();
  stats.regret = model->ranker().regret_summary();
  stats.choice_set = choice_set_name(model->config().params);
  stats.model = model->ranker().describe();
  if (with_hash) {
    const std::lock_guard lock(hash_mutex_);
    if (hash_.empty() || hash_position_ != model->version()) {
      hash_ = model_hash(model->ranker());
      hash_position_ = model->version();
    }
    stats.model_hash = hash_;
  }
  return stats;
}

void Collection::erase_user(std::string_view user, Callback<std::uint64_t> done) {
  const std::uint64_t token = tokens_.identity(Tokens::Kind::kUser, user);
  shared_.background.post([self = shared_from_this(), token, done = std::move(done)] {
    // What was ranked a moment ago is still on its way to the log; pages would bring the user back.
    self->settle();
    self->pages_.clear();
    std::uint64_t changed = 0;
    const Result<std::uint64_t> erased = self->shared_.store.rewrite(
        self->log_.id, [token, &changed](const LogEntry& entry) -> std::optional<Payload> {
          Result<Event> event = decode_event(entry.payload);
          DecisionEvent* decision = event.ok() ? std::get_if<DecisionEvent>(&event->body) : nullptr;
          if (decision == nullptr || decision->decision.user != token) {
            return std::nullopt;
          }
          decision->decision.user = planted(Fault::kKeepErasedUser) ? token : 0;
          decision->query.clear();
          changed += 1;
          return encode_event(*event);
        });
    done(self->count_erased(token, changed, erased));
  });
}

/// RETURNS: the result, with what earlier calls had changed that another program kept from the end.
Result<std::uint64_t> Collection::count_erased(std::uint64_t token, std::uint64_t changed,
                                               const Result<std::uint64_t>& result) {
  const std::lock_guard lock(erasures_mutex_);
  if (result.ok()) {
    const auto before = unfinished_erasures_.extract(token);
    return *result + (before.empty() ? 0 : before.mapped());
  }
  if (result.error().code == ErrorCode::kConflict && changed > 0) {
    unfinished_erasures_[token] += changed;
  }
  return result;
}

}  // namespace hindsight
