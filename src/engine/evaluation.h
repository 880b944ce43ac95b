// What an evaluation says: how another ranker would have done on a collection's log
// (docs/off-policy.md).
//
// Thread-safety: plain values.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/core/off_policy.h"
#include "src/engine/api.h"

namespace hindsight {

/// Whether a log can tell about another ranker.
enum class Support : std::uint8_t {
  kEnough,
  kWeak,  // an estimate, but too few decisions stand behind it for its interval to be trusted
  kNone,  // no estimate
};

/// What the ranker would have earned per decision.
struct PolicyEstimate {
  Support support = Support::kNone;
  std::string reason;  // why support is weak or none
  std::uint64_t decisions = 0;
  /// Decisions that could not be used, by the reason; none is listed with a count of 0.
  std::vector<std::pair<std::string, std::uint64_t>> left_out;
  std::uint64_t rewarded = 0;  // decisions with a reward that the ranker could have earned
  double effective_sample_size = 0.0;
  double mean_weight = 0.0;  // near 1 where the log supports the ranker
  double max_weight = 0.0;
  // With support alone.
  std::optional<Estimate> logged;  // what was earned in fact
  std::optional<Estimate> inverse_propensity;
  std::optional<Estimate> self_normalised;
};

/// K-L cost of the ranker, as it was when each click of the log was learned.
struct ReplayCost {
  std::uint64_t clicks = 0;
  std::uint64_t impossible = 0;  // of them, on items that the ranker would never put first
  std::uint64_t unpriced = 0;    // not counted in `clicks`: the ranker has no law for them any more
  std::optional<double> total;   // none where one is impossible: infinite
  std::optional<double> mean;    // none likewise, and without clicks
};

struct Evaluation {
  // What was read.
  Position from = 0;
  Position through = 0;
  std::uint64_t decisions = 0;
  std::uint64_t open_decisions = 0;  // of them, with clicks that may still come
  std::uint64_t clicks = 0;          // distinct items clicked within their windows

  ReplayCost replay_cost;
  std::optional<RegretSummary> regret;  // where the ranker has a bound
  PolicyEstimate first_click;           // that the first item is clicked
  PolicyEstimate ndcg;                  // of the clicked items; 0 without clicks
};

/// An evaluation that is under way, or was the last of its collection.
struct EvaluationJob {
  enum class State : std::uint8_t { kRunning, kDone, kCancelled, kFailed };

  RankerChoice choice;
  State state = State::kRunning;
  Position position = 0;             // read so far
  Position head = 0;                 // where the log ended when the job began: it reads no further
  std::optional<Evaluation> result;  // when done
  std::optional<Error> error;        // when failed
};

}  // namespace hindsight
