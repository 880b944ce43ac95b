// Fold in bytes and in words: its part of a snapshot, and what it tells about itself.

#include <algorithm>

#include "src/core/check.h"
#include "src/engine/config_bytes.h"
#include "src/engine/fold.h"

namespace hindsight {
namespace {

void put_counts(ByteWriter& out, const ClickCounts& counts) {
  for (const std::uint64_t count :
       {counts.received, counts.pending, counts.learned, counts.duplicate, counts.late,
        counts.unjoined, counts.quarantined}) {
    out.put(count);
  }
}

void get_counts(ByteReader& in, ClickCounts& counts) {
  for (std::uint64_t* count :
       {&counts.received, &counts.pending, &counts.learned, &counts.duplicate, &counts.late,
        &counts.unjoined, &counts.quarantined}) {
    in.get(*count);
  }
}

// As formats 1 and 2 have it. What they do not say is taken so that no interval gets too narrow:
// x^2
// <= x for an NDCG x.
void get_old_arm(ByteReader& in, ArmStats& arm) {
  in.get(arm.decisions);
  in.get(arm.clicks);
  in.get(arm.first_clicks);
  in.get(arm.ndcg_sum);
  arm.clicked = std::min(arm.clicks, arm.decisions);
  arm.ndcg_squares = arm.ndcg_sum;
}

bool adds_up(const ClickCounts& counts) {
  return counts.received == counts.pending + counts.learned + counts.duplicate + counts.late +
                                counts.unjoined + counts.quarantined;
}

bool adds_up(const ArmStats& arm) {
  return arm.clicked <= arm.decisions && arm.first_clicks <= arm.clicks;
}

}  // namespace

void Fold::save(ByteWriter& out) const {
  HINDSIGHT_CHECK(!choice_ && adds_up(counts_));
  out.put(position_);
  out.put(time_ms_);
  put_config(out, logged_);
  out.put(era_);
  put_counts(out, counts_);
  out.put(decision_count_);
  out.put(closed_early_);
  out.put(era_begin_);
  out.put(static_cast<std::uint32_t>(choice_sets_.size()));
  for (const auto& [era, choice_set] : choice_sets_) {
    out.put(era);
    out.put(std::string_view(choice_set));
  }
  for (const ArmStats* arm :
       {&ranker_arm_, &control_arm_, &drawn_ranker_arm_, &drawn_control_arm_, &era_arm_}) {
    put_arm(out, *arm);
  }
  out.put(static_cast<std::uint32_t>(quarantine_.size()));
  for (const auto& [reason, count] : quarantine_) {
    out.put(std::string_view(reason));
    out.put(count);
  }
  seen_.save(out);
  decisions_.save(out);
  sample_.save(out);
  curves_.save(out);
}

Result<void> Fold::load(ByteReader& in, std::uint32_t format) {
  constexpr std::uint32_t kWithCurves = 3;
  constexpr std::uint32_t kWithRankings = 4;
  constexpr std::uint32_t kWithExperts = 5;
  constexpr std::uint32_t kWithDraw = 6;
  const Error corrupt{ErrorCode::kCorrupt, "the saved joins do not fit together", ""};
  in.get(position_);
  in.get(time_ms_);
  if (!get_config(in, logged_)) {
    return corrupt;
  }
  in.get(era_);
  get_counts(in, counts_);
  in.get(decision_count_);
  in.get(closed_early_);
  // What came before says of the first era alone what was its own.
  partial_ = format < kWithCurves || (format < kWithDraw && era_ > 0);
  if (format < kWithDraw) {
    era_begin_ = era_ == 0 ? 0 : position_;
    choice_sets_[era_] = choice_set_name(logged_.params);
  } else {
    std::uint32_t eras = 0;
    in.get(era_begin_);
    in.get(eras);
    for (std::uint32_t i = 0; i < eras && in.ok(); ++i) {
      std::uint64_t era = 0;
      in.get(era);
      in.get(choice_sets_[era]);
    }
  }
  for (ArmStats* arm : {&ranker_arm_, &control_arm_}) {
    format < kWithCurves ? get_old_arm(in, *arm) : get_arm(in, *arm);
  }
  if (format >= kWithDraw) {
    for (ArmStats* arm : {&drawn_ranker_arm_, &drawn_control_arm_, &era_arm_}) {
      get_arm(in, *arm);
    }
  } else if (era_ == 0) {
    era_arm_ = ranker_arm_;
  }
  std::uint32_t reasons = 0;
  in.get(reasons);
  for (std::uint32_t i = 0; i < reasons && in.ok(); ++i) {
    std::string reason;
    in.get(reason);
    in.get(quarantine_[reason]);
  }
  const auto arms = {&ranker_arm_, &control_arm_, &drawn_ranker_arm_, &drawn_control_arm_,
                     &era_arm_};
  if (!in.ok() || !adds_up(counts_) ||
      !std::all_of(arms.begin(), arms.end(), [](const ArmStats* arm) { return adds_up(*arm); }) ||
      !seen_.load(in) || !decisions_.load(in, format < kWithRankings)) {
    return corrupt;
  }
  if (format >= kWithCurves &&
      (!sample_.load(in, logged_.seed) || !curves_.load(in, format >= kWithExperts))) {
    return corrupt;
  }
  limit_cache();
  return {};
}

void Fold::fill_stats(CollectionStats& stats) const {
  stats.clicks = counts_;
  stats.decisions = decision_count_;
  stats.open_decisions = decisions_.open_count();
  stats.closed_early = closed_early_;
  stats.era = era_;
  stats.ranker_arm = ranker_arm_;
  stats.control_arm = control_arm_;
  stats.drawn_ranker_arm = drawn_ranker_arm_;
  stats.drawn_control_arm = drawn_control_arm_;
  stats.era_arm = era_arm_;
  stats.quarantine_reasons.assign(quarantine_.begin(), quarantine_.end());
  stats.position = position_;
  const CurvePoint* measured = curves_.last_measured(era_);
  stats.measured = measured == nullptr ? std::nullopt : std::optional(*measured);
  if (stats.measured) {
    name_choice_set(*stats.measured);
  }
}

std::optional<std::int64_t> Fold::oldest_waiting_ms() {
  std::optional<std::int64_t> oldest;
  for (const auto& entry : {decisions_.oldest_open(), decisions_.oldest_awaiting()}) {
    if (entry.slot != nullptr && (!oldest || entry.slot->time_ms < *oldest)) {
      oldest = entry.slot->time_ms;
    }
  }
  return oldest;
}

std::optional<Fold::DecisionState> Fold::decision(const DecisionId& id) const {
  const DecisionSlot* slot = decisions_.find(id);
  if (slot == nullptr || slot->state == DecisionSlot::State::kAwaiting) {
    return std::nullopt;
  }
  return DecisionState{
      .position = slot->position,
      .open = slot->state == DecisionSlot::State::kOpen,
      .clicked = slot->clicks == nullptr ? std::vector<ItemIndex>() : slot->clicks->clicked};
}

CurvePoint Fold::point(const Model& model) const {
  return {.era = era_,
          .time_ms = time_ms_,
          .position = position_,
          .cost = model.ranker().regret_summary(),
          .hindsight = {},
          .ranker_arm = ranker_arm_,
          .control_arm = control_arm_,
          .choice_set = {},
          .expert_weights = model.ranker().expert_weights()};
}

std::vector<CurvePoint> Fold::history(const Model& model, std::size_t count) const {
  std::vector<CurvePoint> points = curves_.pick(count - 1);
  for (CurvePoint& one : points) {
    name_choice_set(one);
  }
  points.push_back(point(model));
  // While another ranker is being built, the one of the era before serves.
  points.back().choice_set = choice_set_name(model.config().params);
  return points;
}

void Fold::name_choice_set(CurvePoint& point) const {
  const auto known = choice_sets_.find(point.era);
  point.choice_set = known == choice_sets_.end() ? "" : known->second;
}

std::uint64_t Fold::memory_bytes() const {
  return decisions_.memory_bytes() + cache_.bytes() + sample_.memory_bytes() +
         curves_.memory_bytes();
}

}  // namespace hindsight
