#include "src/sim/doubly_stochastic.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "src/core/check.h"

namespace hindsight {
namespace {

// Entries below this are what rounding has left.
constexpr double kNothing = 1e-12;
constexpr std::size_t kMaxRounds = 100'000;
constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// A matching of items to places over the positive entries, kept from one step to the next.
class Matching {
 public:
  explicit Matching(const SquareMatrix& matrix)
      : matrix_(matrix), place_of_(matrix.n, kNobody), item_at_(matrix.n, kNobody) {}

  /// Gives every item a place. RETURNS: false where the positive entries allow none.
  bool complete() {
    for (std::uint32_t item = 0; item < matrix_.n; ++item) {
      seen_.assign(matrix_.n, false);
      if (place_of_[item] == kNobody && !find_place(item)) {
        return false;
      }
    }
    return true;
  }

  /// Takes pairs apart whose entry has vanished.
  void drop_empty() {
    for (std::uint32_t item = 0; item < matrix_.n; ++item) {
      if (place_of_[item] != kNobody && matrix_.at(item, place_of_[item]) <= kNothing) {
        item_at_[place_of_[item]] = kNobody;
        place_of_[item] = kNobody;
      }
    }
  }

  std::uint32_t place_of(std::uint32_t item) const { return place_of_[item]; }
  const std::vector<std::uint32_t>& order() const { return item_at_; }

 private:
  bool find_place(std::uint32_t item) {
    for (std::uint32_t place = 0; place < matrix_.n; ++place) {
      if (seen_[place] || matrix_.at(item, place) <= kNothing) {
        continue;
      }
      seen_[place] = true;
      if (item_at_[place] == kNobody || find_place(item_at_[place])) {
        item_at_[place] = item;
        place_of_[item] = place;
        return true;
      }
    }
    return false;
  }

  const SquareMatrix& matrix_;
  std::vector<std::uint32_t> place_of_;
  std::vector<std::uint32_t> item_at_;
  std::vector<bool> seen_;
};

/// Sinkhorn's scaling, and a faster way where that is slow.
class Balancing {
 public:
  explicit Balancing(SquareMatrix& matrix)
      : matrix_(matrix), sums_(matrix.n), rows_(matrix.n), laplacian_(matrix.n) {}

  /// RETURNS: by how much the sum of a row was off, at most.
  double scale_rows() {
    double worst = 0.0;
    for (std::size_t row = 0; row < matrix_.n; ++row) {
      double sum = 0.0;
      for (std::size_t column = 0; column < matrix_.n; ++column) {
        sum += matrix_.at(row, column);
      }
      worst = std::max(worst, std::abs(sum - 1.0));
      const double factor = 1.0 / sum;
      for (std::size_t column = 0; column < matrix_.n; ++column) {
        matrix_.at(row, column) *= factor;
      }
    }
    return worst;
  }

  void scale_columns() {
    sum_columns();
    for (double& sum : sums_) {
      sum = 1.0 / sum;
    }
    multiply_columns();
  }

  // Newton's step of the convex problem behind the scaling. With rows that sum to 1 and columns
  // that sum to c, factors e^x(i) e^y(j) are right to first order where (diag(c) - P'P) y = 1 - c
  // and x = -P y. The matrix is the Laplacian of a graph: its diagonal is the sum of what stands
  // beside it, which does not cancel even where P is nearly a permutation.
  void step() {
    sum_columns();
    build_laplacian();
    for (double& sum : sums_) {
      sum = 1.0 - sum;
    }
    solve();
    for (std::size_t row = 0; row < matrix_.n; ++row) {
      double x = 0.0;
      for (std::size_t column = 0; column < matrix_.n; ++column) {
        x -= matrix_.at(row, column) * sums_[column];
      }
      rows_[row] = std::exp(x);
    }
    for (double& y : sums_) {
      y = std::exp(y);
    }
    for (std::size_t row = 0; row < matrix_.n; ++row) {
      for (std::size_t column = 0; column < matrix_.n; ++column) {
        matrix_.at(row, column) *= rows_[row];
      }
    }
    multiply_columns();
  }

 private:
  void sum_columns() {
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for (std::size_t row = 0; row < matrix_.n; ++row) {
      for (std::size_t column = 0; column < matrix_.n; ++column) {
        sums_[column] += matrix_.at(row, column);
      }
    }
  }

  void multiply_columns() {
    for (std::size_t row = 0; row < matrix_.n; ++row) {
      for (std::size_t column = 0; column < matrix_.n; ++column) {
        matrix_.at(row, column) *= sums_[column];
      }
    }
  }

  void build_laplacian() {
    const std::size_t n = matrix_.n;
    std::fill(laplacian_.values.begin(), laplacian_.values.end(), 0.0);
    for (std::size_t row = 0; row < n; ++row) {
      for (std::size_t j = 0; j < n; ++j) {
        const double entry = matrix_.at(row, j);
        for (std::size_t k = 0; k < j; ++k) {
          laplacian_.at(j, k) -= entry * matrix_.at(row, k);
        }
      }
    }
    constexpr double kRidge = 1e-12;  // parts that do not touch each other are left alone
    for (std::size_t j = 0; j < n; ++j) {
      double degree = kRidge;
      for (std::size_t k = 0; k < n; ++k) {
        degree -= k == j ? 0.0 : laplacian_.at(std::max(j, k), std::min(j, k));
      }
      laplacian_.at(j, j) = degree;
    }
  }

  /// sums_ := laplacian^-1 sums_, by Cholesky (L D L'), no longer than a step may be.
  void solve() {
    const std::size_t n = matrix_.n;
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = j + 1; i < n; ++i) {
        const double factor = laplacian_.at(i, j) / laplacian_.at(j, j);
        for (std::size_t k = j + 1; k <= i; ++k) {
          laplacian_.at(i, k) -= factor * laplacian_.at(k, j);
        }
        sums_[i] -= factor * sums_[j];
      }
    }
    double longest = 0.0;
    for (std::size_t j = n; j-- > 0;) {
      for (std::size_t i = j + 1; i < n; ++i) {
        sums_[j] -= laplacian_.at(i, j) * sums_[i];
      }
      sums_[j] /= laplacian_.at(j, j);
      longest = std::max(longest, std::abs(sums_[j]));
    }
    for (double& y : sums_) {
      y /= std::max(longest, 1.0);
    }
  }

  SquareMatrix& matrix_;
  std::vector<double> sums_;  // of columns; then what is computed from them
  std::vector<double> rows_;
  SquareMatrix laplacian_;
};

}  // namespace

std::size_t balance(SquareMatrix& matrix, double tolerance) {
  constexpr std::size_t kPlainRounds = 3;
  Balancing balancing(matrix);
  // After the columns the rows are off again, by less each time.
  for (std::size_t round = 1; round <= kMaxRounds; ++round) {
    if (balancing.scale_rows() <= tolerance) {
      return round;
    }
    if (round > kPlainRounds) {
      balancing.step();
      balancing.scale_rows();
    }
    balancing.scale_columns();
  }
  return kMaxRounds;
}

std::vector<std::uint32_t> draw_birkhoff(SquareMatrix matrix, Rng& rng) {
  Matching matching(matrix);
  HINDSIGHT_CHECK(matching.complete());
  double left = rng.uniform();
  for (;;) {
    double share = 1.0;
    for (std::uint32_t item = 0; item < matrix.n; ++item) {
      share = std::min(share, matrix.at(item, matching.place_of(item)));
    }
    std::vector<std::uint32_t> order = matching.order();
    left -= share;
    if (left < 0.0) {
      return order;
    }
    for (std::uint32_t item = 0; item < matrix.n; ++item) {
      matrix.at(item, matching.place_of(item)) -= share;
    }
    matching.drop_empty();
    if (!matching.complete()) {
      return order;  // only rounding is left
    }
  }
}

}  // namespace hindsight
