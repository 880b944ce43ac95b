// What an order costs, once it is known which items were chosen ([Ailon13] (2.1), (2.2), section
// 8).
//
// An order lists items, best first; scores s(u) say how much each item was wanted. Positions count
// from 0: the first item costs nothing.
//
// Thread-safety: pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace hindsight {

/// (2.1): the sum of position * score. REQUIRES: `order` is a permutation of the items of `scores`
double position_loss(std::span<const std::uint32_t> order, std::span<const double> scores);

/// (2.2): over pairs in the wrong order, by how much the lower one was wanted more. Differs from
/// position_loss by a number that does not depend on the order. REQUIRES: likewise
double pairwise_loss(std::span<const std::uint32_t> order, std::span<const double> scores);

/// position_loss - pairwise_loss, for any order: over pairs, the smaller of the two scores.
double loss_difference(std::span<const double> scores);

/// A weight for each position from 1 to n.
using PositionWeights = std::vector<double>;

/// z(i) = sum of coefficients[j] i^j (Theorem 8.1). REQUIRES: coefficients beyond the first are
/// not negative
PositionWeights polynomial_weights(std::span<const double> coefficients, std::size_t n);
/// 1 - 1 / log2(i + 1). (The paper prints 1 / log2(i + 1), which decreases.) Theorem 8.1 does not
/// cover it.
PositionWeights ndcg_weights(std::size_t n);

/// The sum of z(position) * score. REQUIRES: one weight per position
double weighted_loss(std::span<const std::uint32_t> order, std::span<const double> scores,
                     const PositionWeights& weights);

/// RETURNS: the order of least loss for any weights that do not decrease: by falling score, ties in
/// the order of the items.
std::vector<std::uint32_t> best_order(std::span<const double> scores);

}  // namespace hindsight
