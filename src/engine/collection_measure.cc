// How far a collection is from the best fixed policy in hindsight: when it is measured, and what
// becomes of it. The figures go into the log, so that they outlive a crash and are the same on
// every node.

#include <algorithm>
#include <utility>

#include "src/core/check.h"
#include "src/engine/collection.h"

namespace hindsight {

/// A moment, and all that measuring it needs.
struct Collection::Measuring {
  CurvePoint point;
  MeasureInput input;
};

std::vector<CurvePoint> Collection::history(std::size_t points) const {
  const std::lock_guard lock(fold_mutex_);
  return fold_->history(models_.hidden(), points);
}

void Collection::note_first_kept() {
  const Result<Position> first = shared_.store.first(log_.id);
  const std::lock_guard lock(stats_mutex_);
  first_kept_ = first.ok() ? std::max(first_kept_, *first) : first_kept_;
}

// REQUIRES: the fold's and the stats' locks are held
HindsightRefresh Collection::refresh_state(const Model& model) const {
  if (!model.ranker().books_kl_cost()) {
    return HindsightRefresh::kUnsupported;
  }
  const ClickSample& sample = fold_->sample();
  const std::uint64_t booked = model.ranker().regret()->clicks();
  if (sample.seen() != booked || (booked > 0 && sample.oldest() < first_kept_)) {
    return HindsightRefresh::kDropped;
  }
  return shared_.options.insight_share > 0.0 ? HindsightRefresh::kOn : HindsightRefresh::kOff;
}

void Collection::measure_if_due() {
  const std::int64_t now = shared_.options.clock();
  {
    const std::lock_guard lock(stats_mutex_);
    if (stats_.refresh != HindsightRefresh::kOn || building_ || stats_.build_error || failure_) {
      return;
    }
    std::uint64_t clicks = 0;
    std::int64_t time_ms = 0;
    if (stats_.measured) {
      clicks = stats_.measured->cost->clicks;
      time_ms = stats_.measured->time_ms;
    }
    if (tried_era_ == stats_.era) {
      clicks = std::max(clicks, tried_clicks_);
      time_ms = std::max(time_ms, tried_ms_);
    }
    const bool grown = static_cast<double>(learned_clicks_) >=
                       static_cast<double>(clicks) * (1.0 + shared_.options.insight_growth);
    const bool long_ago = now - time_ms >= shared_.options.insight_ms;
    if (learned_clicks_ <= clicks || !(grown || long_ago) || measuring_.exchange(true)) {
      return;
    }
  }
  shared_.insight.post([self = shared_from_this()] { self->measure(); });
}

std::optional<Collection::Measuring> Collection::begin_measuring() {
  const std::lock_guard lock(fold_mutex_);
  const std::lock_guard stats_lock(stats_mutex_);
  const Model& model = models_.hidden();
  if (building_ || stats_.build_error || failure_ ||
      refresh_state(model) != HindsightRefresh::kOn || fold_->sample().seen() == 0) {
    return std::nullopt;
  }
  tried_era_ = fold_->era();
  tried_clicks_ = fold_->sample().seen();
  tried_ms_ = shared_.options.clock();
  return Measuring{.point = fold_->point(model),
                   .input = {.ranker = model.config().ranker,
                             .params = model.config().params,
                             .account = *model.ranker().regret(),
                             .clicks = fold_->sample().clicks()}};
}

void Collection::measure() {
  const auto go_on = [this] { return shared_.pace.go_on(stopping_); };
  std::optional<Measuring> measuring = go_on() ? begin_measuring() : std::nullopt;
  if (!measuring) {
    measuring_ = false;
    return;
  }
  const Result<std::optional<Hindsight>> hindsight =
      measure_hindsight(shared_.store, log_.id, std::move(measuring->input),
                        {.clicks = shared_.options.insight_clicks}, go_on);
  if (!hindsight.ok() && !stopping_) {
    if (hindsight.error().code == ErrorCode::kNotFound) {
      note_first_kept();  // dropped a moment ago
    } else {
      shared_.warn("collection " + log_.name +
                   ": the best policy in hindsight was not found: " + to_string(hindsight.error()));
    }
  }
  if (!hindsight.ok() || !*hindsight) {
    measuring_ = false;
    return;
  }
  measuring->point.hindsight = **hindsight;
  measuring->point.expert_weights.clear();  // the fold's own points have them
  append(make_event(MeasuredEvent{.point = measuring->point}),
         [self = shared_from_this()](const Result<Applied>& /*applied*/) {
           self->measuring_ = false;
         });
}

}  // namespace hindsight
