// The learner's side of a collection: from durable entries to a published model.

#include <algorithm>
#include <chrono>
#include <utility>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/engine/collection.h"

namespace hindsight {

void Collection::take_entries(std::vector<LogEntry> entries) {
  const std::lock_guard lock(inbox_mutex_);
  inbox_.push_back(std::move(entries));
  if (!scheduled_) {
    scheduled_ = true;
    shared_.learners.post([self = shared_from_this()] { self->drain(); });
  }
}

void Collection::drain() {
  // Readers see a batch at once, so that its clicks share the cost of publishing.
  constexpr std::size_t kMaxBatch = 4096;
  std::vector<LogEntry> batch;
  {
    const std::lock_guard lock(inbox_mutex_);
    while (!inbox_.empty() && batch.size() < kMaxBatch) {
      std::vector<LogEntry>& next = inbox_.front();
      if (batch.empty()) {
        batch = std::move(next);
      } else {
        batch.insert(batch.end(), std::make_move_iterator(next.begin()),
                     std::make_move_iterator(next.end()));
      }
      inbox_.pop_front();
    }
  }
  fold_batch(batch);
  const std::lock_guard lock(inbox_mutex_);
  if (inbox_.empty()) {
    scheduled_ = false;
    inbox_idle_.notify_all();
    return;
  }
  // Behind the other collections that wait: a busy one must not keep a learner to itself.
  shared_.learners.post([self = shared_from_this()] { self->drain(); });
}

void Collection::fold_batch(std::span<const LogEntry> entries) {
  std::vector<Applied> applied;
  fold_into_model(entries, applied);
  for (Applied& one : applied) {
    const std::uint64_t sequence = one.id.sequence;
    answer(sequence, std::move(one));
  }
}

void Collection::fold_into_model(std::span<const LogEntry> entries, std::vector<Applied>& applied) {
  std::vector<ModelChange> changes;
  bool rebuild = false;
  bool anew = false;
  const std::lock_guard lock(fold_mutex_);
  if (failure()) {
    return;
  }
  for (const LogEntry& entry : entries) {
    if (entry.position <= fold_->position()) {
      continue;  // delivered again
    }
    Result<Applied> result = fold_->apply(entry, models_.hidden(), &changes);
    if (!result.ok()) {
      // Half a batch may be in the hidden copy; the published one stays what it was.
      return fail(result.error());
    }
    rebuild = rebuild || result->rebuild;
    anew = anew || result->anew;
    if (result->id.source == shared_.source) {
      on_their_way_.fetch_sub(1, std::memory_order_relaxed);
      applied.push_back(*std::move(result));
    }
  }
  const Position position = fold_->position();
  if (!changes.empty()) {
    models_.hidden().set_version(position);
    models_.publish();
  }
  if (events_since_snapshot_ == 0) {
    first_event_since_snapshot_ms_ = shared_.options.clock();
  }
  events_since_snapshot_ += entries.size();
  if (rebuild) {
    start_build();
  }
  if (anew) {
    const std::lock_guard stats_lock(stats_mutex_);
    stats_.build_error.reset();
  }
  publish_stats();
  if (!changes.empty()) {
    for (const ModelChange& change : changes) {
      change(models_.hidden());
    }
    models_.hidden().set_version(position);
  }
}

void Collection::publish_stats() {
  // The two copies agree here, or the other has just been published.
  const Guard model = models_.read();
  const std::lock_guard lock(stats_mutex_);
  fold_->fill_stats(stats_);
  stats_.items = model->ranker().items_live();
  stats_.head = std::max(stats_.head, stats_.position);
  fold_bytes_ = fold_->memory_bytes();
  stats_.memory_bytes = 2 * model->memory_bytes() + fold_bytes_;
  logged_config_ = fold_->logged_config();
  oldest_waiting_ms_ = fold_->oldest_waiting_ms();
  learned_clicks_ = fold_->sample().seen();
  stats_.refresh = refresh_state(*model);
  position_changed_.notify_all();
}

void Collection::fail(const Error& error) {
  {
    const std::lock_guard lock(stats_mutex_);
    failure_ = error;
    position_changed_.notify_all();
  }
  shared_.alarm("collection " + log_.name + " has stopped learning: " + to_string(error));
  std::unordered_map<std::uint64_t, Waiter> waiting;
  {
    const std::lock_guard lock(waiters_mutex_);
    stopped_ = true;
    stop_reason_ = error;
    waiting.swap(waiters_);
  }
  for (auto& [sequence, waiter] : waiting) {
    waiter(error);
  }
}

std::optional<Error> Collection::failure() const {
  const std::lock_guard lock(stats_mutex_);
  return failure_;
}

void Collection::settle() {
  constexpr std::chrono::milliseconds kLookAgain(100);
  flush_decisions();
  {
    std::unique_lock lock(decisions_mutex_);
    decisions_written_.wait(lock, [this] { return flushes_under_way_ == 0; });
  }
  const Result<Position> head = shared_.store.head(log_.id);
  if (!head.ok()) {
    return;
  }
  std::unique_lock lock(stats_mutex_);
  const auto folded = [&] { return failure_ || stats_.position >= *head; };
  while (!position_changed_.wait_for(lock, kLookAgain, folded)) {
    if (shared_.store.failure()) {
      return;  // a log that cannot be read hands nothing over, and only the store knows it
    }
  }
}

void Collection::start_build() {
  const CollectionConfig& wanted = fold_->logged_config();
  RankerChoice choice{.ranker = wanted.ranker, .params = wanted.params};
  {
    const std::lock_guard stats_lock(stats_mutex_);
    building_ = true;
    stats_.build_error.reset();
  }
  const std::lock_guard lock(builder_mutex_);
  // A later choice takes the place of one that is still being built. That one may be waiting for
  // the fold, which is held here, so it is left to end by itself.
  cancel_build_ = true;
  std::thread before = std::exchange(builder_, std::thread());
  builder_ = std::thread(
      [self = weak_from_this(), choice = std::move(choice), before = std::move(before)]() mutable {
        if (before.joinable()) {
          before.join();
        }
        if (const auto collection = self.lock()) {
          collection->cancel_build_ = false;
          collection->build(choice);
        }
      });
}

FoldOptions Collection::build_options() {
  return {.cache_bytes = shared_.options.decision_cache_bytes,
          .cancelled = [this] { return cancel_build_ || stopping_; },
          .warn = {},
          .progress = {}};
}

void Collection::build(const RankerChoice& choice) {
  const FoldOptions options = build_options();
  // Never beyond the learner, who answers those that wait for an event when folding it.
  const auto learner_position = [this] {
    const std::lock_guard lock(stats_mutex_);
    return stats_.position;
  };
  const auto learn = [&]() -> Result<void> {
    HINDSIGHT_ASSIGN_OR_RETURN(
        Folded built, fold_log(shared_.store, log_.id, &choice, learner_position(), options));
    // Once more up to where the learner is, so that little is left for the time that it waits.
    HINDSIGHT_RETURN_IF_ERROR(
        fold_forward(shared_.store, log_.id, learner_position(), built, options));
    return finish_build(std::move(built));
  };
  const Result<void> done = learn();
  if (done.ok() || options.cancelled()) {
    return;
  }
  shared_.warn("collection " + log_.name + ": the new ranker could not learn the history (" +
               to_string(done.error()) + "); the one before it goes on");
  const std::lock_guard fold_lock(fold_mutex_);
  // Soon: a start must not have to fold from before the change, which could not be done here.
  first_event_since_snapshot_ms_ = kLongAgo;
  const std::lock_guard lock(stats_mutex_);
  stats_.build_error = done.error();
  building_ = false;
}

Result<void> Collection::finish_build(Folded built) {
  const std::lock_guard lock(fold_mutex_);
  HINDSIGHT_RETURN_IF_ERROR(
      fold_forward(shared_.store, log_.id, fold_->position(), built, build_options()));
  built.fold->follow_log();
  if (cancel_build_ || !same_ranker(built.fold->logged_config(), built.model->config())) {
    cancel_build_ = true;  // the log has gone on to another ranker: its own build follows
    return Error{ErrorCode::kConflict, "another ranker was chosen", ""};
  }
  std::unique_ptr<Model> second = built.model->clone();
  models_.replace_hidden(std::move(built.model));
  models_.publish();
  models_.replace_hidden(std::move(second));
  fold_ = std::move(built.fold);
  building_ = false;
  {
    const std::lock_guard hash_lock(hash_mutex_);
    hash_.clear();  // another model at the same position
  }
  publish_stats();
  return {};
}

void Collection::tick() {
  close_windows();
  snapshot_if_due();
  measure_if_due();
}

void Collection::close_windows() {
  std::optional<std::int64_t> oldest;
  std::int64_t window = 0;
  {
    const std::lock_guard lock(stats_mutex_);
    oldest = oldest_waiting_ms_;
    window = logged_config_.window_ms;
  }
  const std::int64_t through = shared_.options.clock() - window;
  if (!oldest || *oldest > through || closing_.exchange(true)) {
    return;
  }
  append(
      make_event(WindowClosedEvent{.through_ms = through}),
      [self = shared_from_this()](const Result<Applied>& /*applied*/) { self->closing_ = false; });
}

void Collection::snapshot_if_due() {
  {
    const std::unique_lock lock(fold_mutex_, std::try_to_lock);
    if (!lock.owns_lock() || events_since_snapshot_ == 0) {
      return;
    }
    const bool many = events_since_snapshot_ >= shared_.options.snapshot_events;
    const bool long_ago =
        shared_.options.clock() - first_event_since_snapshot_ms_ >= shared_.options.snapshot_ms;
    if (!many && !long_ago) {
      return;
    }
  }
  if (snapshotting_.exchange(true)) {
    return;
  }
  shared_.background.post([self = shared_from_this()] {
    const Result<void> taken = self->take_snapshot();
    if (!taken.ok()) {
      self->shared_.warn("collection " + self->log_.name +
                         ": no snapshot was taken: " + to_string(taken.error()));
    }
    self->snapshotting_ = false;
  });
}

Result<void> Collection::take_snapshot() {
  std::vector<std::byte> bytes;
  Position position = 0;
  {
    const std::lock_guard lock(fold_mutex_);
    if (building_ || failure() || events_since_snapshot_ == 0) {
      return {};  // a ranker on its way in is not saved: after a crash it is built again
    }
    position = fold_->position();
    models_.hidden().set_version(position);  // decisions alone publish nothing
    bytes = snapshot_bytes(*fold_, models_.hidden());
    events_since_snapshot_ = 0;
  }
  if (const Result<void> put = shared_.store.put_snapshot(log_.id, position, bytes); !put.ok()) {
    const std::lock_guard lock(fold_mutex_);
    ++events_since_snapshot_;  // still due
    return put.error();
  }
  {
    const std::lock_guard lock(stats_mutex_);
    stats_.snapshot_position = position;
  }
  drop_old_events();
  return {};
}

void Collection::drop_old_events() {
  const std::uint32_t days = info().config.retain_days;
  const Result<std::vector<Position>> snapshots = shared_.store.snapshots(log_.id);
  if (days == 0 || !snapshots.ok() || snapshots->size() < 2) {
    return;
  }
  constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;
  const std::int64_t keep_from_ms = shared_.options.clock() - days * kDayMs;
  constexpr std::size_t kBatch = 4096;
  Position after = 0;
  Position keep = 0;
  for (;;) {
    const Result<std::vector<LogEntry>> entries = shared_.store.read(log_.id, after, kBatch);
    if (!entries.ok() || entries->empty()) {
      break;
    }
    const auto young = std::find_if(entries->begin(), entries->end(), [&](const LogEntry& entry) {
      const Result<Event> event = decode_event(entry.payload);
      return entry.position > (*snapshots)[1] || !event.ok() || event->clock_ms >= keep_from_ms;
    });
    if (young != entries->end()) {
      keep = young->position + (planted(Fault::kDropTooMuch) ? 1 : 0);
      break;
    }
    after = entries->back().position;
  }
  if (keep == 0) {
    return;
  }
  if (const Result<void> dropped = shared_.store.truncate_before(log_.id, keep); !dropped.ok()) {
    shared_.warn("collection " + log_.name +
                 ": old events were not dropped: " + to_string(dropped.error()));
  }
  note_first_kept();
}

}  // namespace hindsight
