// The yardstick of the draws: the plainest possible pass over the weights.

#pragma once

#include <span>

namespace hindsight::bench {

/// RETURNS: the sum of an array in float, by as many vector accumulators as hide the latency of
/// their additions.
double simd_sum(std::span<const float> x);

}  // namespace hindsight::bench
