// The permutahedron: the convex hull of all orders, each written as the vector of its items'
// weights (n - 1 for the first item, 0 for the last).
//
// A point x of it is the mean of a law over orders. To draw from such a law, x is written as a
// mixture of at most n points, each the mean of all orders that agree with one weak order: the
// differences between neighbours are taken off one after the other, and items that become equal
// stay together ([Suehiro12]; O(n^2) at most). Projection onto it is an isotonic regression.
//
// Thread-safety: pure functions; the Rng is the caller's.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/random.h"

namespace hindsight {

/// RETURNS: the point of the permutahedron that is nearest to x, by Euclid. O(n log n).
std::vector<double> project_on_permutahedron(std::span<const double> x);

/// Draws an order, best first, such that the expected weight of item i is x[i].
/// REQUIRES: x lies in the permutahedron, up to rounding
std::vector<std::uint32_t> draw_from_permutahedron(std::span<const double> x, Rng& rng);

}  // namespace hindsight
