// Where to measure: distributions over vectors under which every vector is estimated well.
//
// Q(pi) = sum_a pi(a) a a^T. A G-optimal design has max_a ||a||^2 = rank under the norm of Q(pi)^+
// ([Li19] Eq. 5, Kiefer and Wolfowitz), and no distribution has less. What is returned here comes
// with its certificate, the largest ||a||^2 over all vectors, so that nobody need trust the way:
//
//   g_optimal_design    at most (1 + epsilon) rank, on at most rank (rank + 1) / 2 vectors
//   volumetric_spanner  uniform on at most 2 rank vectors; at most as much as there are of these
//
// The first is the method of Wolfe and Atwood ([Todd16] chapter 3): weight goes to the vector with
// the largest norm, or away from the one of the support with the least, whichever is further off.
// It works on few vectors at a time, to which a scan of all adds those that are estimated worst.
// The second is a local search for the largest determinant; the source has the proof.
//
// Thread-safety: plain values and pure functions.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hindsight/result.h"
#include "src/core/vector_set.h"

namespace hindsight {

struct Design {
  std::vector<std::uint32_t> support = {};  // ascending
  std::vector<double> weight = {};          // of each, positive; they sum to 1
  std::size_t rank = 0;                     // of the vectors
  double largest = 0.0;                     // the certificate: max ||a||^2 over all vectors
};

/// Sets may lack full rank and hold a vector many times. FAILS: kInvalidArgument (no vectors, no
/// dimensions, a vector of zeros; epsilon not in (0, 1]), kNotFinite
Result<Design> g_optimal_design(const VectorSet& set, double epsilon);

/// FAILS: as g_optimal_design
Result<Design> volumetric_spanner(const VectorSet& set);

/// RETURNS: max ||a||^2 over all vectors under the norm of Q(pi)^+. REQUIRES: the support spans
/// what the set spans
double design_certificate(const VectorSet& set, const Design& design);

/// Makes the support as small as rank (rank + 1) / 2 without making any norm larger (Caratheodory:
/// among more matrices a a^T there is a linear dependence, along which weights can be moved until
/// one is zero). `points` are the support's vectors in coordinates of their span.
void prune_support(const VectorSet& points, std::vector<std::uint32_t>& support,
                   std::vector<double>& weight);

}  // namespace hindsight
