// The permutahedron: the convex hull of all orders, each written as the vector of its items'
// weights (n - 1 for the first item, 0 for the last).
//
// A point x of it is the mean of a law over orders. To draw from such a law, x is written as a
// mixture of at most n points, each the mean of all orders that agree with one weak order: the
// differences between neighbours are taken off one after the other, and items that become equal
// stay together ([Suehiro12]; O(n^2) at most). Projection onto it is an isotonic regression.
//
// Thread-safety: pure functions; the Rng is the caller's. A PermutahedronProjection has one owner
// at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/random.h"

namespace hindsight {

/// RETURNS: the point of the permutahedron that is nearest to x, by Euclid. O(n log n).
std::vector<double> project_on_permutahedron(std::span<const double> x);

/// The same for one point that moves: it keeps the order of its coordinates from one projection to
/// the next, so that one that few have left costs O(n).
class PermutahedronProjection {
 public:
  /// Replaces x by the nearest point. REQUIRES: x is of the same size in all calls
  void project(std::span<double> x);

 private:
  /// Neighbours that get the same value, their mean, in a falling sequence.
  struct Pool {
    std::size_t begin;
    double size;
    double total;
  };

  void sort(std::span<const double> x);

  std::vector<std::uint32_t> order_;
  std::vector<Pool> pools_;
};

/// Draws an order, best first, such that the expected weight of item i is x[i].
/// REQUIRES: x lies in the permutahedron, up to rounding
std::vector<std::uint32_t> draw_from_permutahedron(std::span<const double> x, Rng& rng);

}  // namespace hindsight
