// Collection: one library of items, its log, its model, and everything that is asked of them.
//
//   callers   read the published model (LeftRight), append events, and wait for what the fold
//             says of them
//   learner   takes durable entries in log order, folds them into the hidden copy, publishes that,
//             answers those who wait, and makes the same changes to the other copy
//   builder   after a change of ranker: folds the log again with the new one, which then takes the
//             place of the old
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "src/engine/cpu_share.h"
#include "src/engine/engine.h"
#include "src/engine/flusher.h"
#include "src/engine/left_right.h"
#include "src/engine/measure.h"
#include "src/engine/page_cache.h"
#include "src/engine/recovery.h"
#include "src/engine/task_pool.h"
#include "src/engine/tokens.h"

namespace hindsight {

/// What the collections of an engine share.
struct EngineShared {
  Store& store;
  EngineOptions options;
  std::uint64_t source = 0;  // node and boot epoch
  std::atomic<std::uint64_t> next_decision{1};
  TaskPool learners;
  TaskPool background{1};  // work that may take long: making and deleting collections, erasures
  CpuShare pace;           // of the thread below
  TaskPool insight{1};     // looks for the best fixed policies in hindsight, one after the other
  Flusher flusher;

  EngineShared(Store& the_store, EngineOptions the_options)
      : store(the_store),
        options(std::move(the_options)),
        learners(options.learner_threads),
        pace(options.insight_share > 0.0 ? options.insight_share : 1.0),
        flusher(std::chrono::milliseconds(options.flush_ms)) {}
  void warn(std::string_view text) const {
    if (options.warn) {
      options.warn(text);
    }
  }
  void alarm(std::string_view text) const { options.alarm ? options.alarm(text) : warn(text); }
};

class Collection : public std::enable_shared_from_this<Collection> {
 public:
  Collection(EngineShared& shared, LogInfo log, Folded folded);
  ~Collection();

  /// Begins to follow the log. FAILS: as Store::subscribe
  Result<void> start();
  /// No callback of the store or of a learner is under way once this returns; who still waits gets
  /// `reason`.
  void stop(const Error& reason);

  CollectionInfo info() const;
  void configure(const CollectionPatch& patch, Callback<PutOutcome> done);

  void add_items(std::vector<ItemInput> items, Callback<ItemsReply> done);
  void remove_item(std::string_view id, Callback<void> done);
  Result<ItemView> item(std::string_view id) const;
  Result<ItemPage> items(std::string_view cursor, std::size_t limit) const;
  Result<ItemPage> top_items(std::size_t limit) const;
  Result<Explanation> explain(std::string_view id, const RankInput& wish) const;

  void rank(RankInput input, Callback<RankReply> done);
  void click(std::vector<ClickInput> clicks, Callback<ClicksReply> done);

  CollectionStats stats(bool with_hash) const;
  std::vector<CurvePoint> history(std::size_t points) const;
  Result<DecisionView> decision(std::string_view text) const;
  Result<std::vector<DecisionView>> decisions(Position before, std::size_t limit) const;
  void erase_user(std::string_view user, Callback<std::uint64_t> done);

  /// Closes windows that have ended; takes a snapshot, and measures, where it is due.
  void tick();
  Result<void> take_snapshot();
  /// Waits until what was appended before is in the published model, or the log has failed.
  void settle();
  std::optional<Error> failure() const;
  LogId log() const { return log_.id; }

 private:
  using Waiter = std::function<void(Result<Applied>)>;
  using Guard = LeftRight<Model>::Guard;

  // Appending (collection.cc).
  /// Its sequence is given when it is appended.
  Event make_event(decltype(Event::body) body) const;
  Payload number(Payload payload);
  /// Appends an event, behind the decisions that came before it, and answers when it is folded.
  void append(const Event& event, Waiter waiter);
  /// Appends a decision soon, for which nobody waits.
  void append_behind(const Event& event);
  void flush_decisions();
  void answer(std::uint64_t sequence, Result<Applied> result);
  /// The log did not take an append of so many events, of which so many are decisions.
  void note_refused(std::size_t events, std::size_t decisions, const Error& error);
  Result<void> check_budget(const Model& model, std::uint64_t more) const;
  /// FAILS: kOverloaded while too much is on its way through log and learner
  Result<void> check_backlog() const;

  // The learner (collection_learn.cc).
  void take_entries(std::vector<LogEntry> entries);
  void drain();
  void fold_batch(std::span<const LogEntry> entries);
  void fold_into_model(std::span<const LogEntry> entries, std::vector<Applied>& applied);
  void publish_stats();
  void fail(const Error& error);
  void start_build();
  void build(const RankerChoice& choice);
  Result<void> finish_build(Folded built);
  FoldOptions build_options();
  void close_windows();
  void snapshot_if_due();
  void drop_old_events();

  // Hindsight (collection_measure.cc).
  void measure_if_due();
  void measure();
  struct Measuring;
  std::optional<Measuring> begin_measuring();
  HindsightRefresh refresh_state(const Model& model) const;
  void note_first_kept();

  // Ranking (collection_rank.cc).
  struct Candidates;
  struct Ranked;
  /// What the log keeps of the candidates.
  static CandidateSet logged_set(const Candidates& candidates, std::size_t shown);
  Result<Candidates> find_candidates(const RankInput& input, const Model& model) const;
  Request make_request(const RankInput& input, const Model& model, const Candidates& candidates,
                       DecisionId id) const;
  Result<void> fill_features(const RankInput& input, const Model& model,
                             Candidates& candidates) const;
  /// `control_list`: the candidates are the rest of a list, which is in the caller's order or not.
  Result<Ranked> rank_candidates(const RankInput& input, const Model& model,
                                 const Candidates& candidates, std::optional<bool> control_list);
  Result<void> check_before_adding(const RankInput& input, const Model& model) const;
  void add_unknown(RankInput input, Candidates candidates, OnUnknown on_unknown,
                   Callback<RankReply> done);
  void finish_rank(Ranked ranked, bool before_reply, Callback<RankReply> done);
  void keep_for_paging(RankInput input, Candidates candidates, const DecisionEvent& event);
  void next_page(const RankInput& input, Callback<RankReply> done);

  ItemView view_of(const Model& model, ItemIndex item) const;

  Result<std::uint64_t> count_erased(std::uint64_t token, std::uint64_t changed,
                                     const Result<std::uint64_t>& result);

  // What was ranked (collection_look.cc).
  DecisionView view_of(const DecisionEvent& event, const Fold::DecisionState& state) const;
  std::optional<Fold::DecisionState> decision_state(const DecisionId& id) const;

  EngineShared& shared_;
  const LogInfo log_;
  const Tokens tokens_;
  LeftRight<Model> models_;
  PageCache pages_;
  std::mutex decisions_mutex_;
  std::uint64_t next_sequence_ = 1;
  /// How many have a number, and neither were folded nor refused by the log yet.
  std::atomic<std::int64_t> on_their_way_{0};
  std::atomic<std::uint64_t> lost_decisions_{0};
  static constexpr std::int64_t kLongAgo = std::numeric_limits<std::int64_t>::min() / 2;
  std::atomic<std::int64_t> refused_ms_{kLongAgo};  // when the log last had no room,
  std::atomic<std::int64_t> told_ms_{kLongAgo};     // and when it was last told that it lost some
  std::vector<Payload> decisions_;                  // on their way to the store
  std::size_t decisions_bytes_ = 0;
  int flushes_under_way_ = 0;
  std::condition_variable decisions_written_;

  std::mutex erasures_mutex_;
  std::map<std::uint64_t, std::uint64_t> unfinished_erasures_;  // events changed, by user

  std::mutex waiters_mutex_;
  std::unordered_map<std::uint64_t, Waiter> waiters_;
  bool stopped_ = false;
  Error stop_reason_;

  std::mutex inbox_mutex_;
  std::condition_variable inbox_idle_;
  std::deque<std::vector<LogEntry>> inbox_;
  bool scheduled_ = false;

  // The writer's side: the fold, and the hidden copy of the model.
  mutable std::mutex fold_mutex_;
  std::unique_ptr<Fold> fold_;
  std::uint64_t events_since_snapshot_ = 0;
  std::int64_t first_event_since_snapshot_ms_ = 0;

  mutable std::mutex stats_mutex_;
  std::condition_variable position_changed_;
  CollectionStats stats_;
  CollectionConfig logged_config_;
  std::optional<std::int64_t> oldest_waiting_ms_;
  std::uint64_t fold_bytes_ = 0;
  std::optional<Error> failure_;
  Position first_kept_ = 0;           // of the log's entries
  std::uint64_t learned_clicks_ = 0;  // by the ranker that serves now
  std::uint64_t tried_era_ = 0;       // when measuring was last tried,
  std::uint64_t tried_clicks_ = 0;
  std::int64_t tried_ms_ = 0;  // in vain perhaps
  mutable std::mutex hash_mutex_;
  mutable Position hash_position_ = 0;
  mutable std::string hash_;

  std::mutex builder_mutex_;
  std::thread builder_;
  std::atomic<bool> cancel_build_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> building_{false};
  std::atomic<bool> closing_{false};  // a `window closed` is on its way
  std::atomic<bool> snapshotting_{false};
  std::atomic<bool> measuring_{false};
};

/// RETURNS: `base` with the patch's settings, completed and checked. FAILS: kInvalidArgument,
/// kUnknownName, kConflict (another seed)
Result<CollectionConfig> apply_patch(const CollectionConfig& base, const CollectionPatch& patch,
                                     bool is_new);

}  // namespace hindsight
