// The subspace that vectors span, so that sets without full rank need no pseudo-inverse: in
// coordinates of their span every design of theirs is a regular matrix.
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/core/vector_set.h"

namespace hindsight {

struct SpanBasis {
  std::size_t dim = 0;
  std::size_t rank = 0;
  std::vector<double> basis = {};          // rank orthonormal rows of dim numbers
  std::vector<std::uint32_t> chosen = {};  // as many of the vectors, which span the same

  /// RETURNS: the vectors in coordinates of the basis.
  VectorSet coordinates(const VectorSet& set) const;
  /// RETURNS: the vector with these coordinates.
  std::vector<double> vector_of(std::span<const double> coordinates) const;
};

/// Gram-Schmidt, the vector that sticks out most next. A direction in which every vector goes less
/// than 10^-6 of its own length counts as none. REQUIRES: check_vectors accepts the set
SpanBasis span_of(const VectorSet& set);

/// theta = V^+ S with V = sum_i count[i] x_i x_i^T and S = sum_i sum[i] x_i ([Li19] Eq. 7).
/// REQUIRES: sizes fit; every count is positive
std::vector<double> least_squares(const VectorSet& set, std::span<const double> counts,
                                  std::span<const double> sums);

}  // namespace hindsight
