// Doubly stochastic matrices: every row and every column sums to 1. Entry (i, j) is the probability
// that item i stands at place j; every such matrix is the mean of some law over orders (Birkhoff).
//
// Thread-safety: plain values and pure functions; the Rng is the caller's.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hindsight/random.h"

namespace hindsight {

/// n rows of n numbers.
struct SquareMatrix {
  std::size_t n = 0;
  std::vector<double> values;

  explicit SquareMatrix(std::size_t size, double value = 0.0)
      : n(size), values(size * size, value) {}
  double& at(std::size_t row, std::size_t column) { return values[row * n + column]; }
  double at(std::size_t row, std::size_t column) const { return values[row * n + column]; }
};

/// Sinkhorn: scales rows and columns in turn until every sum is 1 within `tolerance`. That takes
/// long where the matrix is nearly a permutation, so that after the first rounds each begins with a
/// Newton step towards the same result.
/// RETURNS: the number of rounds it took. REQUIRES: positive entries
std::size_t balance(SquareMatrix& matrix, double tolerance);

/// Draws an order whose law has the matrix as its mean: the matrix is taken apart into orders
/// (perfect matchings over its positive entries, found by augmenting paths), until one is chosen
/// with the probability of its share. RETURNS: the items, best first. REQUIRES: a doubly stochastic
/// matrix, up to rounding
std::vector<std::uint32_t> draw_birkhoff(SquareMatrix matrix, Rng& rng);

}  // namespace hindsight
