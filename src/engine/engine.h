// Engine: collections of items that are ranked, clicked and learned, on top of a store.
//
//   rank    answers from the published model, without waiting for the learner, and logs the
//           decision behind the reply
//   click   is logged; the call is done when the click is durable and joined to its decision
//   learn   a deterministic fold of each collection's log, on threads of the engine
//
// Calls that wait for the log are asynchronous: `done` is called once, perhaps before the call
// returns, perhaps from a thread of the engine; it must not block. Each has a waiting form for
// tests and tools (wait_for in this header).
//
// Thread-safety: every function may be called from any thread.

#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/engine/api.h"
#include "src/engine/evaluation.h"
#include "src/store/store.h"

namespace hindsight {

/// Milliseconds since 1970. Replaceable, so that tests hold the time in their hands.
using Clock = std::function<std::int64_t()>;
std::int64_t system_clock_ms();

struct EngineOptions {
  Clock clock = system_clock_ms;
  int learner_threads = 2;
  bool timers = true;  // close windows, take snapshots; off in tests that call tick() themselves
  std::int64_t tick_ms = 200;
  std::uint64_t snapshot_events = 200'000;     // a snapshot after so many events,
  std::int64_t snapshot_ms = 5LL * 60 * 1000;  // or so long after the first of them
  std::int64_t flush_ms = 5;                   // how long decisions may wait to be written together
  std::size_t decision_cache_bytes = std::size_t{64} << 20;  // per collection
  std::size_t page_cache_entries = 10'000;  // permutations that can be paged through
  std::size_t page_cache_bytes = std::size_t{32} << 20;
  /// Events of a collection that may be on their way through log and learner; while there are more,
  /// rank, click and add_items fail with kOverloaded.
  std::uint64_t max_backlog = 100'000;
  /// Looks of a collection that may wait; more fail with kOverloaded.
  std::size_t max_looks = 64;
  /// The share of one core that looking for the best fixed policy in hindsight may take; 0: none.
  double insight_share = 0.1;
  std::size_t insight_clicks = 50'000;        // of more clicks it looks at a sample, up to 50,000
  double insight_growth = 0.05;               // again when there are so many more clicks,
  std::int64_t insight_ms = 5LL * 60 * 1000;  // or some more, so long after the last time
  /// Something that an operator should know: one line, no secrets.
  std::function<void(std::string_view)> warn = {};
  /// The same where something has stopped working until it is seen to; as `warn` unless given.
  std::function<void(std::string_view)> alarm = {};
};

template <class T>
using Callback = std::function<void(Result<T>)>;

class Engine {
 public:
  /// Opens every collection of the store: last good snapshot, then the tail of its log.
  /// FAILS: kCorrupt, kNewerVersion, kIo
  static Result<std::unique_ptr<Engine>> open(Store& store, EngineOptions options);
  /// Finishes what was accepted, takes snapshots, and lets go of the store.
  virtual ~Engine() = default;

  // Collections.
  virtual std::vector<CollectionInfo> collections() const = 0;
  /// FAILS: kNotFound
  virtual Result<CollectionInfo> collection(std::string_view name) const = 0;
  virtual bool has_collection(std::string_view name) const = 0;
  /// Identical settings change nothing. FAILS: kInvalidArgument, kUnknownName, kConflict (another
  /// seed; a history that is no longer kept), kIo
  virtual void put_collection(std::string_view name, const CollectionPatch& patch,
                              Callback<PutOutcome> done) = 0;
  /// FAILS: kNotFound, kIo
  virtual void delete_collection(std::string_view name, Callback<void> done) = 0;

  /// Calls `at` on a thread of the engine that has time: what is marked with (look) below may take
  /// long, for it goes through much of a model or of a log, or waits for a learner, and is asked
  /// for there by whoever has others to serve. Collections take turns; what one is asked is
  /// answered in order. An exception must not leave `at`. FAILS: kOverloaded (max_looks of this
  /// collection wait already; the engine is closing)
  virtual void look(std::string_view collection, Callback<void> at) = 0;

  // Items.
  /// Adds items, or replaces topics, features and links of those that are there. All or none.
  virtual void add_items(std::string_view collection, std::vector<ItemInput> items,
                         Callback<ItemsReply> done) = 0;
  virtual void remove_item(std::string_view collection, std::string_view id,
                           Callback<void> done) = 0;
  virtual Result<ItemView> item(std::string_view collection, std::string_view id) const = 0;
  /// (look) Fewer than `limit` where they have kMaxPageBytes: next_cursor tells whether there are
  /// more. REQUIRES: 1 <= limit <= 1000
  virtual Result<ItemPage> items(std::string_view collection, std::string_view cursor,
                                 std::size_t limit) const = 0;
  /// (look) RETURNS: the items with the highest scores, highest first; of equal ones the older;
  /// fewer than `limit` where they have kMaxPageBytes. REQUIRES: 1 <= limit <= 1000. FAILS:
  /// kTooLarge (more items than max_scan)
  virtual Result<ItemPage> top_items(std::string_view collection, std::size_t limit) const = 0;

  /// What the score of an item is made of, for a request of the given topic (or of the whole
  /// library), session and group; other fields are not looked at. Nothing is logged. (look)
  /// FAILS: kNotFound, kUnknownItem (also of a topic that the item does not have), kTooLarge
  virtual Result<Explanation> explain(std::string_view collection, std::string_view id,
                                      const RankInput& wish) const = 0;

  // Ranking and clicks.
  virtual void rank(std::string_view collection, RankInput input, Callback<RankReply> done) = 0;
  virtual void click(std::string_view collection, std::vector<ClickInput> clicks,
                     Callback<ClicksReply> done) = 0;

  // What is known.
  /// Reflects every click acknowledged before the call. `with_hash`: costs a pass over the model,
  /// which is then not published anew (look).
  virtual Result<CollectionStats> stats(std::string_view collection, bool with_hash) const = 0;
  /// RETURNS: up to `points` moments in the life of the collection, in order, the last one of now.
  /// (look) FAILS: kNotFound. REQUIRES: points > 0
  virtual Result<std::vector<CurvePoint>> history(std::string_view collection,
                                                  std::size_t points) const = 0;
  /// (look)
  virtual Result<DecisionView> decision(std::string_view collection,
                                        std::string_view decision) const = 0;
  /// RETURNS: the last decisions before a position of the log, newest first; fewer than `limit`
  /// where the log's last few thousand events (16 MiB of them) before it have no more, or where
  /// they have kMaxPageBytes. What was clicked is told as far as it is remembered, or stands in the
  /// same part of the log. (look) FAILS: kCorrupt, kIo
  virtual Result<std::vector<DecisionView>> decisions(std::string_view collection, Position before,
                                                      std::size_t limit) const = 0;

  // How another ranker would have done on the collection's log, computed in the background.
  /// FAILS: kNotFound, kUnknownName, kInvalidArgument, kUnsupported (ranker and parameters),
  /// kConflict (an evaluation is running; the log's beginning is no longer kept)
  virtual Result<EvaluationJob> start_evaluation(std::string_view collection,
                                                 const RankerChoice& choice) = 0;
  /// The one that is running, or the last. FAILS: kNotFound
  virtual Result<EvaluationJob> evaluation(std::string_view collection) const = 0;
  /// Ends the one that is running; one that is over stays as it is. FAILS: kNotFound
  virtual Result<EvaluationJob> cancel_evaluation(std::string_view collection) = 0;

  /// Removes a user's identity from the log. RETURNS: from how many events, those of earlier calls
  /// that ended in a conflict included. FAILS: kNotFound, kIo, kConflict (no event has it any more,
  /// but another program that reads the database keeps the old bytes; try again)
  virtual void erase_user(std::string_view collection, std::string_view user,
                          Callback<std::uint64_t> done) = 0;

  /// The error that stopped acknowledging, or none while all is well.
  virtual std::optional<Error> failure() const = 0;

  /// What the timers do, by hand: closes windows that have ended, takes due snapshots.
  virtual void tick() = 0;
  /// Takes a snapshot of every collection now, and waits for it.
  virtual Result<void> snapshot_all() = 0;
  /// Waits until everything durable at the time of the call is in the published models; where the
  /// log has failed, not for what it does not hand over.
  virtual void settle() = 0;
};

/// Calls an asynchronous function and waits for its answer:
///   wait_for<RankReply>([&](auto done) { engine.rank("books", input, done); })
template <class T, class Call>
Result<T> wait_for(const Call& call) {
  std::promise<Result<T>> promise;
  std::future<Result<T>> answer = promise.get_future();
  call(Callback<T>([&promise](Result<T> result) { promise.set_value(std::move(result)); }));
  return answer.get();
}

}  // namespace hindsight
