// VectorSet: many vectors of one dimension, column after column, and what is asked of all at once.
//
// The functions work on as many vectors at a time as the machine's registers hold; each result is
// computed by the same unfused operations in the same order on every machine.
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/result.h"

namespace hindsight {

struct VectorSet {
  std::size_t count = 0;
  std::size_t dim = 0;
  std::vector<double> columns = {};  // coordinate c of vector i stands at c * count + i

  VectorSet() = default;
  VectorSet(std::size_t n, std::size_t d) : count(n), dim(d), columns(n * d, 0.0) {}
  /// From rows, one after another. REQUIRES: d > 0; rows.size() is a multiple of d
  static VectorSet from_rows(std::span<const double> rows, std::size_t d);

  double at(std::size_t i, std::size_t c) const { return columns[c * count + i]; }
  double& at(std::size_t i, std::size_t c) { return columns[c * count + i]; }
  std::vector<double> row(std::size_t i) const;
};

/// FAILS: kInvalidArgument (no vectors, no dimensions, a vector of zeros), kNotFinite (also where
/// its length is not)
Result<void> check_vectors(const VectorSet& set);

/// out[i] = <x_i, weights>. REQUIRES: sizes fit
void products_of(const VectorSet& set, std::span<const double> weights, std::span<double> out);

/// out[i] = |T x_i|^2 for a lower triangular matrix T, given row after row, dim x dim.
/// REQUIRES: sizes fit
void squared_lengths_of(const VectorSet& set, std::span<const double> triangle,
                        std::span<double> out);

/// out[i] = min(<x_i, weights> + width |T x_i|, cap): the most that x_i may be worth, T as above.
/// REQUIRES: sizes fit
void upper_bounds_of(const VectorSet& set, std::span<const double> weights,
                     std::span<const double> triangle, double width, double cap,
                     std::span<double> out);

}  // namespace hindsight
