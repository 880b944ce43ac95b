#include "src/core/span_basis.h"

#include <algorithm>
#include <cmath>

#include "src/core/check.h"
#include "src/core/cholesky.h"
#include "src/core/kernels.h"

namespace hindsight {
namespace {

/// Of the squared length.
constexpr double kNegligible = 1e-12;

/// The part of x that is orthogonal to the rows of the basis, made length 1. Twice, since once
/// leaves rounding errors of nearly parallel vectors. RETURNS: whether anything is left
bool orthonormalise(std::span<const double> basis, std::vector<double>& x) {
  const std::size_t d = x.size();
  const double before = dot(x, x);
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t r = 0; r * d < basis.size(); ++r) {
      const std::span<const double> row = basis.subspan(r * d, d);
      const double along = dot(row, x);
      for (std::size_t c = 0; c < d; ++c) {
        x[c] -= along * row[c];
      }
    }
  }
  const double squared = dot(x, x);
  if (!(squared > kNegligible * before)) {
    return false;
  }
  const double length = std::sqrt(squared);
  for (double& value : x) {
    value /= length;
  }
  return true;
}

}  // namespace

VectorSet SpanBasis::coordinates(const VectorSet& set) const {
  VectorSet out(set.count, rank);
  for (std::size_t r = 0; r < rank; ++r) {
    products_of(set, std::span(basis).subspan(r * dim, dim),
                std::span(out.columns).subspan(r * set.count, set.count));
  }
  return out;
}

std::vector<double> SpanBasis::vector_of(std::span<const double> coordinates) const {
  std::vector<double> x(dim, 0.0);
  for (std::size_t r = 0; r < rank; ++r) {
    for (std::size_t c = 0; c < dim; ++c) {
      x[c] += coordinates[r] * basis[r * dim + c];
    }
  }
  return x;
}

SpanBasis span_of(const VectorSet& set) {
  SpanBasis span{.dim = set.dim};
  std::vector<double> length(set.count, 0.0);  // squared, of each vector
  for (std::size_t c = 0; c < set.dim; ++c) {
    for (std::size_t i = 0; i < set.count; ++i) {
      length[i] += set.at(i, c) * set.at(i, c);
    }
  }
  std::vector<double> outside(set.count, 1.0);  // the share of it that is outside the span so far
  std::vector<double> along(set.count);
  while (span.rank < set.dim) {
    const auto most = std::max_element(outside.begin(), outside.end());
    if (!(*most > kNegligible)) {
      break;
    }
    const auto pick = static_cast<std::uint32_t>(most - outside.begin());
    std::vector<double> row = set.row(pick);
    if (!orthonormalise(span.basis, row)) {
      outside[pick] = 0.0;
      continue;
    }
    products_of(set, row, along);
    for (std::size_t i = 0; i < set.count; ++i) {
      outside[i] -= along[i] * along[i] / length[i];
    }
    outside[pick] = 0.0;
    span.basis.insert(span.basis.end(), row.begin(), row.end());
    span.chosen.push_back(pick);
    ++span.rank;
  }
  return span;
}

std::vector<double> least_squares(const VectorSet& set, std::span<const double> counts,
                                  std::span<const double> sums) {
  HINDSIGHT_CHECK(counts.size() == set.count && sums.size() == set.count);
  const SpanBasis span = span_of(set);
  const VectorSet points = span.coordinates(set);
  std::vector<double> v(span.rank * span.rank, 0.0);
  std::vector<double> s(span.rank, 0.0);
  for (std::size_t i = 0; i < set.count; ++i) {
    const std::vector<double> x = points.row(i);
    add_outer(v, x, counts[i]);
    for (std::size_t c = 0; c < span.rank; ++c) {
      s[c] += sums[i] * x[c];
    }
  }
  const auto factor = cholesky(v, span.rank);
  if (!factor) {
    return std::vector<double>(set.dim, 0.0);  // too flat to say anything
  }
  const std::vector<double> inverse = inverse_of_triangle(*factor, span.rank);
  return span.vector_of(transposed_triangle_times(inverse, triangle_times(inverse, s)));
}

}  // namespace hindsight
