// A stream that never changes: a fixed library and users whose taste is a fixed softmax.
//
// Each query names a topic, uniformly; its candidates are all items of the topic; the pick is drawn
// from the softmax of the items' true scores. The best policy is therefore known: it is the true
// one, and its expected cost is the mean entropy of the topics. What a learner pays beyond it must
// vanish, on average, as the stream goes on ([Delage09] Theorem 4.4).
//
// Thread-safety: a function of its arguments.

#pragma once

#include <cstdint>
#include <vector>

#include "hindsight/result.h"
#include "src/sim/growing_library.h"

namespace hindsight {

struct StationaryParams {
  std::uint32_t topics = 50;           // at least 1
  std::uint32_t items_per_topic = 20;  // at least 2
  double score_deviation = 2.0;        // of the true scores, which are normal; 0 to 10
  std::uint32_t queries = std::uint32_t{1} << 18;
};

struct StationaryStream {
  LibraryStream stream;
  std::vector<double> true_score;  // of each item
  /// Cumulated cost of the true policy on the picks that were drawn: entry t after t queries.
  std::vector<double> true_cost;
  double expected_cost = 0.0;  // of the true policy, per query
};

/// FAILS: kInvalidArgument
Result<StationaryStream> make_stationary_stream(const StationaryParams& params, std::uint64_t seed);

}  // namespace hindsight
