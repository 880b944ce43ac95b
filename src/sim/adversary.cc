#include "src/sim/adversary.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "hindsight/signals.h"
#include "src/core/check.h"

namespace hindsight {
namespace {

constexpr std::int64_t kQueryMs = 1000;
constexpr std::uint64_t kRehearsalSource = 1;  // the list itself is drawn with source 0

/// The item of the lowest score; among equals the one that the rehearsal put last.
ItemIndex least_wanted(const Decision& rehearsal) {
  std::size_t worst = 0;
  for (std::size_t i = 1; i < rehearsal.items.size(); ++i) {
    if (rehearsal.score[i] <= rehearsal.score[worst]) {
      worst = i;
    }
  }
  return rehearsal.items[worst];
}

Result<void> fill_library(Ranker& ranker, Signals& signals, std::uint32_t count) {
  std::vector<Item> items(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    items[i].index = i;
    signals.item_added(i, 0);
  }
  return ranker.add_items(items);
}

}  // namespace

Result<ReplayResult> play_adversary(Ranker& ranker, const AdversaryParams& params,
                                    std::uint64_t seed) {
  HINDSIGHT_CHECK(ranker.items_added() == 0);
  if (params.items < 2 || params.queries < 1 || !(params.tie_breaker >= 0.0)) {
    return Error{ErrorCode::kInvalidArgument, "at least 2 items and 1 query are needed",
                 "adversary"};
  }
  Signals signals;
  HINDSIGHT_RETURN_IF_ERROR(fill_library(ranker, signals, params.items));
  std::vector<ItemIndex> candidates(params.items);
  std::iota(candidates.begin(), candidates.end(), 0U);
  std::vector<double> callers_order(params.items);
  for (std::uint32_t i = 0; i < params.items; ++i) {
    callers_order[i] = params.tie_breaker * (params.items - i);
  }

  Judge judge(params.queries, params.curve_points);
  for (std::uint64_t t = 1; t <= params.queries; ++t) {
    Request request;
    request.decision = {0, t};
    request.time_ms = static_cast<std::int64_t>(t) * kQueryMs;
    request.candidates = candidates;
    request.prior = callers_order;
    request.k = candidates.size();
    Rng own_coins = Rng::for_decision(seed, {kRehearsalSource, t});
    HINDSIGHT_ASSIGN_OR_RETURN(const Decision rehearsal, ranker.rank(request, signals, own_coins));
    const ItemIndex pick = least_wanted(rehearsal);

    Rng coins = Rng::for_decision(seed, request.decision);
    HINDSIGHT_ASSIGN_OR_RETURN(const Decision decision, ranker.rank(request, signals, coins));
    judge.judge(decision, pick);
    HINDSIGHT_RETURN_IF_ERROR(ranker.learn(decision,
                                           Feedback{.decision = request.decision,
                                                    .time_ms = request.time_ms,
                                                    .clicked = {pick},
                                                    .closed = false,
                                                    .grades = {},
                                                    .full_order = {}},
                                           signals));
    signals.picked(pick, request.time_ms, 0, 0);
    judge.learned(ranker.regret());
  }
  return std::move(judge).result();
}

}  // namespace hindsight
