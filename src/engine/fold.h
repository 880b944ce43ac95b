// Fold: what each event of a log does, in log order: joins, accounting, and changes of the model.
//
// The fold reads no clock and asks nobody: equal logs give equal folds and equal models, whoever
// folds them and whenever. Repeated events change nothing.
//
//   received = pending + learned + duplicate + late + unjoined + quarantined
//
// A click is, in this order: quarantined (it cannot be), unjoined (no decision came), duplicate
// (its idempotency key was seen), late (after the window's close), or joined, and then learned at
// once or, with rankers that learn when the window closes, pending until then.
//
// Thread-safety: none; one owner at a time.

#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "src/engine/api.h"
#include "src/engine/click_sample.h"
#include "src/engine/curves.h"
#include "src/engine/decision_cache.h"
#include "src/engine/decision_table.h"
#include "src/engine/event.h"
#include "src/engine/fold_observer.h"
#include "src/engine/model.h"
#include "src/engine/seen_events.h"

namespace hindsight {

/// A change that was made to one copy of a model and is to be made to the other.
using ModelChange = std::function<void(Model&)>;

/// What an event did, for whoever waits for it.
struct Applied {
  EventId id;
  std::variant<std::monostate, ItemsReply, ClicksReply> reply;
  std::optional<Error> error;  // the event changed nothing
  /// A change of ranker with `history: replay`: from here on the model is that of the same log
  /// folded from its beginning with this ranker. The caller sees to it; until then, or where it
  /// cannot, the model's ranker goes on.
  bool rebuild = false;
  bool anew = false;  // a ranker that has learned nothing took the place of the one before
};

class Fold {
 public:
  /// How long idempotency keys outlive the window's close.
  static constexpr std::int64_t kKeyLifeMs = 24LL * 3600 * 1000;

  explicit Fold(DecisionCache::Loader loader, std::size_t cache_bytes)
      : cache_(std::move(loader), cache_bytes), cache_bytes_(cache_bytes) {}

  /// From here on `observer`, which outlives the fold, sees what it meets.
  void observe(FoldObserver* observer) { observer_ = observer; }

  /// The first entry of a log. `choice`: fold as if this ranker had always been there, until
  /// follow_log(). RETURNS: the model. FAILS: kCorrupt, and as make_ranker
  Result<std::unique_ptr<Model>> begin(const LogEntry& entry, const RankerChoice* choice = nullptr);

  /// FAILS: kCorrupt, kNewerVersion, kIo (a decision cannot be read): the fold cannot go on.
  /// REQUIRES: entry.position > position()
  Result<Applied> apply(const LogEntry& entry, Model& model, std::vector<ModelChange>* changes);

  /// From here on the rankers are those of the log. REQUIRES: the ranker is the log's at this point
  void follow_log();

  Position position() const { return position_; }
  std::int64_t time_ms() const { return time_ms_; }
  /// The settings as the log has them; the model's ranker may still be the one before.
  const CollectionConfig& logged_config() const { return logged_; }
  std::uint64_t era() const { return era_; }
  const ClickCounts& counts() const { return counts_; }
  /// Fills what the fold knows.
  void fill_stats(CollectionStats& stats) const;
  /// The time of the oldest decision or click that waits for its window, none when nothing waits.
  std::optional<std::int64_t> oldest_waiting_ms();

  struct DecisionState {
    Position position = 0;
    bool open = false;
    std::vector<ItemIndex> clicked;
  };
  /// RETURNS: none where the decision is not known (any more).
  std::optional<DecisionState> decision(const DecisionId& id) const;

  /// The clicks that the ranker has learned.
  const ClickSample& sample() const { return sample_; }
  /// What is known here and now, but for the choice set. REQUIRES: the model is that of this fold
  CurvePoint point(const Model& model) const;
  /// RETURNS: up to `count` points in log order, the last one of here and now. REQUIRES: as above,
  /// count > 0
  std::vector<CurvePoint> history(const Model& model, std::size_t count) const;
  /// Loaded from the snapshot of an older program, which knew less: folding the whole log again
  /// tells more.
  bool partial() const { return partial_; }
  std::uint64_t memory_bytes() const;

  void save(ByteWriter& out) const;
  /// `format`: of the record that the bytes come from. FAILS: kCorrupt
  Result<void> load(ByteReader& in, std::uint32_t format);

 private:
  struct Context {
    Position position;
    bool bounds_keys;
    Model& model;
    std::vector<ModelChange>* changes;
    Applied& applied;
  };
  using Shared = std::shared_ptr<const DecisionEvent>;

  Result<void> on(const CollectionEvent& event, Context& context);
  Result<void> on(const ItemsEvent& event, Context& context);
  Result<void> on(const RemoveEvent& event, Context& context);
  /// Takes the event's content.
  Result<void> on(DecisionEvent& event, Context& context);
  Result<void> on(const ClicksEvent& event, Context& context);
  Result<void> on(const WindowClosedEvent& event, Context& context);
  Result<void> on(const MeasuredEvent& event, Context& context);

  enum class Outcome : std::uint8_t { kAccepted, kDuplicate, kLate, kUnjoined, kQuarantined };
  Result<Outcome> click(const ClickRecord& click, Context& context);
  Result<Outcome> join(const ClickRecord& click, DecisionSlot& slot, Context& context);
  Outcome join_ranking(const ClickRecord& click, const Shared& event, DecisionSlot& slot,
                       Context& context);
  /// Remembers an idempotency key. RETURNS: none where what it stands for counts.
  std::optional<Outcome> admit(std::uint64_t key, DecisionSlot& slot, const Context& context);
  Outcome quarantine(std::string_view reason);
  /// `feedback` says what was done; the rest is filled in. RETURNS: false where the ranker refused
  /// it.
  bool learn(const Shared& decision, Feedback feedback, Context& context);
  void sample_click(Position decision, ItemIndex item, const Model& model);
  /// Calls `change` with each of the arms that the decision counts for.
  template <class Change>
  void change_arms(const DecisionEvent& decision, Position position, const Change& change);
  void count_click(const DecisionEvent& decision, Position position, std::size_t place,
                   bool first_of_decision);
  void draw_curve(const Context& context);
  void name_choice_set(CurvePoint& point) const;
  Result<void> close_oldest(Context& context);
  void drop_oldest_awaiting();
  void forget_old();
  void limit_cache();

  FoldObserver* observer_ = nullptr;
  DecisionCache cache_;
  std::size_t cache_bytes_;
  DecisionTable decisions_;
  SeenEvents seen_;
  Position position_ = 0;
  std::int64_t time_ms_ = 0;
  CollectionConfig logged_;
  std::optional<RankerChoice> choice_;
  std::uint64_t era_ = 0;
  ClickCounts counts_;
  std::uint64_t decision_count_ = 0;
  std::uint64_t closed_early_ = 0;
  std::map<std::uint64_t, std::string> choice_sets_;  // by era, where it is known
  ArmStats ranker_arm_;
  ArmStats control_arm_;
  ArmStats drawn_ranker_arm_;
  ArmStats drawn_control_arm_;
  ArmStats era_arm_;
  Position era_begin_ = 0;  // the decisions of era_arm_ come after it
  std::map<std::string, std::uint64_t, std::less<>> quarantine_;
  ClickSample sample_;
  Curves curves_;
  bool partial_ = false;
};

}  // namespace hindsight
