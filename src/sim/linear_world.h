// LinearWorld: items with features, and attractiveness that is linear in them.
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hindsight/random.h"
#include "hindsight/result.h"

namespace hindsight {

struct LinearWorld {
  std::size_t items = 0;
  std::size_t dim = 0;
  std::vector<double> features;    // items rows of dim numbers
  std::vector<double> theta;       // dim numbers
  std::vector<double> attraction;  // <theta, x> of each item, in [0, 1]
};

/// [Li19] Eq. (12): x becomes (x / (sqrt 2 ||x||), 1 / sqrt 2), which has one number more and
/// length 1; the product of two such vectors lies in [0, 1].
/// FAILS: kNotFinite, kInvalidArgument (no numbers, or all are zero)
Result<std::vector<double>> to_unit_with_constant(std::span<const double> x);

/// [Li19] section 5: items and theta are Gaussian in dim - 1 dimensions, then transformed.
/// FAILS: kInvalidArgument (no items, or fewer than 2 dimensions)
Result<LinearWorld> make_linear_world(std::size_t items, std::size_t dim, Rng& rng);

/// A world of the given features and theta. FAILS: kInvalidArgument (sizes, d = 0, a row of zeros,
/// attractiveness outside [0, 1]), kNotFinite
Result<LinearWorld> make_linear_world(std::size_t dim, std::vector<double> features,
                                      std::vector<double> theta);

}  // namespace hindsight
