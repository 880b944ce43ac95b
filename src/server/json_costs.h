// Parts of answers about costs, arms and their history, shared by stats and history.
//
// Thread-safety: pure functions.

#pragma once

#include "src/engine/api.h"
#include "src/server/json_writer.h"

namespace hindsight {

/// What the ranker has paid, beside the best fixed policy in hindsight and the bounds; null where
/// it has no bound.
void write_kl_cost(JsonWriter& json, const CollectionStats& stats);

/// click_rate, first_rate and ndcg.
void write_rates(JsonWriter& json, const ArmStats& arm);

/// One side of a comparison, its rates with their 95% intervals.
void write_arm(JsonWriter& json, const ArmStats& arm);

}  // namespace hindsight
