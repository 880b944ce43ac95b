// Measuring a collection: what the best fixed policy would have paid for the clicks that its ranker
// has learned.
//
// Thread-safety: a function of its arguments.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "hindsight/params.h"
#include "hindsight/result.h"
#include "src/core/regret.h"
#include "src/engine/api.h"
#include "src/engine/click_sample.h"
#include "src/store/store.h"

namespace hindsight {

/// One moment of a collection.
struct MeasureInput {
  std::string ranker;
  ParamMap params;
  RegretAccount account;             // what the ranker has booked by then
  std::vector<SampledClick> clicks;  // of those that it booked
};

struct MeasureLimits {
  std::size_t clicks = ClickSample::kLimit;
  /// Items and features of all choices together: what they take in memory.
  std::size_t numbers = std::size_t{1} << 22;
};

/// Reads the clicks' decisions from the log. Where there are more clicks than the limits allow, it
/// takes a uniform sample of them. `go_on` is asked every few milliseconds of work; false ends it.
/// RETURNS: none where it was ended. FAILS: kNotFound (a decision is no longer kept), kUnsupported
/// (the ranker books no K-L cost), as LogView::read_at and make_ranker. REQUIRES: some clicks
Result<std::optional<Hindsight>> measure_hindsight(const LogView& store, LogId log,
                                                   MeasureInput input, const MeasureLimits& limits,
                                                   const std::function<bool()>& go_on);

}  // namespace hindsight
