#include "src/core/optimal_design.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/core/check.h"
#include "src/core/cholesky.h"
#include "src/core/kernels.h"
#include "src/core/span_basis.h"

namespace hindsight {
namespace {

/// Chosen rows of a set, as a set of their own.
VectorSet rows_of(const VectorSet& set, std::span<const std::uint32_t> rows) {
  VectorSet out(rows.size(), set.dim);
  for (std::size_t c = 0; c < set.dim; ++c) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out.at(i, c) = set.at(rows[i], c);
    }
  }
  return out;
}

/// L^-1 for sum_i weight[i] x_i x_i^T = L L^T. REQUIRES: the matrix is regular
std::vector<double> whitening(const VectorSet& points, std::span<const double> weight) {
  std::vector<double> q(points.dim * points.dim, 0.0);
  for (std::size_t i = 0; i < points.count; ++i) {
    for (std::size_t r = 0; r < points.dim && weight[i] != 0.0; ++r) {
      const double scaled = weight[i] * points.at(i, r);
      for (std::size_t c = 0; c <= r; ++c) {
        q[r * points.dim + c] += scaled * points.at(i, c);
      }
    }
  }
  const auto factor = cholesky(q, points.dim);
  HINDSIGHT_CHECK(factor.has_value());
  return inverse_of_triangle(*factor, points.dim);
}

/// The method of Wolfe and Atwood on few points, in coordinates in which they have full rank.
class WolfeAtwood {
 public:
  WolfeAtwood(VectorSet points, std::vector<double> weight)
      : points_(std::move(points)), weight_(std::move(weight)), norms_(points_.count) {}

  const std::vector<double>& weight() const { return weight_; }

  /// Steps until no norm is above (1 + tolerance) rank. All is computed from the weights in every
  /// step: the points are few, and no error adds up.
  void run(double tolerance) {
    // Far more than are ever taken; what is not reached by then the certificate tells.
    constexpr int kMaxSteps = 20'000;
    const auto d = static_cast<double>(points_.dim);
    for (int step = 0; step < kMaxSteps; ++step) {
      squared_lengths_of(points_, whitening(points_, weight_), norms_);
      const std::size_t top = index_of_largest();
      const std::size_t low = index_of_least();
      const double above = norms_[top] / d - 1.0;
      if (above <= tolerance) {
        return;
      }
      const bool away = 1.0 - norms_[low] / d > above;
      take_step(away ? low : top, away);
    }
  }

 private:
  std::size_t index_of_largest() const {
    return static_cast<std::size_t>(std::max_element(norms_.begin(), norms_.end()) -
                                    norms_.begin());
  }
  std::size_t index_of_least() const {
    std::size_t least = points_.count;
    for (std::size_t i = 0; i < points_.count; ++i) {
      if (weight_[i] > 0.0 && (least == points_.count || norms_[i] < norms_[least])) {
        least = i;
      }
    }
    return least;
  }

  // Q' = (1 - t) Q + t x x^T with the t that makes its determinant largest: (k - d) / (d (k - 1))
  // for k = ||x||^2. Away from x it is negative, and ends where the weight does.
  void take_step(std::size_t at, bool away) {
    const auto d = static_cast<double>(points_.dim);
    const double k = norms_[at];
    double t = k > 1.0 ? (k - d) / (d * (k - 1.0)) : -1.0;
    const double furthest = away ? -weight_[at] / (1.0 - weight_[at]) : t;
    const bool drops = away && t <= furthest;
    t = std::max(t, furthest);
    for (double& w : weight_) {
      w *= 1.0 - t;
    }
    weight_[at] = drops ? 0.0 : weight_[at] + t;
  }

  VectorSet points_;
  std::vector<double> weight_;
  std::vector<double> norms_;
};

/// The worst estimated vector of each of some stretches of the set, where it is above the limit:
/// the worst of all would lie close together.
std::vector<std::uint32_t> worst_of_stretches(std::span<const double> norms, double limit,
                                              std::size_t stretches) {
  const std::size_t length = (norms.size() + stretches - 1) / stretches;
  std::vector<std::uint32_t> worst;
  for (std::size_t begin = 0; begin < norms.size(); begin += length) {
    const auto stretch = norms.subspan(begin, std::min(length, norms.size() - begin));
    const auto top = std::max_element(stretch.begin(), stretch.end());
    if (*top > limit) {
      worst.push_back(static_cast<std::uint32_t>(begin + (top - stretch.begin())));
    }
  }
  return worst;
}

void normalise(std::vector<double>& weight) {
  const double total = sum_of(weight);
  for (double& w : weight) {
    w /= total;
  }
}

void drop_zeros(std::vector<std::uint32_t>& support, std::vector<double>& weight) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < support.size(); ++i) {
    if (weight[i] > 0.0) {
      support[kept] = support[i];
      weight[kept++] = weight[i];
    }
  }
  support.resize(kept);
  weight.resize(kept);
}

/// A vector c with sum_i c[i] x_i x_i^T = 0, not all zero. REQUIRES: more points than
/// rank (rank + 1) / 2
std::vector<double> dependence(const VectorSet& points) {
  const std::size_t d = points.dim;
  const std::size_t rows = d * (d + 1) / 2;
  const std::size_t columns = rows + 1;
  HINDSIGHT_CHECK(points.count >= columns);
  std::vector<double> a(rows * columns);  // column i: the lower triangle of x_i x_i^T, scaled
  for (std::size_t i = 0; i < columns; ++i) {
    const std::vector<double> x = points.row(i);
    const double squared = dot(x, x);
    std::size_t at = 0;
    for (std::size_t r = 0; r < d; ++r) {
      for (std::size_t c = 0; c <= r; ++c) {
        a[at++ * columns + i] = x[r] * x[c] / squared;
      }
    }
  }
  // Gauss and Jordan with the largest entry as the next pivot of a row; a row without one is empty.
  std::vector<std::size_t> pivot_of_row(rows, columns);
  std::vector<std::uint8_t> is_pivot(columns, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    std::size_t best = columns;
    for (std::size_t c = 0; c < columns; ++c) {
      if (is_pivot[c] == 0 &&
          (best == columns || std::abs(a[r * columns + c]) > std::abs(a[r * columns + best]))) {
        best = c;
      }
    }
    if (std::abs(a[r * columns + best]) < 1e-12) {
      continue;
    }
    pivot_of_row[r] = best;
    is_pivot[best] = 1;
    for (std::size_t other = 0; other < rows; ++other) {
      const double factor = a[other * columns + best] / a[r * columns + best];
      if (other == r || factor == 0.0) {
        continue;
      }
      for (std::size_t c = 0; c < columns; ++c) {
        a[other * columns + c] -= factor * a[r * columns + c];
      }
      a[other * columns + best] = 0.0;
    }
  }
  const auto free =
      static_cast<std::size_t>(std::find(is_pivot.begin(), is_pivot.end(), 0) - is_pivot.begin());
  std::vector<double> c(points.count, 0.0);
  c[free] = 1.0;
  for (std::size_t r = 0; r < rows; ++r) {
    if (pivot_of_row[r] < columns) {
      c[pivot_of_row[r]] = -a[r * columns + free] / a[r * columns + pivot_of_row[r]];
    }
  }
  for (std::size_t i = 0; i < columns; ++i) {  // undo the scale of the columns
    const std::vector<double> x = points.row(i);
    c[i] /= dot(x, x);
  }
  return c;
}

Design make_design(const VectorSet& coordinates, std::vector<std::uint32_t> support,
                   std::vector<double> weight) {
  drop_zeros(support, weight);
  prune_support(rows_of(coordinates, support), support, weight);
  std::vector<std::size_t> order(support.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return support[a] < support[b]; });
  Design design{.rank = coordinates.dim};
  for (const std::size_t i : order) {
    design.support.push_back(support[i]);
    design.weight.push_back(weight[i]);
  }
  return design;
}

double largest_norm(const VectorSet& coordinates, const Design& design) {
  std::vector<double> norms(coordinates.count);
  squared_lengths_of(coordinates, whitening(rows_of(coordinates, design.support), design.weight),
                     norms);
  return max_of(norms);
}

}  // namespace

void prune_support(const VectorSet& points, std::vector<std::uint32_t>& support,
                   std::vector<double>& weight) {
  const std::size_t most = points.dim * (points.dim + 1) / 2;
  VectorSet left = points;
  while (support.size() > most) {
    std::vector<double> c = dependence(left);
    // The mass that the dependence takes away is given back to all, which makes every norm smaller:
    // so the sign is the one that takes.
    const double sign = sum_of(c) >= 0.0 ? 1.0 : -1.0;
    double furthest = -1.0;
    std::size_t first_gone = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double step = sign * c[i] > 0.0 ? weight[i] / (sign * c[i]) : -1.0;
      if (step >= 0.0 && (furthest < 0.0 || step < furthest)) {
        furthest = step;
        first_gone = i;
      }
    }
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < c.size(); ++i) {
      weight[i] = i == first_gone ? 0.0 : std::max(0.0, weight[i] - furthest * sign * c[i]);
      if (weight[i] > 0.0) {
        rows.push_back(static_cast<std::uint32_t>(i));
      }
    }
    left = rows_of(left, rows);
    drop_zeros(support, weight);
  }
  normalise(weight);
}

double design_certificate(const VectorSet& set, const Design& design) {
  return largest_norm(span_of(rows_of(set, design.support)).coordinates(set), design);
}

Result<Design> g_optimal_design(const VectorSet& set, double epsilon) {
  HINDSIGHT_RETURN_IF_ERROR(check_vectors(set));
  if (!(epsilon > 0.0) || epsilon > 1.0) {
    return Error{ErrorCode::kInvalidArgument, "must be above 0 and at most 1", "epsilon"};
  }
  const SpanBasis span = span_of(set);
  const VectorSet all = span.coordinates(set);
  const auto rank = static_cast<double>(span.rank);
  std::vector<std::uint32_t> working = span.chosen;
  std::vector<double> weight(working.size(), 1.0 / rank);
  std::vector<double> norms(set.count);
  constexpr int kMaxScans = 100;
  for (int scan = 0;; ++scan) {
    WolfeAtwood solver(rows_of(all, working), weight);
    solver.run(0.5 * epsilon);
    Design design = make_design(all, working, solver.weight());
    squared_lengths_of(all, whitening(rows_of(all, design.support), design.weight), norms);
    design.largest = max_of(norms);
    if (design.largest <= (1.0 + epsilon) * rank || scan == kMaxScans) {
      return design;
    }
    // Those of the support stay; the worst of all others join them with no weight yet.
    working = design.support;
    weight = design.weight;
    for (const std::uint32_t i :
         worst_of_stretches(norms, (1.0 + 0.5 * epsilon) * rank, 4 * span.rank)) {
      if (!std::binary_search(design.support.begin(), design.support.end(), i)) {
        working.push_back(i);
        weight.push_back(0.0);
      }
    }
  }
}

// With M = sum over S of s s^T, n = |S| and t_x = x^T M^-1 x: exchanging s for x multiplies det M
// by (1 + t_x)(1 - t_s) + (x^T M^-1 s)^2. Over all s of S these sum to
// n (1 + t_x) - r (1 + t_x) + t_x, since the t_s sum to the rank r, so that the best exchange
// multiplies by at least 1 + ((n - r + 1) t_x - r) / n. With n = 2 r and t_x > 1 that is more than
// 1 + 1 / n: while a vector lies outside the ellipsoid the determinant grows by a factor, so that
// the search ends, with all inside. ([Li19] appendix B cites 12 d vectors.)
Result<Design> volumetric_spanner(const VectorSet& set) {
  HINDSIGHT_RETURN_IF_ERROR(check_vectors(set));
  const SpanBasis span = span_of(set);
  const VectorSet all = span.coordinates(set);
  std::vector<std::uint32_t> chosen = span.chosen;
  std::vector<std::uint8_t> inside(set.count, 0);
  for (const std::uint32_t i : chosen) {
    inside[i] = 1;
  }
  const std::size_t size = std::min(set.count, 2 * span.rank);
  std::vector<double> norms(set.count);
  const auto measure = [&] {
    const VectorSet points = rows_of(all, chosen);
    std::vector<double> t = whitening(points, std::vector<double>(chosen.size(), 1.0));
    squared_lengths_of(all, t, norms);
    return t;
  };
  std::vector<double> t = measure();
  while (true) {
    std::size_t worst = set.count;
    for (std::size_t i = 0; i < set.count; ++i) {
      if (inside[i] == 0 && (worst == set.count || norms[i] > norms[worst])) {
        worst = i;
      }
    }
    if (worst == set.count || (chosen.size() == size && norms[worst] <= 1.0)) {
      break;
    }
    inside[worst] = 1;
    if (chosen.size() < size) {
      chosen.push_back(static_cast<std::uint32_t>(worst));
    } else {
      const std::vector<double> along =
          transposed_triangle_times(t, triangle_times(t, all.row(worst)));
      std::size_t out = 0;
      double best = 0.0;
      for (std::size_t s = 0; s < chosen.size(); ++s) {
        const double cross = dot(all.row(chosen[s]), along);
        const double gain = (1.0 + norms[worst]) * (1.0 - norms[chosen[s]]) + cross * cross;
        if (gain > best) {
          best = gain;
          out = s;
        }
      }
      inside[chosen[out]] = 0;
      chosen[out] = static_cast<std::uint32_t>(worst);
    }
    t = measure();
  }
  std::sort(chosen.begin(), chosen.end());
  const auto n = static_cast<double>(chosen.size());
  Design design{.support = std::move(chosen), .weight = {}, .rank = span.rank};
  design.weight.assign(design.support.size(), 1.0 / n);
  design.largest = n * max_of(norms);
  return design;
}

}  // namespace hindsight
