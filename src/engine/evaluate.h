// Off-policy evaluation: what another ranker would have done on a log (docs/off-policy.md).
//
// The log is folded with the other ranker in place of its own. When a decision comes, the ranker,
// which has learned all that came before, is asked how likely it would have been to show the same;
// that over the probability that was logged is the decision's weight. What is clicked of it within
// its window is its reward.
//
// Thread-safety: pure over the log.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "src/engine/evaluation.h"
#include "src/engine/recovery.h"

namespace hindsight {

struct EvaluateOptions {
  std::optional<Position> through = {};  // the end of the log, unless said
  std::size_t cache_bytes = std::size_t{64} << 20;
  std::optional<std::uint64_t> memory_budget = {};  // as in FoldOptions
  std::function<bool()> cancelled = {};
  std::function<void(Position)> progress = {};
};

/// A fold of the log with the ranker, and what it tells about it.
struct Evaluated {
  Folded folded;
  Evaluation evaluation;
};

/// Changes nothing. FAILS: as complete_choice and fold_log; kConflict (cancelled)
Result<Evaluated> evaluate(const LogView& store, LogId log, const RankerChoice& choice,
                           const EvaluateOptions& options);

}  // namespace hindsight
