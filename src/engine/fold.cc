#include "src/engine/fold.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "src/core/check.h"
#include "src/core/planted.h"
#include "src/core/regret.h"

namespace hindsight {
namespace {

// Of an item, of a client's event, of a ranking: kinds of idempotency keys that never meet.
enum class KeyKind : std::uint8_t { kItem = 1, kEvent = 2, kRanking = 3 };

std::uint64_t key_of(KeyKind kind, std::string_view text) {
  return XXH3_64bits_withSeed(text.data(), text.size(), static_cast<XXH64_hash_t>(kind));
}

bool contains(const std::vector<std::uint64_t>& keys, std::uint64_t key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// RETURNS: the shown items in the order of the ranking, or none where it does not name each of them
// once. What was appended to the list may be named, too, and is passed over.
std::optional<std::vector<ItemIndex>> ranked_items(const std::vector<std::string>& ranking,
                                                   const DecisionEvent& event, const Model& model) {
  std::unordered_map<std::string_view, std::optional<ItemIndex>> left;
  for (const ItemIndex item : event.decision.shown()) {
    left.emplace(model.id_of(item), item);
  }
  for (const std::string& id : event.appended) {
    left.emplace(id, std::nullopt);
  }
  std::vector<ItemIndex> order;
  for (const std::string& id : ranking) {
    const auto found = left.find(id);
    if (found == left.end()) {
      return std::nullopt;
    }
    if (found->second) {
      order.push_back(*found->second);
    }
    left.erase(found);
  }
  return order.empty() || order.size() != event.decision.shown_count ? std::nullopt
                                                                     : std::optional(order);
}

}  // namespace

Result<std::unique_ptr<Model>> Fold::begin(const LogEntry& entry, const RankerChoice* choice) {
  HINDSIGHT_ASSIGN_OR_RETURN(const Event event, decode_event(entry.payload));
  const CollectionEvent* made = std::get_if<CollectionEvent>(&event.body);
  if (made == nullptr) {
    return Error{ErrorCode::kCorrupt, "the log does not begin with the making of its collection",
                 "log"};
  }
  CollectionConfig config = made->config;
  if (choice != nullptr) {
    choice_ = *choice;
    config.ranker = choice->ranker;
    config.params = choice->params;
  }
  HINDSIGHT_ASSIGN_OR_RETURN(std::unique_ptr<Model> model, Model::make(config));
  logged_ = made->config;
  choice_sets_[era_] = choice_set_name(logged_.params);
  limit_cache();
  seen_.insert(event.id);
  time_ms_ = event.clock_ms;
  position_ = entry.position;
  return model;
}

Result<Applied> Fold::apply(const LogEntry& entry, Model& model,
                            std::vector<ModelChange>* changes) {
  HINDSIGHT_CHECK(entry.position > position_);
  HINDSIGHT_ASSIGN_OR_RETURN(Event event, decode_event(entry.payload));
  Applied applied;
  applied.id = event.id;
  if (seen_.insert(event.id)) {
    time_ms_ = std::max(time_ms_, event.clock_ms);
    forget_old();
    Context context{entry.position, event.bounds_keys, model, changes, applied};
    HINDSIGHT_RETURN_IF_ERROR(
        std::visit([&](auto& body) { return on(body, context); }, event.body));
  }
  position_ = entry.position;
  return applied;
}

void Fold::follow_log() {
  choice_.reset();
  curves_.set_era(era_);
}

void Fold::limit_cache() {
  cache_.limit(std::min<std::uint64_t>(cache_bytes_, logged_.memory_budget / 8));
}

Result<void> Fold::on(const CollectionEvent& event, Context& context) {
  const bool other_ranker = !same_ranker(event.config, logged_);
  era_ += other_ranker ? 1 : 0;
  logged_ = event.config;
  choice_sets_[era_] = choice_set_name(logged_.params);
  limit_cache();
  CollectionConfig config = event.config;
  const bool anew = other_ranker && event.history == History::kDiscard && !choice_;
  if (choice_) {
    config.ranker = choice_->ranker;
    config.params = choice_->params;
  } else if (!anew) {
    // The one that serves goes on. It may be another than was chosen before: one that could not
    // learn the history.
    config.ranker = context.model.config().ranker;
    config.params = context.model.config().params;
    context.applied.rebuild = other_ranker;
  }
  context.applied.anew = anew;
  if (anew) {
    sample_.clear();
    era_arm_ = {};
    era_begin_ = context.position;
  }
  const auto change = [config, anew](Model& model) {
    // A ranker that the registry knew when the event was logged is still known.
    HINDSIGHT_CHECK(model.configure(config, anew).ok());
  };
  HINDSIGHT_RETURN_IF_ERROR(context.model.configure(config, anew));
  if (context.changes != nullptr) {
    context.changes->push_back(change);
  }
  return {};
}

Result<void> Fold::on(const ItemsEvent& event, Context& context) {
  Result<ItemsChange> resolved = context.model.resolve(event);
  if (!resolved.ok()) {
    context.applied.error = resolved.error();
    return {};
  }
  const auto change = std::make_shared<const ItemsChange>(*std::move(resolved));
  context.applied.reply = ItemsReply{.added = change->added, .updated = change->updated};
  context.model.apply(*change, time_ms_);
  if (observer_ != nullptr) {
    observer_->items_changed(context.position);
  }
  if (context.changes != nullptr) {
    context.changes->push_back(
        [change, time_ms = time_ms_](Model& model) { model.apply(*change, time_ms); });
  }
  return {};
}

Result<void> Fold::on(const RemoveEvent& event, Context& context) {
  const std::optional<ItemIndex> item = context.model.find(event.id);
  if (!item) {
    context.applied.error = Error{ErrorCode::kUnknownItem, "no such item in the library", "id"};
    return {};
  }
  context.model.remove(*item);
  if (observer_ != nullptr) {
    observer_->items_changed(context.position);
  }
  if (context.changes != nullptr) {
    context.changes->push_back([item = *item](Model& model) { model.remove(item); });
  }
  return {};
}

template <class Change>
void Fold::change_arms(const DecisionEvent& event, Position position, const Change& change) {
  change(event.control ? control_arm_ : ranker_arm_);
  if (event.drawn) {
    change(event.control ? drawn_control_arm_ : drawn_ranker_arm_);
  }
  if (!event.control && position > era_begin_) {
    change(era_arm_);
  }
}

Result<void> Fold::on(DecisionEvent& event, Context& context) {
  const DecisionId id = event.decision.id;
  const DecisionSlot* known = decisions_.find(id);
  const bool repeated =
      known != nullptr ? known->state != DecisionSlot::State::kAwaiting : decisions_.forgotten(id);
  const auto& items = event.decision.items;
  const bool possible = std::all_of(items.begin(), items.end(), [&](ItemIndex item) {
    return item < context.model.items_added();
  });
  if (repeated || !possible) {
    return {};
  }
  if (observer_ != nullptr) {
    HINDSIGHT_RETURN_IF_ERROR(observer_->decided(event, context.model));
  }
  ++decision_count_;
  change_arms(event, context.position, [](ArmStats& arm) { ++arm.decisions; });
  DecisionSlot& slot = decisions_.open(id, context.position, time_ms_);
  event.candidates = {};  // learning needs what was shown alone
  cache_.put(context.position, std::make_shared<const DecisionEvent>(std::move(event)));
  if (slot.clicks != nullptr) {
    std::vector<ClickRecord> awaiting = std::move(slot.clicks->awaiting);
    slot.clicks->awaiting.clear();
    for (const ClickRecord& click : awaiting) {
      --counts_.pending;
      HINDSIGHT_RETURN_IF_ERROR(join(click, slot, context));
    }
  }
  while (decisions_.open_count() > logged_.max_open) {
    ++closed_early_;
    HINDSIGHT_RETURN_IF_ERROR(close_oldest(context));
  }
  return {};
}

Result<void> Fold::on(const ClicksEvent& event, Context& context) {
  ClicksReply reply;
  for (const ClickRecord& record : event.clicks) {
    ++counts_.received;
    HINDSIGHT_ASSIGN_OR_RETURN(const Outcome outcome, click(record, context));
    switch (outcome) {
      case Outcome::kAccepted:
        ++reply.accepted;
        break;
      case Outcome::kDuplicate:
        ++reply.duplicate;
        break;
      case Outcome::kLate:
        ++reply.late;
        break;
      case Outcome::kUnjoined:
        ++reply.unjoined;
        break;
      case Outcome::kQuarantined:
        ++reply.quarantined;
        break;
    }
  }
  while (decisions_.awaiting_count() > logged_.max_open) {
    drop_oldest_awaiting();
  }
  context.applied.reply = reply;
  return {};
}

Result<Fold::Outcome> Fold::click(const ClickRecord& click, Context& context) {
  if (!click.issued_here) {
    return quarantine("decision_not_issued_here");
  }
  DecisionSlot* slot = decisions_.find(click.decision);
  if (slot != nullptr && slot->state != DecisionSlot::State::kAwaiting) {
    return join(click, *slot, context);
  }
  if (slot == nullptr && decisions_.forgotten(click.decision)) {
    ++counts_.late;
    return Outcome::kLate;
  }
  // One decision cannot have more clicks than a call, times a few: the rest is no person's doing.
  constexpr std::size_t kMaxAwaiting = 1000;
  DecisionSlot& awaiting = decisions_.await(click.decision, time_ms_);
  std::size_t names = click.ranking.size();
  for (const ClickRecord& other : decisions_.clicks_of(awaiting).awaiting) {
    names += other.ranking.size();
  }
  if (awaiting.clicks->awaiting.size() >= kMaxAwaiting || names > kMaxShown) {
    return quarantine("too_many_clicks");
  }
  awaiting.clicks->awaiting.push_back(click);
  ++counts_.pending;
  return Outcome::kAccepted;
}

Fold::Outcome Fold::quarantine(std::string_view reason) {
  counts_.quarantined += planted(Fault::kLoseQuarantineCount) ? 0 : 1;
  ++quarantine_.try_emplace(std::string(reason), 0).first->second;
  return Outcome::kQuarantined;
}

Result<Fold::Outcome> Fold::join(const ClickRecord& click, DecisionSlot& slot, Context& context) {
  Result<Shared> loaded = cache_.get(slot.position);
  if (!loaded.ok() && loaded.error().code == ErrorCode::kNotFound &&
      slot.state == DecisionSlot::State::kClosed) {
    ++counts_.late;  // closed so long ago that the log has dropped it
    return Outcome::kLate;
  }
  if (!loaded.ok()) {
    return loaded.error();
  }
  const Shared event = *std::move(loaded);
  if (!click.ranking.empty()) {
    return join_ranking(click, event, slot, context);
  }
  const auto shown = event->decision.shown();
  // By id and not by today's item of that id: it may have been removed and added again since.
  const auto place =
      click.position > 0
          ? shown.begin() +
                static_cast<std::ptrdiff_t>(std::min<std::size_t>(click.position - 1, shown.size()))
          : std::find_if(shown.begin(), shown.end(), [&](ItemIndex item) {
              return item < context.model.items_added() && context.model.id_of(item) == click.item;
            });
  if (place == shown.end()) {
    const auto& appended = event->appended;
    if (click.position > 0) {
      return quarantine(click.position <= shown.size() + appended.size() ? "item_not_in_library"
                                                                         : "position_not_shown");
    }
    const bool was_appended =
        std::find(appended.begin(), appended.end(), click.item) != appended.end();
    return quarantine(was_appended ? "item_not_in_library" : "item_not_shown");
  }
  const std::uint64_t key = click.event.empty()
                                ? key_of(KeyKind::kItem, context.model.id_of(*place))
                                : key_of(KeyKind::kEvent, click.event);
  if (const std::optional<Outcome> outcome = admit(key, slot, context)) {
    return *outcome;
  }
  DecisionClicks& clicks = decisions_.clicks_of(slot);
  if (std::find(clicks.clicked.begin(), clicks.clicked.end(), *place) != clicks.clicked.end()) {
    ++counts_.learned;  // each distinct item is learned once
    return Outcome::kAccepted;
  }
  if (observer_ != nullptr) {
    observer_->clicked(click.decision, static_cast<std::size_t>(place - shown.begin()));
  }
  const bool control = event->control && !planted(Fault::kLearnControlArm);
  if (!control && context.model.learns_on_close()) {
    clicks.clicked.push_back(*place);
    ++clicks.pending;
    ++counts_.pending;
  } else {
    if (!control) {
      if (!learn(event, {.decision = {}, .clicked = {*place}}, context)) {
        return quarantine("not_learnable");
      }
      sample_click(slot.position, *place, context.model);
    }
    clicks.clicked.push_back(*place);
    ++counts_.learned;
  }
  count_click(*event, slot.position, static_cast<std::size_t>(place - shown.begin()),
              clicks.clicked.size() == 1);
  draw_curve(context);
  return Outcome::kAccepted;
}

std::optional<Fold::Outcome> Fold::admit(std::uint64_t key, DecisionSlot& slot,
                                         const Context& context) {
  // More is no person's doing. Where decisions that are clicked more often than people click take
  // an eighth of the memory for it, no decision takes more than people's clicks.
  constexpr std::size_t kMaxClicks = 10'000;
  const bool full =
      context.bounds_keys && decisions_.unusual_key_bytes() > logged_.memory_budget / 8;
  const bool closed = slot.state == DecisionSlot::State::kClosed;
  const std::vector<std::uint64_t>& keys = decisions_.clicks_of(slot).keys;
  if (contains(keys, key) && !planted(Fault::kForgetIdempotencyKey)) {
    ++counts_.duplicate;
    return Outcome::kDuplicate;
  }
  if (closed && context.bounds_keys && keys.size() >= DecisionTable::kUsualKeys) {
    // Not remembered: whether late clicks get here at all depends on what is in the cache where the
    // log has dropped their decision, and what is learned must not.
    ++counts_.late;
    return Outcome::kLate;
  }
  if (keys.size() >= (full ? DecisionTable::kUsualKeys : kMaxClicks)) {
    return quarantine("too_many_clicks");
  }
  decisions_.add_key(slot, key);
  if (closed && !planted(Fault::kLearnLateClick)) {
    ++counts_.late;
    return Outcome::kLate;
  }
  return std::nullopt;
}

Fold::Outcome Fold::join_ranking(const ClickRecord& click, const Shared& event, DecisionSlot& slot,
                                 Context& context) {
  std::optional<std::vector<ItemIndex>> order = ranked_items(click.ranking, *event, context.model);
  if (!order) {
    return quarantine("ranking_not_of_the_list");
  }
  if (!context.model.ranker().learns_rankings()) {
    return quarantine("ranking_not_learnable");
  }
  const std::uint64_t own_key = key_of(KeyKind::kRanking, "");
  const std::uint64_t key = click.event.empty() ? own_key : key_of(KeyKind::kEvent, click.event);
  const bool was_ranked = contains(decisions_.clicks_of(slot).keys, own_key);
  if (const std::optional<Outcome> outcome = admit(key, slot, context)) {
    return *outcome;
  }
  if (!was_ranked && key != own_key) {
    decisions_.add_key(slot, own_key);
  }
  // The first ranking of a list is learned, whatever the events of later ones are called.
  if (!was_ranked && !event->control &&
      !learn(event, {.decision = {}, .full_order = *std::move(order)}, context)) {
    return quarantine("not_learnable");
  }
  ++counts_.learned;
  return Outcome::kAccepted;
}

bool Fold::learn(const Shared& event, Feedback feedback, Context& context) {
  feedback.decision = event->decision.id;
  feedback.time_ms = time_ms_;
  if (observer_ != nullptr) {
    observer_->learning(*event, feedback.clicked, context.model);
  }
  if (!context.model.learn(event->decision, feedback).ok()) {
    return false;
  }
  if (planted(Fault::kLearnTwice)) {
    (void)context.model.learn(event->decision, feedback).ok();
  }
  // Rankers learn first; then the signals take the click in.
  for (const ItemIndex item : feedback.clicked) {
    context.model.picked(item, time_ms_, event->decision);
  }
  if (context.changes != nullptr) {
    context.changes->push_back([event, feedback](Model& model) {
      HINDSIGHT_CHECK(model.learn(event->decision, feedback).ok());
      for (const ItemIndex item : feedback.clicked) {
        model.picked(item, feedback.time_ms, event->decision);
      }
    });
  }
  return true;
}

void Fold::sample_click(Position decision, ItemIndex item, const Model& model) {
  const Ranker& ranker = model.ranker();
  if (ranker.books_kl_cost()) {
    sample_.add(logged_.seed, decision, item, ranker.regret()->last_learned_cost());
  }
}

void Fold::count_click(const DecisionEvent& event, Position position, std::size_t place,
                       bool first_of_decision) {
  const double ndcg = 1.0 / std::log2(static_cast<double>(place) + 2.0);
  change_arms(event, position, [&](ArmStats& arm) {
    ++arm.clicks;
    // What an older snapshot did not know was taken for as many as it can be (fold_bytes.cc).
    arm.clicked += first_of_decision && arm.clicked < arm.decisions ? 1 : 0;
    arm.first_clicks += place == 0 ? 1 : 0;
    arm.ndcg_sum += ndcg;
    arm.ndcg_squares += ndcg * ndcg;
  });
}

void Fold::draw_curve(const Context& context) {
  if (curves_.wants(ranker_arm_.clicks + control_arm_.clicks)) {
    CurvePoint now = point(context.model);
    now.position = context.position;
    curves_.add(now);
  }
}

Result<void> Fold::close_oldest(Context& context) {
  const DecisionTable::Entry entry = decisions_.oldest_open();
  const std::uint32_t pending = entry.slot->clicks == nullptr ? 0 : entry.slot->clicks->pending;
  if (pending > 0 || context.model.learns_on_close()) {
    HINDSIGHT_ASSIGN_OR_RETURN(const Shared event, cache_.get(entry.slot->position));
    if (!event->control && !event->decision.items.empty()) {
      std::vector<ItemIndex> clicked;
      if (entry.slot->clicks != nullptr) {
        clicked = entry.slot->clicks->clicked;
      }
      const bool learned =
          learn(event, {.decision = {}, .clicked = std::move(clicked), .closed = true}, context);
      counts_.pending -= pending;
      if (learned) {
        counts_.learned += pending;
      } else if (pending > 0) {
        counts_.quarantined += pending;
        quarantine_["not_learnable"] += pending;
      }
      if (entry.slot->clicks != nullptr) {
        entry.slot->clicks->pending = 0;
      }
    }
  }
  if (observer_ != nullptr) {
    observer_->closed(entry.id);
  }
  decisions_.close_oldest(time_ms_);
  while (decisions_.closed_count() > logged_.max_open) {
    decisions_.forget_oldest_closed();
  }
  return {};
}

void Fold::drop_oldest_awaiting() {
  const DecisionTable::Entry entry = decisions_.oldest_awaiting();
  const std::uint64_t clicks = entry.slot->clicks->awaiting.size();
  counts_.pending -= clicks;
  counts_.unjoined += clicks;
  decisions_.drop_oldest_awaiting();
}

Result<void> Fold::on(const WindowClosedEvent& event, Context& context) {
  for (auto entry = decisions_.oldest_open();
       entry.slot != nullptr && entry.slot->time_ms <= event.through_ms;
       entry = decisions_.oldest_open()) {
    HINDSIGHT_RETURN_IF_ERROR(close_oldest(context));
  }
  for (auto entry = decisions_.oldest_awaiting();
       entry.slot != nullptr && entry.slot->time_ms <= event.through_ms;
       entry = decisions_.oldest_awaiting()) {
    drop_oldest_awaiting();
  }
  return {};
}

Result<void> Fold::on(const MeasuredEvent& event, Context& /*context*/) {
  curves_.add_measured(event.point);
  return {};
}

void Fold::forget_old() {
  for (auto entry = decisions_.oldest_closed();
       entry.slot != nullptr && entry.slot->time_ms + kKeyLifeMs <= time_ms_;
       entry = decisions_.oldest_closed()) {
    decisions_.forget_oldest_closed();
  }
}

}  // namespace hindsight
