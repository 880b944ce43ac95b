// Directions: unit vectors that are drawn uniformly from the sphere.
//
// Thread-safety: pure functions of their arguments; the Rng is the caller's.

#pragma once

#include <span>

#include "hindsight/random.h"

namespace hindsight {

/// Fills `out` with a uniform draw from the unit sphere of its dimension: Gaussian numbers (polar
/// method, vectorised), divided by their length. The same bits on every machine. REQUIRES: not
/// empty
void draw_unit_vector(Rng& rng, std::span<double> out);

}  // namespace hindsight
